// Protocol-buffer messages, field by field, without a schema compiler: one file of this form does
// not justify a dependency. Fields of unknown number or unexpected form are the caller's to count.
//
// Never reads past the end and never recurses; a message inside a message is a reader of its own.
#ifndef STEPSCOPE_IMPORTERS_MINDINSIGHT_WIRE_READER_H_
#define STEPSCOPE_IMPORTERS_MINDINSIGHT_WIRE_READER_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace stepscope::mindinsight {

struct WireField {
  uint32_t number = 0;
  bool is_bytes = false;   // text, message or packed list in `bytes`; else a number in `value`
  uint64_t value = 0;      // varint, or the bits of a fixed-width field
  std::string_view bytes;  // view into the input
};

class WireReader {
 public:
  // `offset` is where `bytes` begins in the file, for messages.
  explicit WireReader(std::string_view bytes, size_t offset = 0) : bytes_(bytes), offset_(offset) {}

  // False at the end, or where a field is damaged or cut: see damaged().
  bool next(WireField& field) {
    if (at_ == bytes_.size() || damaged_) return false;
    field_at_ = at_;
    const auto tag = take_varint();
    if (!tag || *tag >> 3 == 0 || *tag >> 3 > kLargestNumber) return fail();
    field = {};
    field.number = static_cast<uint32_t>(*tag >> 3);
    switch (*tag & 7) {
      case 0: {
        const auto value = take_varint();
        if (!value) return fail();
        field.value = *value;
        return true;
      }
      case 1:
        return take_fixed(8, field.value);
      case 2: {
        const auto length = take_varint();
        if (!length || *length > bytes_.size() - at_) return fail();
        field.is_bytes = true;
        field.bytes = bytes_.substr(at_, *length);
        at_ += *length;
        return true;
      }
      case 5:
        return take_fixed(4, field.value);
      default:
        return fail();  // groups have been out of use since before these files
    }
  }
  bool damaged() const { return damaged_; }
  // Where in the file the last field begins.
  size_t position() const { return offset_ + field_at_; }
  // Where in the file the last field's bytes begin.
  size_t bytes_position(const WireField& field) const {
    return offset_ + static_cast<size_t>(field.bytes.data() - bytes_.data());
  }

  // The next plain varint, for packed lists.
  std::optional<uint64_t> take_varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ == bytes_.size()) return std::nullopt;
      const auto byte = static_cast<uint8_t>(bytes_[at_++]);
      if (shift == 63 && byte > 1) return std::nullopt;  // more than 64 bits
      value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  static constexpr uint64_t kLargestNumber = (1u << 29) - 1;

  bool fail() {
    damaged_ = true;
    return false;
  }
  bool take_fixed(size_t size, uint64_t& value) {
    if (bytes_.size() - at_ < size) return fail();
    for (size_t i = 0; i < size; ++i) {
      value |= static_cast<uint64_t>(static_cast<uint8_t>(bytes_[at_ + i])) << (8 * i);
    }
    at_ += size;
    return true;
  }

  std::string_view bytes_;
  size_t offset_;
  size_t at_ = 0;
  size_t field_at_ = 0;
  bool damaged_ = false;
};

}  // namespace stepscope::mindinsight

#endif  // STEPSCOPE_IMPORTERS_MINDINSIGHT_WIRE_READER_H_
