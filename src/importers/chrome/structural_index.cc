#include "importers/chrome/structural_index.h"

#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace stepscope {
namespace {

struct Masks {
  uint64_t quote = 0;
  uint64_t backslash = 0;
  uint64_t structural = 0;
  uint64_t blank = 0;    // up to and including ' '
  uint64_t control = 0;  // below ' '
};

struct Carry {
  uint64_t in_string = 0;    // all ones while inside a string
  bool escape = false;       // the last byte was an escaping backslash
  uint64_t outer = 1;        // the last byte may stand before a string
  uint64_t ends_string = 0;  // 1: the last byte is a quote that ends a string
};

bool is_escape(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
    case 'u':
      return true;
    default:
      return false;
  }
}

// Bits whose byte is escaped by a backslash. Blocks with backslashes are rare, so a loop over them
// is enough.
inline uint64_t escaped_bits(uint64_t backslash, bool& carry) {
  uint64_t escaped = 0;
  if (carry) {
    escaped |= 1;
    backslash &= ~1ull;
    carry = false;
  }
  while (backslash != 0) {
    const int at = std::countr_zero(backslash);
    if (at == 63) {
      carry = true;
      break;
    }
    escaped |= 2ull << at;
    backslash &= ~(3ull << at);
  }
  return escaped;
}

inline uint32_t* write_positions(uint64_t bits, uint32_t base, uint32_t* out) {
  const int count = std::popcount(bits);
  uint32_t* const end = out + count;
  // Eight at a time without a branch each; the surplus is overwritten by the next block.
  for (uint32_t* at = out; at < end; at += 8) {
    for (int i = 0; i < 8; ++i) {
      at[i] = base + static_cast<uint32_t>(std::countr_zero(bits));
      bits &= bits - 1;
    }
  }
  return end;
}

// `late`: the quote at the end of the block before has text behind it.
__attribute__((noinline)) void note_marks(uint64_t bits, bool late, uint32_t block,
                                          std::vector<uint32_t>& marks) {
  if (late) marks.push_back(block - 1);
  for (; bits != 0; bits &= bits - 1)
    marks.push_back(block + static_cast<uint32_t>(std::countr_zero(bits)));
}

template <typename Classify, typename PrefixXor>
inline __attribute__((always_inline)) size_t index_text(const char* text, size_t size,
                                                        uint32_t* out, Classify classify,
                                                        PrefixXor prefix_xor,
                                                        std::vector<uint32_t>& marks) {
  Carry carry;
  uint32_t* const first = out;
  for (size_t block = 0; block < size; block += 64) {
    Masks masks = classify(text + block);
    const size_t left = size - block;
    if (left < 64) {
      const uint64_t inside = (1ull << left) - 1;
      masks.quote &= inside;
      masks.backslash &= inside;
      masks.structural &= inside;
      masks.control &= inside;
    }
    uint64_t bad_escapes = 0;
    if (masks.backslash != 0 || carry.escape) {
      const uint64_t escaped = escaped_bits(masks.backslash, carry.escape);
      masks.quote &= ~escaped;
      for (uint64_t rest = escaped; rest != 0; rest &= rest - 1) {
        const int at = std::countr_zero(rest);
        if (!is_escape(text[block + static_cast<size_t>(at)])) bad_escapes |= 1ull << at;
      }
      if (left < 64) bad_escapes &= (1ull << left) - 1;
    }
    const uint64_t in_string = prefix_xor(masks.quote) ^ carry.in_string;
    // A quote that begins a string stands behind a bracket, comma, colon or blank; one that ends a
    // string stands before one. The text's own end is as good: what follows is not known.
    const uint64_t outer = masks.structural | masks.blank | (left < 64 ? ~0ull << left : 0);
    const uint64_t begins = masks.quote & in_string;
    const uint64_t ends = masks.quote & ~in_string;
    const uint64_t bad = (begins & ~(outer << 1 | carry.outer)) |
                         (ends & ~(outer >> 1 | 1ull << 63)) | (masks.control & in_string) |
                         (bad_escapes & in_string);
    const uint64_t late = carry.ends_string & ~outer;
    if ((bad | late) != 0) [[unlikely]]
      note_marks(bad, late != 0, static_cast<uint32_t>(block), marks);
    carry.outer = outer >> 63;
    carry.ends_string = ends >> 63;
    carry.in_string = static_cast<uint64_t>(static_cast<int64_t>(in_string) >> 63);
    out = write_positions(masks.structural & ~in_string, static_cast<uint32_t>(block), out);
  }
  return static_cast<size_t>(out - first);
}

