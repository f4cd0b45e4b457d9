// Test support: everything that a store holds, as text, to compare two stores as a whole.
#ifndef STEPSCOPE_TESTS_SUPPORT_TABLE_DUMP_H_
#define STEPSCOPE_TESTS_SUPPORT_TABLE_DUMP_H_

#include <bit>
#include <string>

#include "store/store_reader.h"
#include "store/table_reader.h"

namespace stepscope::testing {

inline std::string value_text(const StoreReader& store, Type type, int64_t value) {
  if (value == kNull) return "NULL";
  if (type == Type::kText) return "'" + std::string(store.string(value)) + "'";
  if (type == Type::kFloat64) return std::to_string(std::bit_cast<double>(value));
  return std::to_string(value);
}

// One line per row of every table, with the args of slices and the source tables.
inline std::string dump_tables(const StoreReader& store) {
  std::string out;
  int64_t block[kBlockRows];
  for (size_t table = 0; table < kTableCount; ++table) {
    const TableSpec& spec = tables()[table];
    const TableReader reader(store, static_cast<Table>(table));
    for (const Morsel& morsel : reader.morsels()) {
      std::vector<std::string> lines(morsel.rows, std::string(spec.name));
      for (size_t column = 0; column < spec.columns.size(); ++column) {
        reader.read(morsel, column, block);
        const bool is_args = spec.columns[column].origin == Origin::kArgs;
        for (size_t row = 0; row < morsel.rows; ++row) {
          lines[row] += " " + std::string(spec.columns[column].name) + "=";
          if (is_args) {
            const auto args = reader.args(morsel, row);
            lines[row] += args ? *args : args.error().message();
          } else {
            lines[row] += value_text(store, spec.columns[column].type, block[row]);
          }
        }
      }
      for (const std::string& line : lines) out += line + "\n";
    }
  }
  for (size_t rank = 0; rank < store.rank_count(); ++rank) {
    for (const SourceTableView& table : store.source_tables(rank)) {
      for (uint64_t row = 0; row < table.rows; ++row) {
        out += std::string(table.name);
        for (const auto& column : table.columns) {
          out += " " + std::string(column.name) + "=" +
                 value_text(store, column.type, column.values.at(row));
        }
        out += "\n";
      }
    }
  }
  return out;
}

}  // namespace stepscope::testing

#endif  // STEPSCOPE_TESTS_SUPPORT_TABLE_DUMP_H_
