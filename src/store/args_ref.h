// Where a slice's args are: source number, byte offset in the source's plain text, and length, in
// 64 bits.
#ifndef STEPSCOPE_STORE_ARGS_REF_H_
#define STEPSCOPE_STORE_ARGS_REF_H_

#include <cstdint>

namespace stepscope {

// Source 0 is the store's own text (args that an importer composed); source n is the rank's n-th
// input file, read from the file itself or, when that is packed by zstd, from the store's mirror.
struct ArgsRef {
  static constexpr uint64_t kNone = 0;
  static constexpr unsigned kOffsetBits = 40;  // 1 TiB of text a source
  static constexpr uint32_t kLongLength =
      (1u << 20) - 1;  // longer args end where their bracket closes

  static uint64_t pack(uint32_t source, uint64_t offset, uint64_t length) {
    const uint64_t stored = length < kLongLength ? length : kLongLength;
    return stored << 44 | static_cast<uint64_t>(source & 0xF) << kOffsetBits | offset;
  }
  static uint64_t offset(uint64_t packed) { return packed & ((1ull << kOffsetBits) - 1); }
  static uint32_t source(uint64_t packed) { return (packed >> kOffsetBits) & 0xF; }
  static uint32_t length(uint64_t packed) { return static_cast<uint32_t>(packed >> 44); }
};

}  // namespace stepscope

#endif  // STEPSCOPE_STORE_ARGS_REF_H_
