// TableReader: a table as users see it, block by block, whatever each column's origin is. SQL,
// Python and the CLI read through this and nothing else.
#ifndef STEPSCOPE_STORE_TABLE_READER_H_
#define STEPSCOPE_STORE_TABLE_READER_H_

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "store/store_reader.h"

namespace stepscope {

// Up to kBlockRows consecutive rows of one rank.
struct Morsel {
  uint32_t rank = 0;  // position
  uint32_t block = 0;
  uint32_t rows = 0;
  uint64_t first_row = 0;  // global
};

class TableReader {
 public:
  TableReader(const StoreReader& store, Table table);
  // The rows of one rank only.
  TableReader(const StoreReader& store, Table table, size_t rank);

  uint64_t rows() const { return rows_; }
  const std::vector<Morsel>& morsels() const { return morsels_; }

  // Values of a column: integers, bits of doubles, string ids, or kNull. For args the value is 1
  // where there are any. `values` has room for kBlockRows.
  void read(const Morsel& morsel, size_t column, int64_t* values) const;
  // JSON text of the args of row `index` of the morsel.
  Result<std::string> args(const Morsel& morsel, size_t index, ArgsCache* cache = nullptr) const;

 private:
  void add_morsels(uint32_t rank);
  void plan_columns();

  struct ColumnPlan {
    Origin origin;
    size_t section = 0;  // of this table, or of slices for kViaSlice
    Origin via = Origin::kStored;
  };

  const StoreReader& store_;
  Table table_;
  uint64_t rows_ = 0;
  std::vector<Morsel> morsels_;
  std::vector<ColumnPlan> plans_;
  size_t slice_section_ = 0;  // the table's own reference to slices
};

}  // namespace stepscope

#endif  // STEPSCOPE_STORE_TABLE_READER_H_
