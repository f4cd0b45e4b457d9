#include "packed/text_source.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <vector>

#include <isa-l/igzip_lib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/cold_reader.h"

namespace stepscope {
namespace {

constexpr size_t kPackedBufferBytes = 256 * 1024;
// Traces compress 8 to 40 fold. Deflate's limit is 1,032 fold, which only a bomb comes near.
constexpr uint64_t kMostExpansion = 250;
constexpr uint64_t kExpansionFreeBytes = 64ull << 20;
constexpr const char* kWrongChecksum = "its checksum is wrong: some of its text may be, too";

class PlainSource final : public TextSource {
 public:
  explicit PlainSource(InputFile file) : TextSource(std::move(file), false) {}

  Result<size_t> read(char* into, size_t bytes) override {
    if (file_position_ == 0) cold_ = ColdReader::open(*file_);
    if (cold_ != nullptr) {
      const ptrdiff_t got = cold_->read(into, bytes);
      if (got >= 0) {
        file_position_ += static_cast<uint64_t>(got);
        return static_cast<size_t>(got);
      }
      cold_.reset();  // the usual way may still work, and otherwise says why not
    }
    auto got = file_->read_at(file_position_, into, bytes);
    if (got) file_position_ += *got;
    return got;
  }

 private:
  std::unique_ptr<ColdReader> cold_;
};

// Reads the packed file piece by piece for the two decoders below.
class PackedSource : public TextSource {
 protected:
  PackedSource(InputFile file, uint64_t start, uint64_t end)
      : TextSource(std::move(file), true), end_(end) {
    file_start_ = file_position_ = start;
  }
  // Without what is read already: it is read again.
  PackedSource(const PackedSource& other, size_t unused_bytes)
      : TextSource(other), end_(other.end_), text_bytes_(other.text_bytes_) {
    file_position_ -= unused_bytes;
  }
  // False at the end of the file.
  Result<bool> refill() {
    buffer_.resize(kPackedBufferBytes);
    const size_t want = std::min<uint64_t>(buffer_.size(), end_ - std::min(end_, file_position_));
    auto got = file_->read_at(file_position_, buffer_.data(), want);
    if (!got) return std::move(got.error());
    file_position_ += *got;
    filled_ = *got;
    return filled_ > 0;
  }

  std::vector<uint8_t> buffer_;
  size_t filled_ = 0;
  uint64_t end_;
  uint64_t text_bytes_ = 0;
};

class DeflateSource final : public PackedSource {
 public:
  DeflateSource(InputFile file, uint64_t start, uint64_t end, bool gzip)
      : PackedSource(std::move(file), start, end), gzip_(gzip) {
    isal_inflate_init(&state_);
    state_.crc_flag = gzip_ ? ISAL_GZIP : ISAL_DEFLATE;
  }

  DeflateSource(const DeflateSource& other)
      : PackedSource(other, other.state_.avail_in),
        state_(other.state_),
        gzip_(other.gzip_),
        finished_(other.finished_) {
    state_.avail_in = 0;
  }
  std::unique_ptr<TextSource> fork() const override {
    return std::make_unique<DeflateSource>(*this);
  }

  Result<size_t> read(char* into, size_t bytes) override {
    state_.next_out = reinterpret_cast<uint8_t*>(into);
    state_.avail_out = static_cast<uint32_t>(std::min<size_t>(bytes, 1u << 30));
    const size_t wanted = state_.avail_out;
    while (state_.avail_out > 0 && !finished_) {
      if (state_.avail_in == 0) {
        auto more = refill();
        if (!more) return std::move(more.error());
        if (!*more) {
          truncated_ = truncated_ || state_.block_state != ISAL_BLOCK_FINISH;
          finished_ = true;
          break;
        }
        state_.next_in = buffer_.data();
        state_.avail_in = static_cast<uint32_t>(filled_);
      }
      if (state_.block_state == ISAL_BLOCK_FINISH && !next_member()) break;
      const int code = isal_inflate(&state_);
      if (code == ISAL_INCORRECT_CHECKSUM) {
        flaw_ = kWrongChecksum;  // it stands behind the text, which is complete
        state_.block_state = ISAL_BLOCK_FINISH;
      } else if (code != ISAL_DECOMP_OK && code != ISAL_END_INPUT && code != ISAL_OUT_OVERFLOW) {
        truncated_ = finished_ = true;
      }
      if (!gzip_ && state_.block_state == ISAL_BLOCK_FINISH) finished_ = true;
    }
    const size_t got = wanted - state_.avail_out;
    text_bytes_ += got;
    if (auto status = check_expansion(text_bytes_); !status) return std::move(status.error());
    return got;
  }

