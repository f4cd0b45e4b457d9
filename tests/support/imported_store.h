// Test support: imports one path with one importer, without discovery, writes a store in a
// temporary folder and reads it back, so that what is checked is what users see.
#ifndef STEPSCOPE_TESTS_SUPPORT_IMPORTED_STORE_H_
#define STEPSCOPE_TESTS_SUPPORT_IMPORTED_STORE_H_

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.h"
#include "importers/importer.h"
#include "store/store_reader.h"
#include "store/store_writer.h"
#include "store/table_reader.h"
#include "tests/support/temporary_folder.h"

namespace stepscope::testing {

// A path in the shared data folder, or "" when this machine does not have it.
inline std::string shared_data_at(const std::string& inside) {
  const char* folder = std::getenv("STEPSCOPE_SHARED_DATA");
  if (folder == nullptr || *folder == '\0') return {};
  const std::string path = std::string(folder) + "/" + inside;
  return std::filesystem::exists(path) ? path : std::string();
}

class ImportedStore {
 public:
  ImportedStore(const Importer& importer, const std::string& path) {
    Progress progress;
    const ImportContext context{progress, 2, 0};
    Candidate candidate;
    candidate.importer = &importer;
    candidate.path = path;
    RankBuilder rank;
    auto status = importer.import(candidate, context, rank);
    if (!status.ok()) {
      error = status.error().message();
      return;
    }
    const std::string file = folder_.path() + "/run.stepscope";
    auto writer = StoreWriter::create(file, 1);
    if (writer.ok()) status = (*writer)->add_rank(0, rank, 2);
    if (writer.ok() && status.ok()) status = (*writer)->finish("{}");
    if (!writer.ok() || !status.ok()) {
      error = (writer.ok() ? status.error() : writer.error()).message();
      return;
    }
    auto reader = StoreReader::open(file);
    if (!reader.ok()) {
      error = reader.error().message();
      return;
    }
    store = *reader;
  }

  std::shared_ptr<StoreReader> store;
  std::string error;  // why there is no store

  uint64_t rows(Table table) const { return store->rows(table); }

  std::vector<int64_t> column(Table table, std::string_view name) const {
    const TableReader reader(*store, table);
    const size_t index = find_column(table_spec(table), name);
    std::vector<int64_t> values;
    std::vector<int64_t> block(kBlockRows);
    for (const Morsel& morsel : reader.morsels()) {
      reader.read(morsel, index, block.data());
      values.insert(values.end(), block.begin(), block.begin() + morsel.rows);
    }
    return values;
  }

  std::vector<double> numbers(Table table, std::string_view name) const {
    std::vector<double> values;
    for (const int64_t bits : column(table, name)) {
      values.push_back(bits == kNull ? -1 : std::bit_cast<double>(bits));
    }
    return values;
  }

  std::vector<std::string> texts(Table table, std::string_view name) const {
    std::vector<std::string> values;
    for (const int64_t id : column(table, name)) {
      values.emplace_back(id == kNull ? std::string_view() : store->string(id));
    }
    return values;
  }

  int64_t quality(std::string_view code) const {
    const auto codes = texts(Table::kQuality, "code");
    const auto counts = column(Table::kQuality, "count");
    for (size_t i = 0; i < codes.size(); ++i) {
      if (codes[i] == code) return counts[i];
    }
    return 0;
  }

  const SourceTableView* source(std::string_view name) const {
    for (const SourceTableView& table : store->source_tables(0)) {
      if (table.name == name) return &table;
    }
    return nullptr;
  }
  uint64_t source_rows(std::string_view name) const {
    const SourceTableView* table = source(name);
    return table == nullptr ? 0 : table->rows;
  }
  // A column as text or as numbers; empty when there is none.
  std::vector<std::string> source_texts(std::string_view table, std::string_view name) const {
    std::vector<std::string> values;
    for_column(table, name, [&](Type, int64_t value) {
      values.emplace_back(value == kNull ? std::string_view() : store->string(value));
    });
    return values;
  }
  std::vector<double> source_numbers(std::string_view table, std::string_view name) const {
    std::vector<double> values;
    for_column(table, name, [&](Type type, int64_t value) {
      if (value == kNull) return;
      values.push_back(type == Type::kFloat64 ? std::bit_cast<double>(value)
                                              : static_cast<double>(value));
    });
    return values;
  }

 private:
  template <typename Visit>
  void for_column(std::string_view table, std::string_view name, Visit visit) const {
    const SourceTableView* view = source(table);
    if (view == nullptr) return;
    for (const auto& column : view->columns) {
      if (column.name != name) continue;
      for (uint64_t row = 0; row < view->rows; ++row) visit(column.type, column.values.at(row));
    }
  }

  TemporaryFolder folder_;
};

}  // namespace stepscope::testing

#endif  // STEPSCOPE_TESTS_SUPPORT_IMPORTED_STORE_H_
