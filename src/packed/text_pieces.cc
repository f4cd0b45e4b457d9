#include "packed/text_pieces.h"

#include <iterator>
#include <utility>

namespace stepscope {

std::unique_ptr<TextPieces> TextPieces::of(const TextSource& source) {
  Place start = source.fork();
  return start == nullptr ? nullptr : std::unique_ptr<TextPieces>(new TextPieces(std::move(start)));
}

TextPieces::Recent TextPieces::nearest(uint64_t piece) {
  const std::scoped_lock lock(mutex_);
  const auto after = std::prev(places_.upper_bound(piece));
  Recent best{after->first, after->second};
  for (const Recent& recent : recent_) {
    if (recent.place != nullptr && recent.piece <= piece && recent.piece > best.piece)
      best = recent;
  }
  return best;
}

void TextPieces::remember(uint64_t piece, Place place) {
  const std::scoped_lock lock(mutex_);
  if (piece % stride_ == 0) places_.emplace(piece, std::move(place));
  if (places_.size() > kMostPlaces) {
    stride_ *= 2;
    std::erase_if(places_, [&](const auto& one) { return one.first % stride_ != 0; });
  }
}

Status TextPieces::read(uint64_t piece, std::string& text) {
  const size_t before = text.size();
  const Recent from = nearest(piece);
  const std::unique_ptr<TextSource> source = from.place->fork();
  for (uint64_t at = from.piece; at <= piece; ++at) {
    text.resize(before + kPieceBytes);
    size_t got = 0;
    while (got < kPieceBytes) {
      auto more = source->read(text.data() + before + got, kPieceBytes - got);
      if (!more) return std::move(more.error());
      if (*more == 0) break;
      got += *more;
    }
    if (got < kPieceBytes) {
      text.resize(before + (at == piece ? got : 0));
      return {};
    }
    if ((at + 1) % kFirstStride == 0) remember(at + 1, source->fork());
  }
  const std::scoped_lock lock(mutex_);
  recent_[next_recent_++ % std::size(recent_)] = {piece + 1, source->fork()};
  return {};
}

}  // namespace stepscope
