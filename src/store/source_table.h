// A table of the input that is kept as it is (op_statistic.csv, communication.json ...), beside the
// common tables. In SQL it is source.<name>; columns of the ranks are united, missing ones are
// NULL.
#ifndef STEPSCOPE_STORE_SOURCE_TABLE_H_
#define STEPSCOPE_STORE_SOURCE_TABLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_pool.h"
#include "store/schema.h"

namespace stepscope {

struct SourceColumn {
  std::string name;  // as in the input
  Type type = Type::kText;
  std::vector<int64_t>
      values;  // kNull, an integer, the bits of a double, or a string id of the rank's pool
};

struct SourceTable {
  std::string name;  // snake_case
  std::string doc;   // where it comes from
  std::vector<SourceColumn> columns;

  size_t rows() const { return columns.empty() ? 0 : columns.front().values.size(); }
};

}  // namespace stepscope

#endif  // STEPSCOPE_STORE_SOURCE_TABLE_H_