 private:
  // A gzip file may be several members one after another; zeros behind a member are padding.
  bool next_member() {
    if (!gzip_ || state_.avail_in == 0 || *state_.next_in != 0x1F) {
      finished_ = true;
      if (gzip_ && state_.avail_in > 0 && *state_.next_in != 0 && flaw_.empty()) {
        flaw_ = std::to_string(end_ - file_position_ + state_.avail_in) +
                " bytes behind its end are not gzip and were not read";
      }
      return false;
    }
    uint8_t* next_in = state_.next_in;
    const uint32_t avail_in = state_.avail_in;
    uint8_t* next_out = state_.next_out;
    const uint32_t avail_out = state_.avail_out;
    isal_inflate_reset(&state_);
    state_.crc_flag = ISAL_GZIP;
    state_.next_in = next_in;
    state_.avail_in = avail_in;
    state_.next_out = next_out;
    state_.avail_out = avail_out;
    return true;
  }

  // Zeroed, because damaged data may refer to text before its beginning, which is read from here.
  inflate_state state_{};
  bool gzip_;
  bool finished_ = false;
};

// A zip's member without compression: the bytes from `start` to `end`, as they are.
class StoredSource final : public PackedSource {
 public:
  StoredSource(InputFile file, uint64_t start, uint64_t end)
      : PackedSource(std::move(file), start, end) {}
  StoredSource(const StoredSource& other) : PackedSource(other, 0) {}
  std::unique_ptr<TextSource> fork() const override {
    return std::make_unique<StoredSource>(*this);
  }

  Result<size_t> read(char* into, size_t bytes) override {
    const size_t want = std::min<uint64_t>(bytes, end_ - std::min(end_, file_position_));
    auto got = file_->read_at(file_position_, into, want);
    if (!got) return got;
    file_position_ += *got;
    truncated_ = truncated_ || (want > 0 && *got == 0);  // the file ends inside the member
    return got;
  }
};

class ZstdSource final : public PackedSource {
 public:
  explicit ZstdSource(InputFile file)
      : PackedSource(std::move(file), 0, UINT64_MAX), stream_(ZSTD_createDStream()) {
    ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, 27);  // 128 MiB: memory stays bounded
  }
  ~ZstdSource() override { ZSTD_freeDStream(stream_); }

  Result<size_t> read(char* into, size_t bytes) override {
    ZSTD_outBuffer out{into, bytes, 0};
    while (out.pos < out.size && !finished_) {
      if (in_.pos == in_.size) {
        auto more = refill();
        if (!more) return std::move(more.error());
        if (!*more) {
          truncated_ = truncated_ || in_frame_;
          break;
        }
        in_ = {buffer_.data(), filled_, 0};
      }
      const size_t left = ZSTD_decompressStream(stream_, &out, &in_);
      if (ZSTD_getErrorCode(left) == ZSTD_error_checksum_wrong) {
        flaw_ = kWrongChecksum;
        finished_ = true;
      } else if (ZSTD_isError(left)) {
        truncated_ = finished_ = true;
      }
      in_frame_ = left != 0 && !finished_;
    }
    text_bytes_ += out.pos;
    if (auto status = check_expansion(text_bytes_); !status) return std::move(status.error());
    return out.pos;
  }

