// The first stage of reading JSON: the positions of { } [ ] : , outside strings, 64 bytes at a
// time.
//
// Strings are told apart by the parity of unescaped quotes, with one carry-less multiplication per
// 64 bytes where the CPU has it. About 4 GB/s per core with AVX2. Quotes themselves are not
// indexed: the reader finds a string's ends from its neighbours, which halves the index.
//
// Parity is wrong behind a quote that should have been escaped, and then whole events could hide in
// one string. What valid JSON cannot have is therefore marked: a quote with text on its outer side,
// a control character inside a string, an escape that JSON does not know. Without marks the
// strings are what they seem to be.
#ifndef STEPSCOPE_IMPORTERS_CHROME_STRUCTURAL_INDEX_H_
#define STEPSCOPE_IMPORTERS_CHROME_STRUCTURAL_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/pod_vector.h"

namespace stepscope {

inline constexpr size_t kTextPadding = 64;  // readable bytes that must follow the indexed text

class StructuralIndex {
 public:
  // Indexes text[0, size), which must begin outside a string and be followed by kTextPadding bytes.
  // Positions are relative to `text`. `portable`: without the CPU's special instructions (tests).
  void build(const char* text, size_t size, bool portable = false);

  const uint32_t* begin() const { return positions_.data(); }
  size_t size() const { return count_; }
  // Places, in rising order, where the text is not valid JSON.
  const std::vector<uint32_t>& marks() const { return marks_; }

 private:
  PodVector<uint32_t> positions_;  // as many as `size` could need; only touched where there are any
  size_t count_ = 0;
  std::vector<uint32_t> marks_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_CHROME_STRUCTURAL_INDEX_H_
