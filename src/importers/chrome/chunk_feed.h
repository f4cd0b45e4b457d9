// ChunkFeed: cuts a TextSource into pieces that begin at events. Used under the reader's lock.
#ifndef STEPSCOPE_IMPORTERS_CHROME_CHUNK_FEED_H_
#define STEPSCOPE_IMPORTERS_CHROME_CHUNK_FEED_H_

#include <cstdint>
#include <string>

#include "base/pod_vector.h"
#include "base/result.h"
#include "packed/text_source.h"

namespace stepscope {

struct TextPiece {
  PodVector<char> text;  // followed by kTextPadding zero bytes that are not counted in `size`
  size_t size = 0;
  uint64_t offset = 0;  // in the file's text
  uint64_t number = 0;
  bool is_last = false;
};

class ChunkFeed {
 public:
  ChunkFeed(TextSource& source, size_t piece_bytes) : source_(source), piece_bytes_(piece_bytes) {}

  // Reads until the list of events begins and returns the text before it ("{ ... " without the
  // events key, or "" when the file is a bare list). Fails when there is no list within the first
  // 64 MiB.
  Result<std::string> read_head();
  // The next piece; false at the end.
  Result<bool> next(TextPiece& piece);

  bool is_array() const { return is_array_; }
  uint64_t text_bytes() const { return text_bytes_; }

 private:
  // Appends up to `bytes` of text to `into`; 0 at the end.
  Result<size_t> read_more(PodVector<char>& into, size_t bytes);

  TextSource& source_;
  const size_t piece_bytes_;
  PodVector<char> carry_;  // text behind the last cut
  uint64_t carry_offset_ = 0;
  uint64_t text_bytes_ = 0;
  uint64_t next_number_ = 0;
  bool at_end_ = false;
  bool is_array_ = false;
};

// Looks for the events list in the text of a file's beginning. `begin` is set to the position
// behind its '['.
enum class HeadState : uint8_t { kObject, kArray, kNotThere, kNeedMore };
HeadState find_events(std::string_view text, size_t& key_position, size_t& begin);

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_CHROME_CHUNK_FEED_H_
