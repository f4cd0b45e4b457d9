// Records of the form u16 type, u32 length, value (little-endian), one after another.
#ifndef STEPSCOPE_IMPORTERS_MINDSPORE_RAW_TLV_READER_H_
#define STEPSCOPE_IMPORTERS_MINDSPORE_RAW_TLV_READER_H_

#include <cstdint>
#include <cstring>
#include <string_view>

namespace stepscope::mindspore_raw {

// Little-endian fields of a fixed structure without padding. Past the end everything reads as 0.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  T take() {
    T value{};
    if (bytes_.size() - at_ >= sizeof(T)) std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ = at_ + sizeof(T) <= bytes_.size() ? at_ + sizeof(T) : bytes_.size();
    return value;
  }
  std::string_view rest() const { return bytes_.substr(at_); }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
};

class TlvReader {
 public:
  explicit TlvReader(std::string_view bytes) : bytes_(bytes) {}

  // False at the end, or where the last record is not complete: see cut().
  bool next(uint16_t& type, std::string_view& value) {
    constexpr size_t kHead = 6;
    if (at_ == bytes_.size()) return false;
    FieldReader head(bytes_.substr(at_));
    type = head.take<uint16_t>();
    const auto length = head.take<uint32_t>();
    if (bytes_.size() - at_ < kHead || bytes_.size() - at_ - kHead < length) {
      cut_ = true;
      return false;
    }
    record_at_ = at_;
    value = bytes_.substr(at_ + kHead, length);
    at_ += kHead + length;
    return true;
  }
  bool cut() const { return cut_; }
  size_t record_offset() const { return record_at_; }
  size_t offset() const { return at_; }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
  size_t record_at_ = 0;
  bool cut_ = false;
};

}  // namespace stepscope::mindspore_raw

#endif  // STEPSCOPE_IMPORTERS_MINDSPORE_RAW_TLV_READER_H_
