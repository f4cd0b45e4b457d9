// Integers in as few bytes as they need: seven bits a byte, least significant first; signed ones
// zigzagged so that small negative numbers stay short.
#ifndef STEPSCOPE_FORMAT_VARINT_H_
#define STEPSCOPE_FORMAT_VARINT_H_

#include <cstddef>
#include <cstdint>

namespace stepscope {

inline constexpr size_t kLongestVarint = 10;

inline uint64_t zigzag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
inline int64_t unzigzag(uint64_t value) {
  return static_cast<int64_t>((value >> 1) ^ (0 - (value & 1)));
}

// Writes at most kLongestVarint bytes and returns the place behind them.
inline uint8_t* put_varint(uint8_t* at, uint64_t value) {
  while (value >= 0x80) {
    *at++ = static_cast<uint8_t>(value | 0x80);
    value >>= 7;
  }
  *at++ = static_cast<uint8_t>(value);
  return at;
}

// Reads one number between `at` and `end`, moving `at` behind it. False when the bytes end inside
// it or it has more than 64 bits.
inline bool get_varint(const uint8_t*& at, const uint8_t* end, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && at != end; shift += 7) {
    const uint8_t byte = *at++;
    if (shift == 63 && byte > 1) return false;
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

}  // namespace stepscope

#endif  // STEPSCOPE_FORMAT_VARINT_H_