 private:
  ZSTD_DStream* stream_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool in_frame_ = false;
  bool finished_ = false;
};

uint32_t little_endian(const uint8_t* p, int bytes) {
  uint32_t value = 0;
  for (int i = 0; i < bytes; ++i) value |= static_cast<uint32_t>(p[i]) << (8 * i);
  return value;
}

struct ZipEntry {
  ZipMember member;
  uint64_t local_offset = 0;
  uint32_t method = 0;
  bool encrypted = false;
};

constexpr uint32_t kZipMagic = 0x04034B50u;
constexpr uint32_t kStored = 0;
constexpr uint32_t kDeflated = 8;
constexpr uint64_t kSizeElsewhere = 0xFFFFFFFFu;  // of more than 4 GiB, in a zip64 field

Error bad_zip(const InputFile& file) {
  return {ErrorCode::kBadInput, "cannot open the zip", file.path(),
          "its list of members cannot be read", "unpack it and import the trace inside"};
}

// By the central directory: local headers may leave sizes out.
Result<std::vector<ZipEntry>> list_zip(const InputFile& file) {
  const size_t tail_bytes = std::min<uint64_t>(file.size(), 66 * 1024);
  std::vector<uint8_t> tail(tail_bytes);
  auto got = file.read_at(file.size() - tail_bytes, tail.data(), tail_bytes);
  if (!got || *got < 22) return bad_zip(file);
  size_t end = tail_bytes - 22;
  while (little_endian(&tail[end], 4) != 0x06054B50u) {
    if (end == 0) return bad_zip(file);
    --end;
  }
  const uint32_t members = little_endian(&tail[end + 10], 2);
  const uint64_t directory_bytes = little_endian(&tail[end + 12], 4);
  const uint64_t directory_offset = little_endian(&tail[end + 16], 4);
  if (directory_offset + directory_bytes > file.size() || directory_bytes > (16u << 20))
    return bad_zip(file);
  std::vector<uint8_t> directory(directory_bytes + 46);
  if (!file.read_at(directory_offset, directory.data(), directory_bytes)) return bad_zip(file);
  std::vector<ZipEntry> entries;
  size_t at = 0;
  for (uint32_t i = 0; i < members && at + 46 <= directory_bytes; ++i) {
    const uint8_t* entry = &directory[at];
    if (little_endian(entry, 4) != 0x02014B50u) return bad_zip(file);
    const size_t name_bytes =
        std::min<size_t>(little_endian(entry + 28, 2), directory_bytes - at - 46);
    std::string name(reinterpret_cast<const char*>(entry) + 46, name_bytes);
    at += 46 + little_endian(entry + 28, 2) + little_endian(entry + 30, 2) +
          little_endian(entry + 32, 2);
    if (name.ends_with('/')) continue;  // a folder
    entries.push_back(
        {{std::move(name), little_endian(entry + 20, 4), little_endian(entry + 24, 4)},
         little_endian(entry + 42, 4),
         little_endian(entry + 10, 2),
         (little_endian(entry + 8, 2) & 1) != 0});
  }
  return entries;
}

// The member of that name, the largest for "".
Result<ZipEntry> find_zip_member(const InputFile& file, const std::string& name) {
  auto entries = list_zip(file);
  if (!entries) return std::move(entries.error());
  const auto found =
      name.empty() ? std::max_element(entries->begin(), entries->end(),
                                      [](const ZipEntry& a, const ZipEntry& b) {
                                        return a.member.text_bytes < b.member.text_bytes;
                                      })
                   : std::find_if(entries->begin(), entries->end(),
                                  [&](const ZipEntry& one) { return one.member.name == name; });
  if (found == entries->end()) return bad_zip(file);
  std::string_view why;
  if (found->encrypted) {
    why = "its member is encrypted";
  } else if (found->method != kStored && found->method != kDeflated) {
    why = "it is compressed by another method than deflate";
  } else if (found->method == kStored && found->member.packed_bytes == kSizeElsewhere) {
    why = "its member is stored without compression and larger than 4 GiB";
  }
  if (!why.empty()) {
    return Error{ErrorCode::kUnsupported, "cannot open the zip", file.path(), std::string(why),
                 "unpack it and import the trace inside"};
  }
  return std::move(*found);
}

Result<std::unique_ptr<TextSource>> open_zip(InputFile file, const std::string& name) {
  auto found = find_zip_member(file, name);
  if (!found) return std::move(found.error());
  uint8_t local[30];
  auto got = file.read_at(found->local_offset, local, sizeof local);
  if (!got || *got < sizeof local || little_endian(local, 4) != kZipMagic) return bad_zip(file);
  const uint64_t start =
      found->local_offset + 30 + little_endian(local + 26, 2) + little_endian(local + 28, 2);
  const uint64_t end = start + found->member.packed_bytes;
  if (found->method == kStored)
    return std::unique_ptr<TextSource>(new StoredSource(std::move(file), start, end));
  return std::unique_ptr<TextSource>(new DeflateSource(std::move(file), start, end, false));
}

uint32_t first_word(const InputFile& file) {
  uint8_t magic[4] = {};
  return file.read_at(0, magic, sizeof magic) ? little_endian(magic, 4) : 0;
}

// The zip that "runs.zip/folder/rank1.json" goes on inside of, or "".
std::string zip_around(const std::string& path) {
  std::error_code ignored;
  for (size_t slash = path.rfind('/'); slash != 0 && slash != std::string::npos;
       slash = path.rfind('/', slash - 1)) {
    const auto kind = std::filesystem::status(path.substr(0, slash), ignored).type();
    if (kind == std::filesystem::file_type::regular) return path.substr(0, slash);
    if (kind == std::filesystem::file_type::directory) break;
  }
  return {};
}

}  // namespace

