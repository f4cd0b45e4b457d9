// Adds up the calls that were counted, whatever they were counted from, and makes the tables.
#ifndef STEPSCOPE_ANALYSES_FLOPS_FLOP_SUMS_H_
#define STEPSCOPE_ANALYSES_FLOPS_FLOP_SUMS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyses/flops/flop_formulas.h"
#include "analyses/flops/flop_scopes.h"
#include "analyses/flops/flops.h"
#include "analyses/steps/step_number.h"

namespace stepscope {

struct RankPeaks {
  std::optional<PeakRates> rates;  // of one device
  std::string device;
  std::string_view source = "unknown";
  int64_t devices = 1;
};
RankPeaks rank_peaks(const StoreReader& store, size_t rank, const std::optional<PeakRates>& given);

class FlopSums {
 public:
  FlopSums(const RankId& rank, std::span<const StepRow> steps, RankPeaks peaks)
      : rank_(rank), given_steps_(steps), step_number_(steps), peaks_(std::move(peaks)) {}

  // A row of the table of operators: its labels, and what one call counts.
  uint32_t add_kind(FlopRow labels, const FlopCount& count);
  const FlopCount& count_of(uint32_t kind) const { return counts_[kind]; }
  // `step` is the store's.
  void add_call(uint32_t kind, int64_t step, int64_t ts_ns, int64_t time_ns);
  // A call whose count is its own, from hardware counters.
  void add_call(uint32_t kind, int64_t step, int64_t ts_ns, int64_t time_ns, double flops);

  ScopeTree scopes;

  // `whole_ns`: computing time of the device, or of the operators on a CPU. `span_ns`: of the
  // recording, for runs without steps.
  FlopResults finish(std::string_view source, int64_t whole_ns, int64_t span_ns);

 private:
  struct Step {
    double flops = 0;
    double matrix_flops = 0;
    double ideal_ns = 0;
  };
  double peak_of(const FlopCount& count) const;
  void finish_row(FlopRow& row, const FlopCount& count) const;
  void finish_steps(FlopResults& results, FlopSummaryRow& summary, int64_t span_ns);

  const RankId rank_;
  const std::span<const StepRow> given_steps_;
  StepNumber step_number_;
  const RankPeaks peaks_;
  std::vector<FlopRow> rows_;
  std::vector<FlopCount> counts_;
  std::map<int64_t, Step> steps_;
  Step* last_ = nullptr;
  int64_t last_step_ = kNull;
};

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_FLOPS_FLOP_SUMS_H_
