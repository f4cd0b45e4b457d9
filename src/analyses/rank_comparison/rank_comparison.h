// Ranks beside each other: who is slow, and by what.
#ifndef STEPSCOPE_ANALYSES_RANK_COMPARISON_RANK_COMPARISON_H_
#define STEPSCOPE_ANALYSES_RANK_COMPARISON_RANK_COMPARISON_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/common/result_table.h"
#include "analyses/communication/communication.h"
#include "analyses/device_time/device_intervals.h"
#include "analyses/step_budget/step_budget.h"
#include "analyses/steps/step_row.h"

namespace stepscope {

struct RankComparisonRow {
  int64_t rank = 0;
  int64_t window = 0;
  int64_t steps = 0;
  double step_ns = kNoNumber;
  double own_ns = kNoNumber;
  int64_t span_ns = 0;
  int64_t compute_ns = 0;
  int64_t communication_ns = 0;
  int64_t idle_ns = 0;
  int64_t communication_wait_ns = 0;
  int64_t caused_wait_ns = 0;
  int64_t collectives = 0;
  int64_t arrived_last = 0;
  double step_over_mean = kNoNumber;
  double compute_over_mean = kNoNumber;
  bool slow = false;
  std::string why;

  // For what is computed from these rows.
  int64_t averaged_steps = 0;
  double compute_per_step_ns = kNoNumber;  // of all devices
};

inline constexpr Field<RankComparisonRow> kRankComparisonFields[] = {
    field<&RankComparisonRow::rank>("rank", Unit::kNone, "rank"),
    field<&RankComparisonRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&RankComparisonRow::steps>("steps", Unit::kCount, "complete steps"),
    field<&RankComparisonRow::step_ns>(
        "step_ns", Unit::kNanoseconds,
        "mean length of a step over the steps of means, as in step_budget"),
    field<&RankComparisonRow::own_ns>(
        "own_ns", Unit::kNanoseconds,
        "of it without communication that nothing hides, on the device that computes most"),
    field<&RankComparisonRow::span_ns>("span_ns", Unit::kNanoseconds,
                                       "first to last work of its devices"),
    field<&RankComparisonRow::compute_ns>("compute_ns", Unit::kNanoseconds,
                                          "computation, summed over devices"),
    field<&RankComparisonRow::communication_ns>("communication_ns", Unit::kNanoseconds,
                                                "sum of the communication operators"),
    field<&RankComparisonRow::idle_ns>("idle_ns", Unit::kNanoseconds,
                                       "no work, summed over devices"),
    field<&RankComparisonRow::communication_wait_ns>(
        "communication_wait_ns", Unit::kNanoseconds,
        "of it longer than on the fastest rank of each operation"),
    field<&RankComparisonRow::caused_wait_ns>("caused_wait_ns", Unit::kNanoseconds,
                                              "other ranks' waiting for this one"),
    field<&RankComparisonRow::collectives>("collectives", Unit::kCount,
                                           "operations that other ranks recorded too"),
    field<&RankComparisonRow::arrived_last>("arrived_last", Unit::kCount,
                                            "of them those that this rank started last"),
    field<&RankComparisonRow::step_over_mean>("step_over_mean", Unit::kShare,
                                              "step / mean of all ranks - 1"),
    field<&RankComparisonRow::compute_over_mean>(
        "compute_over_mean", Unit::kShare,
        "computation in the steps of means / mean of all ranks - 1"),
    field<&RankComparisonRow::slow>("slow", Unit::kNone, "whether this rank holds up the others"),
    field<&RankComparisonRow::why>("why", Unit::kNone,
                                   "longer steps, longer without communication, more "
                                   "computation, late for communication"),
};

// A rank is slow when its steps or its computation are this much longer than the mean
// (MindInsight's bound for ranks of a cluster), when it is the slow_rank(), or when it is late for
// communication (`late_ranks`).
inline constexpr double kSlowRankShare = 0.2;

// The rank that needs most of a step by itself: communication is left out, in which the others wait
// for it. Nothing where that is no more than this part of the mean step above the median of the
// others. Windows of one rank are the same rank at different times: their mean counts.
inline constexpr double kSlowRankExcess = 0.05;
struct SlowRank {
  int64_t rank = 0;
  double own_ns = 0;
  double others_own_ns = 0;
};
std::optional<SlowRank> slow_rank(const std::vector<RankComparisonRow>& rows);

// `devices` and `steps` by position of the rank.
std::vector<RankComparisonRow> compare_ranks(
    const std::vector<RankId>& ranks, const std::vector<std::vector<DeviceIntervals>>& devices,
    const std::vector<std::span<const StepRow>>& steps, const std::vector<StepBudgetRow>& budget,
    const Communication& communication);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_RANK_COMPARISON_RANK_COMPARISON_H_
