// Test support: import something into a temporary store and read its tables by name.
#ifndef STEPSCOPE_TESTS_SUPPORT_IMPORTED_RUN_H_
#define STEPSCOPE_TESTS_SUPPORT_IMPORTED_RUN_H_

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "importers/import_run.h"
#include "store/store_reader.h"
#include "store/table_reader.h"
#include "tests/support/temporary_folder.h"

namespace stepscope::testing {

// The folder of shared data, "" when this machine has none.
inline std::string shared_data() {
  const char* folder = std::getenv("STEPSCOPE_SHARED_DATA");
  return folder == nullptr ? "" : folder;
}

#define STEPSCOPE_NEEDS_SHARED_DATA()                                                  \
  if (::stepscope::testing::shared_data().empty()) {                                   \
    GTEST_SKIP() << "needs ../shared/data (STEPSCOPE_SHARED_DATA), which is not here"; \
  }

class ImportedRun {
 public:
  explicit ImportedRun(const std::string& path, unsigned jobs = 2, const std::string& form = "")
      : ImportedRun(std::vector<std::string>{path}, jobs, form) {}

  ImportedRun(const std::vector<std::string>& paths, unsigned jobs, const std::string& form) {
    Progress progress;
    ImportOptions options;
    options.output = folder_.path("run.stepscope");
    options.jobs = jobs;
    options.form = form;
    auto run = import_run(paths, options, progress);
    if (!run) {
      error_ = run.error().message();
      return;
    }
    notes_ = run->notes;
    auto store = StoreReader::open(run->store_path);
    if (!store) {
      error_ = store.error().message();
      return;
    }
    store_ = *store;
    EXPECT_TRUE(store_->verify().ok());
  }

  bool ok() const { return store_ != nullptr; }
  const std::string& error() const { return error_; }
  const std::vector<std::string>& notes() const { return notes_; }
  const StoreReader& store() const { return *store_; }
  std::shared_ptr<const StoreReader> shared_store() const { return store_; }

  // All values of a column (integers, bits of doubles, string ids, kNull), over all ranks.
  std::vector<int64_t> column(std::string_view table, std::string_view name) const {
    const auto which = static_cast<Table>(find_table(table));
    const size_t column = find_column(table_spec(which), name);
    if (find_table(table) == kTableCount || column == table_spec(which).columns.size()) {
      ADD_FAILURE() << "no column " << table << "." << name;
      return {};
    }
    const TableReader reader(*store_, which);
    std::vector<int64_t> values;
    int64_t block[kBlockRows];
    for (const Morsel& morsel : reader.morsels()) {
      reader.read(morsel, column, block);
      values.insert(values.end(), block, block + morsel.rows);
    }
    return values;
  }
  std::vector<std::string> texts(std::string_view table, std::string_view name) const {
    std::vector<std::string> values;
    for (const int64_t id : column(table, name)) values.emplace_back(store_->string(id));
    return values;
  }
  // How often a quality condition was counted, over all ranks.
  int64_t quality(std::string_view code) const {
    const auto codes = texts("quality", "code");
    const auto counts = column("quality", "count");
    int64_t total = 0;
    for (size_t i = 0; i < codes.size(); ++i) total += codes[i] == code ? counts[i] : 0;
    return total;
  }

 private:
  TemporaryFolder folder_;
  std::shared_ptr<StoreReader> store_;
  std::string error_;
  std::vector<std::string> notes_;
};

}  // namespace stepscope::testing

#endif  // STEPSCOPE_TESTS_SUPPORT_IMPORTED_RUN_H_
