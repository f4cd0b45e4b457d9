// Columns as plain typed arrays, complete in memory: what other languages take over as they are.
#ifndef STEPSCOPE_API_COLUMN_DATA_H_
#define STEPSCOPE_API_COLUMN_DATA_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/pod_vector.h"

namespace stepscope {

enum class ColumnType : uint8_t {
  kBool,
  kInt64,
  kInt128,  // only where a value does not fit 64 bits: sums of large integers
  kFloat64,
  kText,
};

// One array is filled, the one of its type; the others are empty.
struct ColumnData {
  std::string name;
  ColumnType type = ColumnType::kInt64;

  PodVector<uint8_t> bools;  // 0 or 1
  PodVector<int64_t> integers;
  PodVector<__int128> wide_integers;
  PodVector<double> floats;
  PodVector<int32_t> codes;             // of text: positions in `categories`, -1 for NULL
  std::vector<std::string> categories;  // UTF-8, each once, in order of first use

  // 1 where the value is NULL (the value itself is then 0 or NaN); empty when none is. Not for
  // text.
  PodVector<uint8_t> nulls;
};

struct TableData {
  size_t rows = 0;
  std::vector<ColumnData> columns;
};

}  // namespace stepscope

#endif  // STEPSCOPE_API_COLUMN_DATA_H_
