#include "store/column_codec.h"

#include <bit>
#include <cstring>
#include <limits>

#include "store/schema.h"

namespace stepscope {
namespace {

uint64_t load_word(const std::byte* p) {
  uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

uint64_t width_mask(unsigned width) { return width >= 8 ? ~0ull : (1ull << (8 * width)) - 1; }

// Differences are taken modulo 2^64, so a block that spans the whole int64 range still round-trips.
uint64_t distance(int64_t value, int64_t base) {
  return static_cast<uint64_t>(value) - static_cast<uint64_t>(base);
}

int64_t advance(int64_t base, uint64_t offset) {
  return static_cast<int64_t>(static_cast<uint64_t>(base) + offset);
}

template <typename Offset>
void widen(const std::byte* data, size_t count, int64_t base, int64_t* values) {
  for (size_t i = 0; i < count; ++i) {
    Offset offset;
    std::memcpy(&offset, data + i * sizeof(Offset), sizeof offset);
    values[i] = advance(base, offset);
  }
}

}  // namespace

BlockEntry encode_block(std::span<const int64_t> values, std::string& out) {
  int64_t low = std::numeric_limits<int64_t>::max();
  int64_t high = std::numeric_limits<int64_t>::min();
  bool has_null = false;
  for (const int64_t value : values) {
    if (value == kNull) {
      has_null = true;
      continue;
    }
    low = value < low ? value : low;
    high = value > high ? value : high;
  }
  if (high == std::numeric_limits<int64_t>::min())
    return {kNull, BlockEntry::pack(0, 0, false)};  // all NULL
  const int64_t base = has_null ? low - 1 : low;
  const uint64_t range = distance(high, base);
  const unsigned width = (64 - std::countl_zero(range) + 7) / 8;
  const size_t start = out.size();
  if (width > 0) {
    out.resize(start + values.size() * width);
    char* place = out.data() + start;
    for (const int64_t value : values) {
      const uint64_t offset = value == kNull ? 0 : distance(value, base);
      std::memcpy(place, &offset, width);  // little-endian: the low `width` bytes
      place += width;
    }
  }
  return {base, BlockEntry::pack(width == 0 ? 0 : start, width, has_null)};
}

void decode_block(const BlockEntry& entry, const std::byte* data, size_t count, int64_t* values) {
  switch (const unsigned width = entry.width(); width) {
    case 0:
      for (size_t i = 0; i < count; ++i) values[i] = entry.base;
      return;  // a constant block is never a mix with NULL
    case 1:
      widen<uint8_t>(data, count, entry.base, values);
      break;
    case 2:
      widen<uint16_t>(data, count, entry.base, values);
      break;
    case 4:
      widen<uint32_t>(data, count, entry.base, values);
      break;
    case 8:
      widen<uint64_t>(data, count, entry.base, values);
      break;
    default: {
      const uint64_t mask = width_mask(width);
      for (size_t i = 0; i < count; ++i) {
        values[i] = advance(entry.base, load_word(data + i * width) & mask);
      }
    }
  }
  if (!entry.has_null()) return;
  for (size_t i = 0; i < count; ++i) values[i] = values[i] == entry.base ? kNull : values[i];
}

int64_t decode_value(const BlockEntry& entry, const std::byte* data, size_t index) {
  const unsigned width = entry.width();
  if (width == 0) return entry.base;
  const uint64_t offset = load_word(data + index * width) & width_mask(width);
  if (entry.has_null() && offset == 0) return kNull;
  return advance(entry.base, offset);
}

}  // namespace stepscope