inline uint64_t prefix_xor_by_shifts(uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

// [ and { differ from each other in one bit, so do ] and }; setting it leaves four bytes to compare
// with.
constexpr char kBracketBit = 0x20;

size_t index_portable(const char* text, size_t size, uint32_t* out, std::vector<uint32_t>& marks) {
  const auto classify = [](const char* block) {
    Masks masks;
    for (int i = 0; i < 64; ++i) {
      const char c = block[i];
      const char folded = static_cast<char>(c | kBracketBit);
      masks.quote |= static_cast<uint64_t>(c == '"') << i;
      masks.backslash |= static_cast<uint64_t>(c == '\\') << i;
      masks.structural |=
          static_cast<uint64_t>(folded == '{' || folded == '}' || c == ':' || c == ',') << i;
      masks.blank |= static_cast<uint64_t>(static_cast<unsigned char>(c) <= ' ') << i;
      masks.control |= static_cast<uint64_t>(static_cast<unsigned char>(c) < ' ') << i;
    }
    return masks;
  };
  return index_text(text, size, out, classify, prefix_xor_by_shifts, marks);
}

#if defined(__x86_64__)
#define STEPSCOPE_AVX2 __attribute__((target("avx2,pclmul,bmi,bmi2,lzcnt,popcnt")))

STEPSCOPE_AVX2 inline uint64_t join_bits(__m256i low, __m256i high) {
  return static_cast<uint32_t>(_mm256_movemask_epi8(low)) |
         static_cast<uint64_t>(static_cast<uint32_t>(_mm256_movemask_epi8(high))) << 32;
}

STEPSCOPE_AVX2 inline __m256i equal_to(__m256i bytes, char c) {
  return _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(c));
}

// Bytes up to and including `c`, as unsigned numbers.
STEPSCOPE_AVX2 inline __m256i up_to(__m256i bytes, char c) {
  return equal_to(_mm256_max_epu8(bytes, _mm256_set1_epi8(c)), c);
}

// Classes are united as vectors: taking bits out of a register is what costs.
STEPSCOPE_AVX2 inline __m256i is_structural(__m256i bytes) {
  const __m256i folded = _mm256_or_si256(bytes, _mm256_set1_epi8(kBracketBit));
  return _mm256_or_si256(_mm256_or_si256(equal_to(folded, '{'), equal_to(folded, '}')),
                         _mm256_or_si256(equal_to(bytes, ':'), equal_to(bytes, ',')));
}

STEPSCOPE_AVX2 size_t index_avx2(const char* text, size_t size, uint32_t* out,
                                 std::vector<uint32_t>& marks) {
  const auto classify = [](const char* block) STEPSCOPE_AVX2 {
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block + 32));
    return Masks{join_bits(equal_to(low, '"'), equal_to(high, '"')),
                 join_bits(equal_to(low, '\\'), equal_to(high, '\\')),
                 join_bits(is_structural(low), is_structural(high)),
                 join_bits(up_to(low, ' '), up_to(high, ' ')),
                 join_bits(up_to(low, ' ' - 1), up_to(high, ' ' - 1))};
  };
  const auto prefix_xor = [](uint64_t quotes) STEPSCOPE_AVX2 {
    const __m128i product = _mm_clmulepi64_si128(_mm_set_epi64x(0, static_cast<int64_t>(quotes)),
                                                 _mm_set1_epi8(static_cast<char>(0xFF)), 0);
    return static_cast<uint64_t>(_mm_cvtsi128_si64(product));
  };
  return index_text(text, size, out, classify, prefix_xor, marks);
}
#endif

}  // namespace

void StructuralIndex::build(const char* text, size_t size, bool portable) {
  // Worst case every byte is structural; the extra room takes the surplus of write_positions.
  if (positions_.size() < size + 72) positions_.resize_uninitialised(size + 72);
  marks_.clear();
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("pclmul") &&
                               __builtin_cpu_supports("bmi2");
  if (has_avx2 && !portable) {
    count_ = index_avx2(text, size, positions_.data(), marks_);
    return;
  }
#endif
  count_ = index_portable(text, size, positions_.data(), marks_);
}

}  // namespace stepscope
