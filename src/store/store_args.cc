// The part of StoreReader that fetches args: from the input file, plain or packed, from its mirror
// in the store, or from the store's own text.
#include <algorithm>

#include <zstd.h>

#include "store/args_ref.h"
#include "store/store_reader.h"

namespace stepscope {
namespace {

constexpr uint64_t kMaxArgsBytes = 256ull << 20;
constexpr uint64_t kMaxFrameBytes = 64ull << 20;

// Where the JSON value that starts at text[0] ends, or npos.
size_t value_end(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

}  // namespace

Result<std::string> StoreReader::args(size_t rank, uint64_t slice_row, ArgsCache* cache) const {
  const auto& sections = ranks_[rank].tables[static_cast<size_t>(Table::kSlices)].sections;
  const int64_t place = sections[sections.size() - 2].at(slice_row);
  const int64_t length = sections[sections.size() - 1].at(slice_row);
  if (place == kNull || length == kNull) return std::string();
  const uint64_t packed =
      ArgsRef::pack(0, 0, static_cast<uint64_t>(length)) | static_cast<uint64_t>(place);
  const uint64_t offset = ArgsRef::offset(packed);
  const uint32_t source = ArgsRef::source(packed);
  if (source == 0) {
    const std::string_view own = ranks_[rank].own_args;
    if (offset == 0 || offset - 1 > own.size()) return damaged("args lie outside their section");
    const std::string_view rest = own.substr(offset - 1);
    if (ArgsRef::length(packed) < ArgsRef::kLongLength)
      return std::string(rest.substr(0, ArgsRef::length(packed)));
    return std::string(rest.substr(0, value_end(rest)));
  }
  if (!ranks_[rank].mirrors[source].empty()) {
    return read_mirror(ranks_[rank].mirrors[source], offset, ArgsRef::length(packed), cache);
  }
  return read_input(rank, source, offset, ArgsRef::length(packed), cache);
}

// Appends the frame's plain text.
Status StoreReader::unpack_frame(const MirrorFrame& frame, std::string& text) const {
  if (frame.file_offset > file_bytes() || frame.file_bytes > file_bytes() - frame.file_offset ||
      frame.text_bytes > kMaxFrameBytes) {
    return damaged("a kept piece of the input lies outside the file");
  }
  const size_t before = text.size();
  text.resize(before + frame.text_bytes);
  const size_t got = ZSTD_decompress(text.data() + before, frame.text_bytes,
                                     file_.bytes().data() + frame.file_offset, frame.file_bytes);
  if (ZSTD_isError(got) || got != frame.text_bytes)
    return damaged("a kept piece of the input cannot be unpacked");
  return {};
}

Result<std::string> StoreReader::read_mirror(std::span<const MirrorFrame> frames, uint64_t offset,
                                             uint32_t length, ArgsCache* cache) const {
  const auto after = std::upper_bound(
      frames.begin(), frames.end(), offset,
      [](uint64_t at, const MirrorFrame& frame) { return at < frame.text_offset; });
  if (after == frames.begin()) return damaged("args lie outside the kept input");
  const auto first = static_cast<uint64_t>(after - 1 - frames.begin());
  return read_pieces(frames.data(), first, offset - (after - 1)->text_offset, length, cache,
                     [&](uint64_t piece, std::string& text) -> Status {
                       if (piece >= frames.size()) return {};
                       return unpack_frame(frames[piece], text);
                     });
}

// Args that begin `skip` bytes behind the beginning of a piece. `unpack` appends a piece, and
// nothing behind the last one.
Result<std::string> StoreReader::read_pieces(const void* of, uint64_t first, uint64_t skip,
                                             uint32_t length, ArgsCache* cache,
                                             const UnpackPiece& unpack) const {
  std::string text;
  if (cache != nullptr) {
    ArgsCache::Piece* piece = nullptr;
    for (ArgsCache::Piece& kept : cache->pieces) {
      if (kept.of == of && kept.number == first) piece = &kept;
    }
    if (piece == nullptr) {
      piece = &cache->pieces[cache->next++ % std::size(cache->pieces)];
      piece->of = nullptr;
      piece->text.clear();
      if (auto status = unpack(first, piece->text); !status) return std::move(status.error());
      piece->of = of;
      piece->number = first;
    }
    if (skip <= piece->text.size()) {
      const std::string_view rest = std::string_view(piece->text).substr(skip);
      if (length < ArgsRef::kLongLength && rest.size() >= length)
        return std::string(rest.substr(0, length));
    }
    // It goes on in the next piece: the way without the cache.
  }
  for (uint64_t piece = first;; ++piece) {
    const size_t before = text.size();
    if (auto status = unpack(piece, text); !status) return std::move(status.error());
    const std::string_view rest =
        skip < text.size() ? std::string_view(text).substr(skip) : std::string_view();
    if (length < ArgsRef::kLongLength ? rest.size() >= length
                                      : value_end(rest) != std::string_view::npos) {
      return std::string(rest.substr(0, length < ArgsRef::kLongLength ? length : value_end(rest)));
    }
    if (text.size() == before || text.size() > kMaxArgsBytes) break;
  }
  return damaged("args end outside the input");
}

// The input itself, when it is what was imported.
Status StoreReader::open_input(size_t rank, uint32_t source, OpenInput& input) const {
  const ColumnView& paths = column(Table::kSources, "path", rank);
  if (source > paths.rows()) return damaged("args refer to an input that is not listed");
  const uint64_t row = source - 1;
  auto text = TextSource::open(std::string(string(paths.at(row))));
  if (!text) return std::move(text.error());
  const InputFile& file = (*text)->file();
  const FileStamp stamp{static_cast<uint64_t>(column(Table::kSources, "bytes", rank).at(row)),
                        column(Table::kSources, "modified_ns", rank).at(row)};
  if (file.stamp() != stamp)
    return Error{ErrorCode::kChanged, "cannot read args", file.path(),
                 "the file changed since the import", "import it again"};
  input.pieces = TextPieces::of(**text);
  input.text = std::move(*text);
  return {};
}

Result<std::string> StoreReader::read_input(size_t rank, uint32_t source, uint64_t offset,
                                            uint32_t length, ArgsCache* cache) const {
  OpenInput* input = nullptr;
  {
    const std::lock_guard lock(inputs_mutex_);
    auto& inputs = inputs_[rank];
    if (inputs.empty()) inputs.resize(kMaxSources);
    input = &inputs[source];
    if (!input->text && !input->error) {
      if (auto status = open_input(rank, source, *input); !status) {
        input->error = std::move(status.error());
        input->error->what = "cannot read args";
      }
    }
    if (input->error) return *input->error;
  }
  if (input->pieces == nullptr) return read_plain(input->text->file(), offset, length);
  constexpr uint64_t kPiece = TextPieces::kPieceBytes;
  return read_pieces(
      input->pieces.get(), offset / kPiece, offset % kPiece, length, cache,
      [&](uint64_t piece, std::string& text) { return input->pieces->read(piece, text); });
}

Result<std::string> StoreReader::read_plain(const InputFile& file, uint64_t offset,
                                            uint32_t length) {
  std::string text(length < ArgsRef::kLongLength ? length : 2 * ArgsRef::kLongLength, '\0');
  while (true) {
    auto got = file.read_at(offset, text.data(), text.size());
    if (!got) return std::move(got.error());
    if (length < ArgsRef::kLongLength) {
      text.resize(*got);
      return text;
    }
    if (const size_t end = value_end(std::string_view(text).substr(0, *got));
        end != std::string_view::npos) {
      text.resize(end);
      return text;
    }
    if (*got < text.size() || text.size() > kMaxArgsBytes) {
      return Error{ErrorCode::kLimit, "cannot read args",
                   file.path() + ", byte " + std::to_string(offset),
                   "they have no end within 256 MiB", ""};
    }
    text.resize(text.size() * 2);
  }
}

}  // namespace stepscope
