// Tables of a database that are kept as they are, and the order in which everything is read.

#include "importers/ascend_db/db_reader.h"

namespace stepscope {

std::string snake_case(std::string_view name) {
  std::string text;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool upper = c >= 'A' && c <= 'Z';
    const bool word = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool after_lower = i > 0 && name[i - 1] >= 'a' && name[i - 1] <= 'z';
    if ((upper && after_lower) || !word) {
      if (!text.empty() && text.back() != '_') text += '_';
    }
    if (word) text += static_cast<char>(upper ? c - 'A' + 'a' : c);
  }
  return text;
}

int64_t keep_database_table(const SqliteFile& file, const std::string& table,
                            std::string table_name, RankBuilder& rank) {
  const std::vector<std::string>& columns = file.columns(table);
  SourceTable kept;
  kept.name = std::move(table_name);
  kept.doc = file.path() + " table " + table;
  // Cells have types of their own in SQLite: a column is as wide as its widest cell.
  std::vector<Type> types(columns.size(), Type::kInt64);
  QualityReport ignored;
  {
    TableScan row(file, table, columns, ignored);
    while (row.next()) {
      for (size_t i = 0; i < columns.size(); ++i) {
        const auto cell = row.type(static_cast<int>(i));
        if (cell == TableScan::Cell::kReal && types[i] == Type::kInt64) types[i] = Type::kFloat64;
        if (cell == TableScan::Cell::kText || cell == TableScan::Cell::kBytes) {
          types[i] = Type::kText;
        }
      }
    }
  }
  for (size_t i = 0; i < columns.size(); ++i) kept.columns.push_back({columns[i], types[i], {}});
  TableScan row(file, table, columns, rank.quality);
  while (row.next()) {
    for (size_t i = 0; i < columns.size(); ++i) {
      const int at = static_cast<int>(i);
      int64_t value = kNull;
      if (row.is_null(at)) {
        value = kNull;
      } else if (types[i] == Type::kInt64) {
        value = row.integer(at);
      } else if (types[i] == Type::kFloat64) {
        value = float_bits(row.number(at).value_or(0));
      } else {
        value = rank.strings.intern(row.text(at));
      }
      kept.columns[i].values.push_back(value);
    }
  }
  const int64_t rows = row.rows();
  if (!kept.columns.empty()) rank.source_tables.push_back(std::move(kept));
  return rows;
}

int64_t DbReader::read_all() {
  read_names();
  read_info();
  read_connections();
  read_launch_calls();
  read_stacks();
  read_framework_calls();
  join_host_arrows();
  read_pmu();
  read_compute_info();
  read_copies();
  read_communication_operations();
  read_communication_info();
  read_tasks();
  read_marks();
  read_extra_lanes();
  read_overlap_lanes();
  read_steps();
  read_memory();
  read_counters();
  known_tables_.insert("COMMUNICATION_SCHEDULE_TASK_INFO");
  for (const std::string& table : file_.tables()) {
    if (known_tables_.contains(table) && table != "COMMUNICATION_SCHEDULE_TASK_INFO") continue;
    if (progress_.cancelled()) break;
    rows_ += keep_database_table(file_, table, snake_case(table), rank_);
    if (known_tables_.contains(table)) continue;
    rank_.quality.add(QualityCode::kUnknownColumn,
                      file_.path() + ": table " + table + ", kept as source." + snake_case(table));
  }
  return rows_;
}

}  // namespace stepscope
