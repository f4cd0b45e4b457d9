// Expected numbers of the shared Ascend text data, from ascend/EXPECTED.md. Times in ns.
#ifndef STEPSCOPE_IMPORTERS_ASCEND_TEXT_EXPECTED_NUMBERS_TEST_H_
#define STEPSCOPE_IMPORTERS_ASCEND_TEXT_EXPECTED_NUMBERS_TEST_H_

#include <cstdint>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "importers/ascend_text/ascend_text_importer.h"
#include "tests/support/imported_store.h"

namespace stepscope::testing {

struct Totals {
  int64_t count = 0;
  int64_t ns = 0;
  bool operator==(const Totals&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Totals& totals) {
    return out << totals.count << " x " << totals.ns << " ns";
  }
};

struct Expected {
  const char* name = nullptr;
  const char* folder = nullptr;
  bool level1 = false;
  int64_t rank = 0;
  // kernels
  int64_t compute_ns = 0;  // exact, from the timeline
  int64_t communication_ns = 0;
  int64_t not_overlapped_ns = 0;
  std::map<std::string, Totals> by_core;  // lengths as in kernel_details: whole ns, cut
  std::pair<std::string, Totals> top_kernel;
  int64_t largest_wait_ns = 0;
  // the timeline
  std::map<std::string, int64_t> slices_by_process;
  std::map<std::string, int64_t> counters_by_process;
  int64_t first_ns = 0;  // 0: not given
  int64_t last_ns = 0;
  int64_t step_ts_ns = 0;
  int64_t step_dur_ns = 0;
  std::map<std::string, int64_t> flows;   // joined arrows
  std::map<std::string, int64_t> phases;  // events of the file
  // tables
  std::map<std::string, uint64_t> source_rows;
  std::map<std::string, double> step_trace;
  std::map<std::string, double> peak_reserved_mb;
  std::map<std::string, double> peak_allocated_mb;
  // level 1 only
  double op_statistic_us = 0;
  double api_statistic_us = 0;
  double device_self_us = 0;
  double host_self_us = 0;
  double mean_victim_rate = 0;
  std::vector<std::pair<std::string, Totals>> top_types;
  int64_t late_wait_first_ns = 0;  // for rank 5, in the first and last collective
  int64_t late_wait_last_ns = 0;
};

inline void PrintTo(const Expected& expected, std::ostream* out) { *out << expected.name; }

std::vector<Expected> expected_numbers();

// Imported once per process and folder; nullptr when the shared data is not on this machine.
inline const ImportedStore* store_of(const Expected& expected) {
  static std::map<std::string, std::unique_ptr<ImportedStore>> stores;
  const std::string path = shared_data_at(std::string("ascend/msinsight/text/") + expected.folder);
  if (path.empty()) return nullptr;
  auto& one = stores[path];
  if (!one) one = std::make_unique<ImportedStore>(AscendTextImporter(), path);
  return one.get();
}

}  // namespace stepscope::testing

#define STORE_OR_SKIP()                                                                    \
  const Expected& expected = GetParam();                                                   \
  const ImportedStore* imported = store_of(expected);                                      \
  if (imported == nullptr) GTEST_SKIP() << "needs the shared data: STEPSCOPE_SHARED_DATA"; \
  ASSERT_TRUE(imported->store) << imported->error;                                         \
  const ImportedStore& run = *imported

#endif  // STEPSCOPE_IMPORTERS_ASCEND_TEXT_EXPECTED_NUMBERS_TEST_H_
