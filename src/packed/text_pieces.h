// The text of a packed file, anywhere: pieces of one length, by their number.
//
// Deflate has no index. The first read far into a file unpacks all that lies before it (2.5 GB of
// text a second) and remembers places on the way; later ones begin at the nearest. Places are kept
// in memory only: a decoder's state that comes out of a file could not be trusted.
#ifndef STEPSCOPE_PACKED_TEXT_PIECES_H_
#define STEPSCOPE_PACKED_TEXT_PIECES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "packed/text_source.h"

namespace stepscope {

class TextPieces {
 public:
  static constexpr uint64_t kPieceBytes = 1 << 20;

  // Null when the file cannot be read so: it is plain, or packed by zstd.
  static std::unique_ptr<TextPieces> of(const TextSource& source);

  // Appends a piece; only the last one is shorter, and there is nothing behind it. From any thread.
  Status read(uint64_t piece, std::string& text);

 private:
  using Place = std::shared_ptr<const TextSource>;
  struct Recent {
    uint64_t piece = 0;
    Place place;
  };
  static constexpr uint64_t kFirstStride = 8;
  static constexpr size_t kMostPlaces = 256;  // 23 MB

  explicit TextPieces(Place start) { places_[0] = std::move(start); }
  Recent nearest(uint64_t piece);
  void remember(uint64_t piece, Place place);

  std::mutex mutex_;
  std::map<uint64_t, Place> places_;  // by the piece that begins there
  uint64_t stride_ = kFirstStride;    // pieces between places
  Recent recent_[4];                  // where the last reads ended: most are followed by the next
  size_t next_recent_ = 0;
};

}  // namespace stepscope

#endif  // STEPSCOPE_PACKED_TEXT_PIECES_H_