Status TextSource::check_expansion(uint64_t text_bytes) const {
  if (text_bytes < kExpansionFreeBytes || text_bytes / kMostExpansion < file_position()) return {};
  return Error{
      ErrorCode::kLimit, "cannot read", file_->path(),
      "it expands more than " + std::to_string(kMostExpansion) + " fold, which no trace does",
      "unpack it yourself if you trust it, and import the plain file"};
}

Result<std::unique_ptr<TextSource>> TextSource::open(const std::string& path) {
  auto file = InputFile::open(path);
  if (!file) {
    const std::string zip = zip_around(path);
    if (zip.empty()) return std::move(file.error());
    auto around = InputFile::open(zip);
    if (!around || first_word(*around) != kZipMagic) return std::move(file.error());
    return open_zip(std::move(*around), path.substr(zip.size() + 1));
  }
  uint8_t magic[4] = {};
  auto got = file->read_at(0, magic, sizeof magic);
  if (!got) return std::move(got.error());
  const uint32_t word = little_endian(magic, 4);
  const uint64_t size = file->size();
  if ((word & 0xFFFF) == 0x8B1F) {
    return std::unique_ptr<TextSource>(new DeflateSource(std::move(*file), 0, size, true));
  }
  if (word == 0xFD2FB528u) return std::unique_ptr<TextSource>(new ZstdSource(std::move(*file)));
  if (word == kZipMagic) return open_zip(std::move(*file), "");
  return std::unique_ptr<TextSource>(new PlainSource(std::move(*file)));
}

std::vector<ZipMember> zip_members(const std::string& path) {
  std::vector<ZipMember> members;
  auto file = InputFile::open(path);
  if (!file || first_word(*file) != kZipMagic) return members;
  auto entries = list_zip(*file);
  if (!entries) return members;
  for (ZipEntry& entry : *entries) members.push_back(std::move(entry.member));
  return members;
}

std::string read_text_head(const std::string& path, size_t bytes) {
  auto source = TextSource::open(path);
  if (!source) return {};
  std::string head(bytes, '\0');
  auto got = (*source)->read(head.data(), bytes);
  head.resize(got ? *got : 0);
  return head;
}

}  // namespace stepscope
