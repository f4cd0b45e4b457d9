#include "tests/support/imported_rank.h"

#include <algorithm>
#include <bit>
#include <filesystem>

#include "store/store_writer.h"
#include "store/table_reader.h"

namespace stepscope::testing {

std::vector<Candidate> find_candidates(const Importer& importer, const std::string& path) {
  std::vector<Candidate> found;
  std::vector<std::string> folders = {path};
  while (!folders.empty()) {
    Folder folder;
    folder.path = folders.back();
    folders.pop_back();
    for (const auto& entry : std::filesystem::directory_iterator(folder.path)) {
      const std::string name = entry.path().filename().string();
      (entry.is_directory() ? folder.folders : folder.files).push_back(name);
    }
    std::ranges::sort(folder.files);
    std::ranges::sort(folder.folders);
    if (importer.probe_folder(folder, found)) continue;
    for (const std::string& name : folder.folders) folders.push_back(folder.path + "/" + name);
  }
  std::ranges::sort(found, {}, [](const Candidate& c) { return std::pair(c.unit, c.rank); });
  return found;
}

ImportedRank::ImportedRank(const Importer& importer, const Candidate& candidate) {
  Progress progress;
  const Status imported = importer.import(candidate, {progress}, builder_);
  if (!imported) {
    ADD_FAILURE() << imported.error().message();
    return;
  }
  const std::string path = folder_.path() + "/store";
  auto writer = StoreWriter::create(path, 1);
  if (!writer) {
    ADD_FAILURE() << writer.error().message();
    return;
  }
  Status written = (*writer)->add_rank(0, builder_, 1);
  if (written) written = (*writer)->finish("{}");
  if (!written) {
    ADD_FAILURE() << written.error().message();
    return;
  }
  auto reader = StoreReader::open(path);
  if (!reader) {
    ADD_FAILURE() << reader.error().message();
    return;
  }
  store_ = *reader;
}

std::vector<int64_t> ImportedRank::integers(Table table, std::string_view column) const {
  std::vector<int64_t> values;
  const TableReader reader(*store_, table);
  const size_t index = find_column(table_spec(table), column);
  std::vector<int64_t> block(kBlockRows);
  for (const Morsel& morsel : reader.morsels()) {
    reader.read(morsel, index, block.data());
    values.insert(values.end(), block.begin(), block.begin() + morsel.rows);
  }
  return values;
}

std::vector<std::string> ImportedRank::texts(Table table, std::string_view column) const {
  std::vector<std::string> values;
  for (const int64_t id : integers(table, column)) {
    values.emplace_back(id == kNull ? std::string_view("NULL") : store_->string(id));
  }
  return values;
}

std::vector<double> ImportedRank::reals(Table table, std::string_view column) const {
  std::vector<double> values;
  for (const int64_t bits : integers(table, column)) values.push_back(std::bit_cast<double>(bits));
  return values;
}

int64_t ImportedRank::quality(std::string_view code) const {
  const auto codes = texts(Table::kQuality, "code");
  const auto counts = integers(Table::kQuality, "count");
  for (size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] == code) return counts[i];
  }
  return 0;
}

const SourceTableView* ImportedRank::find(std::string_view table) const {
  for (const SourceTableView& view : store_->source_tables(0)) {
    if (view.name == table) return &view;
  }
  return nullptr;
}

std::vector<int64_t> ImportedRank::source_integers(std::string_view table,
                                                   std::string_view column) const {
  std::vector<int64_t> values;
  const SourceTableView* view = find(table);
  if (view == nullptr) return values;
  for (const auto& info : view->columns) {
    if (info.name != column) continue;
    for (uint64_t row = 0; row < info.values.rows(); ++row) values.push_back(info.values.at(row));
  }
  return values;
}

std::vector<std::string> ImportedRank::source_texts(std::string_view table,
                                                    std::string_view column) const {
  std::vector<std::string> values;
  for (const int64_t id : source_integers(table, column)) {
    values.emplace_back(id == kNull ? std::string_view("NULL") : store_->string(id));
  }
  return values;
}

std::vector<double> ImportedRank::source_reals(std::string_view table,
                                               std::string_view column) const {
  std::vector<double> values;
  const SourceTableView* view = find(table);
  if (view == nullptr) return values;
  for (const auto& info : view->columns) {
    if (info.name != column) continue;
    EXPECT_NE(info.type, Type::kText) << table << "." << column << " is text";
    for (const int64_t value : source_integers(table, column)) {
      values.push_back(info.type == Type::kFloat64 ? std::bit_cast<double>(value)
                                                   : static_cast<double>(value));
    }
  }
  return values;
}

uint64_t ImportedRank::source_rows(std::string_view table) const {
  const SourceTableView* view = find(table);
  return view == nullptr ? 0 : view->rows;
}

int64_t ImportedRank::rows_of_role(std::string_view role) const {
  const auto roles = texts(Table::kSources, "role");
  const auto counts = integers(Table::kSources, "rows");
  for (size_t i = 0; i < roles.size(); ++i) {
    if (roles[i] == role) return counts[i];
  }
  return -1;
}

}  // namespace stepscope::testing
