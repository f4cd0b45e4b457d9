// A zip archive written as a stream: nothing is known of a file's size before it has been written,
// and nothing is kept but the list of files. Sizes have 64 bits.
#ifndef STEPSCOPE_SERVER_ZIP_STREAM_H_
#define STEPSCOPE_SERVER_ZIP_STREAM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stepscope {

class ZipStream {
 public:
  using Sink = std::function<Status(std::string_view)>;
  explicit ZipStream(Sink sink);
  ~ZipStream();
  ZipStream(const ZipStream&) = delete;
  ZipStream& operator=(const ZipStream&) = delete;

  // One file after the other: begin, its text in pieces, end. Names are ASCII with '/'.
  Status begin_file(std::string_view name);
  Status write(std::string_view text);
  Status end_file();
  // The list of files; nothing may be written afterwards.
  Status finish();

 private:
  struct File {
    std::string name;
    uint64_t offset = 0;
    uint64_t plain_bytes = 0;
    uint64_t packed_bytes = 0;
    uint32_t crc = 0;
  };
  struct Deflater;

  Status send(std::string_view bytes);
  Status deflate(std::string_view text, bool last);

  Sink sink_;
  uint64_t sent_ = 0;
  std::vector<File> files_;
  std::unique_ptr<Deflater> deflater_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_SERVER_ZIP_STREAM_H_
