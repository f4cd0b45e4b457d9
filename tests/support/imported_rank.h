// For tests of importers that find several ranks in a folder: a walk that asks one importer what it
// finds, and one of those ranks as it reads back from a store on disk.
#ifndef STEPSCOPE_TESTS_SUPPORT_IMPORTED_RANK_H_
#define STEPSCOPE_TESTS_SUPPORT_IMPORTED_RANK_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "importers/importer.h"
#include "store/store_reader.h"
#include "tests/support/imported_store.h"

namespace stepscope::testing {

inline constexpr const char* kNoSharedData =
    "needs the real traces: set STEPSCOPE_SHARED_DATA to their folder";

// Candidates of `importer` in `path` and below, the way discovery walks.
std::vector<Candidate> find_candidates(const Importer& importer, const std::string& path);

// One rank, imported, written and read back.
class ImportedRank {
 public:
  // Fails the test when the import or the store fails.
  ImportedRank(const Importer& importer, const Candidate& candidate);

  bool ok() const { return store_ != nullptr; }
  RankBuilder& builder() { return builder_; }
  const StoreReader& store() const { return *store_; }

  uint64_t rows(Table table) const { return store_->rows(table); }
  // All values of a column as users see them.
  std::vector<int64_t> integers(Table table, std::string_view column) const;
  std::vector<std::string> texts(Table table, std::string_view column) const;
  std::vector<double> reals(Table table, std::string_view column) const;
  int64_t quality(std::string_view code) const;

  // Tables kept from the input; empty when there is no such table or column.
  bool has_source_table(std::string_view table) const { return find(table) != nullptr; }
  std::vector<int64_t> source_integers(std::string_view table, std::string_view column) const;
  std::vector<std::string> source_texts(std::string_view table, std::string_view column) const;
  std::vector<double> source_reals(std::string_view table, std::string_view column) const;
  uint64_t source_rows(std::string_view table) const;
  // Rows read from the file of that role; -1 when there is none.
  int64_t rows_of_role(std::string_view role) const;

 private:
  const SourceTableView* find(std::string_view table) const;

  TemporaryFolder folder_;
  RankBuilder builder_;
  std::shared_ptr<StoreReader> store_;
};

}  // namespace stepscope::testing

#endif  // STEPSCOPE_TESTS_SUPPORT_IMPORTED_RANK_H_
