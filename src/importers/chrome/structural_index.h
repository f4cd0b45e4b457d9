// The first stage of reading JSON: the positions of { } [ ] : , outside strings, 64 bytes at a
// time.
//
// Strings are told apart by the parity of unescaped quotes, with one carry-less multiplication per
// 64 bytes where the CPU has it. About 4 GB/s per core with AVX2. Quotes themselves are not
// indexed: the reader finds a string's ends from its neighbours, which halves the index.
#ifndef STEPSCOPE_IMPORTERS_CHROME_STRUCTURAL_INDEX_H_
#define STEPSCOPE_IMPORTERS_CHROME_STRUCTURAL_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stepscope {

inline constexpr size_t kTextPadding = 64;  // readable bytes that must follow the indexed text

class StructuralIndex {
 public:
  // Indexes text[0, size), which must begin outside a string. Positions are relative to `text`.
  void build(const char* text, size_t size);

  const uint32_t* begin() const { return positions_.data(); }
  size_t size() const { return count_; }

 private:
  std::vector<uint32_t> positions_;
  size_t count_ = 0;
};

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_CHROME_STRUCTURAL_INDEX_H_
