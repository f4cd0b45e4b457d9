// ScanTable: a table that SQL can read, block by block. One implementation for the tables of the
// schema, one for tables of the input (source.<name>), which differ from rank to rank.
//
// Reading is const and thread-safe; each thread brings a ScanState.
#ifndef STEPSCOPE_QUERY_SCAN_TABLE_H_
#define STEPSCOPE_QUERY_SCAN_TABLE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <duckdb.h>

#include "base/result.h"
#include "query/store_strings.h"
#include "store/store_reader.h"
#include "store/table_reader.h"

namespace stepscope {

struct ScanColumn {
  std::string name;
  Type type = Type::kInt64;
  bool is_args = false;                 // text that is fetched row by row
  const StringEnum* members = nullptr;  // text that SQL sees as an ENUM
};

// Room for one block, owned by the thread that reads.
struct ScanState {
  std::unique_ptr<int64_t[]> values = std::make_unique_for_overwrite<int64_t[]>(kBlockRows);
  ArgsCache args;
};

class ScanTable {
 public:
  virtual ~ScanTable() = default;

  const std::string& name() const { return name_; }
  const std::vector<ScanColumn>& columns() const { return columns_; }
  uint64_t rows() const { return rows_; }

  virtual size_t block_count() const = 0;
  virtual size_t rows_in_block(size_t block) const = 0;
  // Fills `vector` with the values of a column.
  virtual Status read(size_t block, size_t column, ScanState& state,
                      duckdb_vector vector) const = 0;

 protected:
  std::string name_;
  std::vector<ScanColumn> columns_;
  uint64_t rows_ = 0;
};

// ENUM types shared by all tables that show slices. Empty for a store without slices.
struct SliceEnums {
  std::unique_ptr<StringEnum> name;
  std::unique_ptr<StringEnum> cat;
};
// Costs a pass over totals_by_name and over the flags of the slices, not over their names.
SliceEnums slice_enums(const StoreReader& store, StoreStrings& strings);

std::unique_ptr<ScanTable> scan_schema_table(const StoreReader& store, StoreStrings& strings,
                                             const SliceEnums& enums, Table table);

// The tables of the input, united over the ranks by name. A column whose type differs between
// ranks is DOUBLE when all are numbers, else text.
std::vector<std::unique_ptr<ScanTable>> scan_source_tables(const StoreReader& store,
                                                           StoreStrings& strings);

// --- shared by the implementations ---

// Marks kNull values as NULL and says whether there are any; the mask is touched only then.
bool mark_nulls(const int64_t* values, size_t count, duckdb_vector vector);
// String ids to DuckDB strings.
void fill_text(const int64_t* ids, size_t count, StoreStrings& strings, duckdb_vector vector);

}  // namespace stepscope

#endif  // STEPSCOPE_QUERY_SCAN_TABLE_H_
