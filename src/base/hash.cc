#include "base/hash.h"

#include <array>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace stepscope {
namespace {

constexpr std::array<uint32_t, 256> make_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? 0x82F63B78u : 0u);
    table[byte] = crc;
  }
  return table;
}

constexpr auto kTable = make_table();

uint32_t crc_by_table(const unsigned char* p, size_t bytes, uint32_t crc) {
  for (; bytes > 0; --bytes) crc = (crc >> 8) ^ kTable[(crc ^ *p++) & 0xFF];
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t crc_by_instruction(const unsigned char* p, size_t bytes,
                                                              uint32_t crc) {
  uint64_t wide = crc;
  for (; bytes >= 8; bytes -= 8, p += 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    wide = _mm_crc32_u64(wide, word);
  }
  crc = static_cast<uint32_t>(wide);
  for (; bytes > 0; --bytes) crc = _mm_crc32_u8(crc, *p++);
  return crc;
}
#endif

}  // namespace

uint32_t crc32c(const void* data, size_t bytes, uint32_t seed) {
  const auto* p = static_cast<const unsigned char*>(data);
  const uint32_t crc = ~seed;
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2");
  if (has_instruction) return ~crc_by_instruction(p, bytes, crc);
#endif
  return ~crc_by_table(p, bytes, crc);
}

}  // namespace stepscope
