// A fast 64-bit hash for interning (not for hostile key sets: tables grow with the number of
// distinct strings, and every lookup compares the full string) and CRC-32C for everything on disk.
#ifndef STEPSCOPE_BASE_HASH_H_
#define STEPSCOPE_BASE_HASH_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace stepscope {

inline uint64_t mix64(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline uint64_t load64(const char* p) {
  uint64_t value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

// One multiplication per 16 bytes.
inline uint64_t hash_bytes(std::string_view text) {
  constexpr uint64_t kOdd1 = 0x9E3779B97F4A7C15ULL;
  constexpr uint64_t kOdd2 = 0xD6E8FEB86659FD93ULL;
  // Not kOdd1 again: a text of one byte would cancel it and multiply by zero.
  constexpr uint64_t kOdd3 = 0xA0761D6478BD642FULL;
  const char* p = text.data();
  size_t left = text.size();
  uint64_t state = left * kOdd1;
  while (left >= 16) {
    state = mix64(load64(p) ^ kOdd1, load64(p + 8) ^ state ^ kOdd2);
    p += 16;
    left -= 16;
  }
  uint64_t low = 0;
  uint64_t high = 0;
  if (left >= 8) {
    low = load64(p);
    high = load64(p + left - 8);
  } else if (left > 0) {
    std::memcpy(&low, p, left);
  }
  return mix64(low ^ kOdd2, high ^ state ^ kOdd3);
}

// Two 32-bit polynomial hashes of a process group's name: the number by which files of Ascend
// recordings name the group.
inline uint64_t group_name_hash(std::string_view name) {
  uint32_t first = 0;
  uint32_t second = 0;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    first = first * 29 + byte;
    second = second * 131 + byte;
  }
  return static_cast<uint64_t>(first) << 32 | second;
}

// CRC-32C (Castagnoli), with the CPU's instruction where there is one. `seed` continues an earlier
// checksum.
uint32_t crc32c(const void* data, size_t bytes, uint32_t seed = 0);

}  // namespace stepscope

#endif  // STEPSCOPE_BASE_HASH_H_
