// Every analysis of a run, each computed once, when it is first asked for. The report, the server,
// Python and the deliverable files all read these results: a number is defined in one place.
//
// An analysis is a folder with pure functions from the store's tables to rows. Ranks are
// independent of each other (`map`); what compares ranks takes their rows (`reduce`). A result that
// cannot be computed is empty and says why in `reasons()`.
//
// Thread-safe. Results live as long as this object.
#ifndef STEPSCOPE_ANALYSES_RUN_ANALYSES_H_
#define STEPSCOPE_ANALYSES_RUN_ANALYSES_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/common/result_table.h"
#include "analyses/device_time/device_intervals.h"
#include "analyses/device_time/device_time.h"
#include "analyses/flops/flops.h"
#include "analyses/operators/rank_operators.h"
#include "base/result.h"
#include "store/store_reader.h"

namespace stepscope {

struct AnalysisOptions {
  unsigned threads = 0;  // 0 = all CPUs
  // Peak rates of the devices, instead of those known for their names.
  std::optional<PeakRates> peaks;
};

// Something that is missing, and why: "no memory events: record with profile_memory=True".
struct Reason {
  std::string table;
  std::string why;
};

class RunAnalyses {
 public:
  RunAnalyses(std::shared_ptr<const StoreReader> store, AnalysisOptions options);
  ~RunAnalyses();
  RunAnalyses(const RunAnalyses&) = delete;
  RunAnalyses& operator=(const RunAnalyses&) = delete;

  const StoreReader& store() const { return *store_; }
  const std::vector<RankId>& ranks() const { return ranks_; }

  // By position of the rank.
  const std::vector<std::vector<DeviceIntervals>>& device_intervals();
  const std::vector<DeviceTimeRow>& device_time();
  // Tables operators, operator_types, operator_shapes and operator_steps.
  const OperatorResults& operators();
  // Tables flops, flops_scopes, flops_steps and flops_summary.
  const FlopResults& flops();
  // Tables kernels, kernel_variants, device_use, launches and copies.
  const KernelResults& kernels();

  // Names of all result tables, and a table by name.
  static std::span<const std::string_view> table_names();
  Result<ResultTable> table(std::string_view name);
  // Why a table is empty or incomplete, as far as it was computed.
  std::vector<Reason> reasons(std::string_view table);

 private:
  struct Results;

  // Operators and FLOPs come from one walk over the operators.
  void walk_operators();

  std::shared_ptr<const StoreReader> store_;
  AnalysisOptions options_;
  std::vector<RankId> ranks_;
  std::unique_ptr<Results> results_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_RUN_ANALYSES_H_
