// Plain text of a trace file, read from front to back, whatever it is packed in: nothing, gzip,
// zstd, or a zip (deflated or stored). What it is packed in is told by the content, not by the
// name.
//
// A path may go on inside a zip: "runs.zip/rank1.json" is that member. The zip alone is its largest
// member.
#ifndef STEPSCOPE_PACKED_TEXT_SOURCE_H_
#define STEPSCOPE_PACKED_TEXT_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace stepscope {

class TextSource {
 public:
  static Result<std::unique_ptr<TextSource>> open(const std::string& path);
  virtual ~TextSource() = default;

  // Up to `bytes` more bytes of text; 0 at the end. A packed file that ends early or is damaged
  // gives what could be unpacked and then sets truncated(); other damage is in flaw(). Fails on
  // read errors and on files that expand beyond any plausible trace.
  virtual Result<size_t> read(char* into, size_t bytes) = 0;

  // A second reader at the same place, of the same open file. Takes 90 kB. Null for plain files,
  // which can be read anywhere, and for zstd.
  virtual std::unique_ptr<TextSource> fork() const { return nullptr; }

  bool packed() const { return packed_; }
  bool truncated() const { return truncated_; }
  // What is wrong with the packing although all of the text could be read, in words; "": nothing.
  const std::string& flaw() const { return flaw_; }
  // Bytes of the file consumed so far; of a zip's member, its own.
  uint64_t file_position() const { return file_position_ - file_start_; }
  const InputFile& file() const { return *file_; }

 protected:
  TextSource(InputFile file, bool packed)
      : file_(std::make_shared<const InputFile>(std::move(file))), packed_(packed) {}
  // Fails when `text_bytes` of text from the bytes consumed so far is beyond what real traces
  // compress to.
  Status check_expansion(uint64_t text_bytes) const;

  std::shared_ptr<const InputFile> file_;
  uint64_t file_start_ = 0;  // where the packed text begins
  uint64_t file_position_ = 0;
  std::string flaw_;
  bool packed_ = false;
  bool truncated_ = false;
};

struct ZipMember {
  std::string name;
  uint64_t packed_bytes = 0;
  uint64_t text_bytes = 0;
};

// What is in a zip, in its order, without folders. Empty for other files and for a zip whose list
// cannot be read.
std::vector<ZipMember> zip_members(const std::string& path);

// The first `bytes` of a file's text, for recognition. "" when it cannot be read.
std::string read_text_head(const std::string& path, size_t bytes);

}  // namespace stepscope

#endif  // STEPSCOPE_PACKED_TEXT_SOURCE_H_
