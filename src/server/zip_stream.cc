#include "server/zip_stream.h"

#include <algorithm>
#include <utility>

#include <zlib.h>

namespace stepscope {
namespace {

constexpr int kFast = 1;  // traces shrink to a tenth even so
constexpr size_t kPieceBytes = 1 << 18;
constexpr uint16_t kVersion = 45;    // with sizes of 64 bits
constexpr uint16_t kFlags = 1 << 3;  // size and checksum come behind the data
constexpr uint16_t kDeflated = 8;
constexpr uint16_t kDosDate = 33;  // 1980-01-01: the same run gives the same bytes
constexpr uint32_t kIn64Bits = 0xffffffff;

template <class T>
void put(std::string& out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>((value >> (8 * i)) & 255);
}

}  // namespace

struct ZipStream::Deflater {
  z_stream stream = {};
  std::string packed = std::string(kPieceBytes, '\0');
  bool open = false;
};

ZipStream::ZipStream(Sink sink) : sink_(std::move(sink)), deflater_(std::make_unique<Deflater>()) {}

ZipStream::~ZipStream() {
  if (deflater_->open) deflateEnd(&deflater_->stream);
}

Status ZipStream::send(std::string_view bytes) {
  sent_ += bytes.size();
  return sink_(bytes);
}

Status ZipStream::begin_file(std::string_view name) {
  deflater_->stream = {};
  if (deflateInit2(&deflater_->stream, kFast, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return Error{ErrorCode::kLimit, "cannot compress", std::string(name), "no memory", ""};
  deflater_->open = true;
  File& file = files_.emplace_back();
  file.name = name;
  file.offset = sent_;
  file.crc = static_cast<uint32_t>(crc32(0, nullptr, 0));
  std::string head;
  put<uint32_t>(head, 0x04034b50);
  put(head, kVersion);
  put(head, kFlags);
  put(head, kDeflated);
  put<uint16_t>(head, 0);
  put(head, kDosDate);
  put<uint32_t>(head, 0);
  put(head, kIn64Bits);
  put(head, kIn64Bits);
  put(head, static_cast<uint16_t>(name.size()));
  put<uint16_t>(head, 20);
  head += name;
  put<uint16_t>(head, 1);  // both sizes, which are not known yet
  put<uint16_t>(head, 16);
  put<uint64_t>(head, 0);
  put<uint64_t>(head, 0);
  return send(head);
}

Status ZipStream::deflate(std::string_view text, bool last) {
  z_stream& stream = deflater_->stream;
  std::string& packed = deflater_->packed;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  do {
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    if (::deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_ERROR)
      return Error{ErrorCode::kIo, "cannot compress", files_.back().name, "", ""};
    const size_t bytes = packed.size() - stream.avail_out;
    files_.back().packed_bytes += bytes;
    if (bytes == 0) continue;
    if (auto status = send(std::string_view(packed).substr(0, bytes)); !status) return status;
  } while (stream.avail_out == 0);
  return {};
}

Status ZipStream::write(std::string_view text) {
  File& file = files_.back();
  for (size_t from = 0; from < text.size(); from += 1u << 30) {
    const std::string_view piece = text.substr(from, 1u << 30);
    file.plain_bytes += piece.size();
    file.crc = static_cast<uint32_t>(crc32(file.crc, reinterpret_cast<const Bytef*>(piece.data()),
                                           static_cast<uInt>(piece.size())));
    if (auto status = deflate(piece, false); !status) return status;
  }
  return {};
}

Status ZipStream::end_file() {
  auto status = deflate({}, true);
  deflateEnd(&deflater_->stream);
  deflater_->open = false;
  if (!status) return status;
  const File& file = files_.back();
  std::string tail;
  put<uint32_t>(tail, 0x08074b50);
  put(tail, file.crc);
  put(tail, file.packed_bytes);
  put(tail, file.plain_bytes);
  return send(tail);
}

Status ZipStream::finish() {
  const uint64_t first = sent_;
  for (const File& file : files_) {
    std::string entry;
    put<uint32_t>(entry, 0x02014b50);
    put(entry, kVersion);
    put(entry, kVersion);
    put(entry, kFlags);
    put(entry, kDeflated);
    put<uint16_t>(entry, 0);
    put(entry, kDosDate);
    put(entry, file.crc);
    put(entry, kIn64Bits);
    put(entry, kIn64Bits);
    put(entry, static_cast<uint16_t>(file.name.size()));
    put<uint16_t>(entry, 28);
    put<uint16_t>(entry, 0);  // no comment, first disk, no attributes
    put<uint16_t>(entry, 0);
    put<uint16_t>(entry, 0);
    put<uint32_t>(entry, 0);
    put(entry, kIn64Bits);
    entry += file.name;
    put<uint16_t>(entry, 1);
    put<uint16_t>(entry, 24);
    put(entry, file.plain_bytes);
    put(entry, file.packed_bytes);
    put(entry, file.offset);
    if (auto status = send(entry); !status) return status;
  }
  const uint64_t end = sent_;
  std::string tail;
  put<uint32_t>(tail, 0x06064b50);  // the end, with 64 bits
  put<uint64_t>(tail, 44);
  put(tail, kVersion);
  put(tail, kVersion);
  put<uint32_t>(tail, 0);
  put<uint32_t>(tail, 0);
  put<uint64_t>(tail, files_.size());
  put<uint64_t>(tail, files_.size());
  put(tail, end - first);
  put(tail, first);
  put<uint32_t>(tail, 0x07064b50);  // where that is
  put<uint32_t>(tail, 0);
  put(tail, end);
  put<uint32_t>(tail, 1);
  put<uint32_t>(tail, 0x06054b50);  // the end, as old readers look for it
  put<uint16_t>(tail, 0);
  put<uint16_t>(tail, 0);
  put(tail, static_cast<uint16_t>(std::min<size_t>(files_.size(), 0xffff)));
  put(tail, static_cast<uint16_t>(std::min<size_t>(files_.size(), 0xffff)));
  put(tail, kIn64Bits);
  put(tail, kIn64Bits);
  put<uint16_t>(tail, 0);
  return send(tail);
}

}  // namespace stepscope
