// The part of RunAnalyses about steps and what devices do in them.
#include <map>
#include <utility>

#include "analyses/run_results.h"
#include "analyses/steps/steps.h"

namespace stepscope {
namespace {

constexpr std::string_view kNoWork =
    "there are no operators and no device work: record with activities that include the CPU or the "
    "device";
constexpr std::string_view kNoSteps = "the recording has no complete step: record more of them";

// Where the device itself recorded when a step begins to compute, what comes before is its waiting
// for the next batch. By rank and window.
using RecordedWaits = std::map<std::pair<int64_t, int64_t>, std::vector<Interval>>;
RecordedWaits recorded_waits(const std::vector<StepTraceRow>& trace) {
  RecordedWaits waits;
  for (const StepTraceRow& row : trace) {
    if (row.step != kNull && row.points == "file" && row.iteration_interval_ns > 0)
      waits[{row.rank, row.window}].push_back(
          {row.start_ns, row.start_ns + row.iteration_interval_ns});
  }
  for (auto& [rank, intervals] : waits) intervals = merge_intervals(std::move(intervals));
  return waits;
}

}  // namespace

const std::vector<std::vector<DeviceIntervals>>& RunAnalyses::device_intervals() {
  return results_->device_intervals.get([&] {
    std::vector<std::vector<DeviceIntervals>> all(ranks_.size());
    parallel_for(ranks_.size(), options_.threads,
                 [&](size_t rank) { all[rank] = stepscope::device_intervals(*store_, rank); });
    return all;
  });
}

const std::vector<DeviceTimeRow>& RunAnalyses::device_time() {
  return results_->device_time.get([&] {
    std::vector<DeviceTimeRow> rows;
    const auto& intervals = device_intervals();
    for (const RankId& rank : ranks_) {
      for (const DeviceIntervals& device : intervals[rank.position])
        rows.push_back(stepscope::device_time(rank, device));
      if (intervals[rank.position].empty())
        results_->add_reason("device_time", of_rank(rank, kNoWork));
    }
    return rows;
  });
}

const std::vector<StepRow>& RunAnalyses::steps() {
  return results_->steps
      .get([&] {
        std::vector<RankSteps> ranks(ranks_.size());
        parallel_for(ranks_.size(), options_.threads,
                     [&](size_t rank) { ranks[rank] = rank_steps(*store_, ranks_[rank]); });
        RunSteps all;
        for (const RankId& rank : ranks_) {
          const RankSteps& steps = ranks[rank.position];
          all.first.push_back(all.rows.size());
          all.rows.insert(all.rows.end(), steps.rows.begin(), steps.rows.end());
          if (!steps.why.empty()) results_->add_reason("steps", of_rank(rank, steps.why));
        }
        all.first.push_back(all.rows.size());
        return all;
      })
      .rows;
}

std::span<const StepRow> RunAnalyses::steps(size_t rank_position) {
  const std::span<const StepRow> all = steps();
  const RunSteps& steps = results_->steps.get([] { return RunSteps(); });
  const size_t first = steps.first[rank_position];
  return all.subspan(first, steps.first[rank_position + 1] - first);
}

std::vector<std::span<const StepRow>> RunAnalyses::steps_by_rank() {
  std::vector<std::span<const StepRow>> by_rank;
  for (size_t rank = 0; rank < ranks_.size(); ++rank) by_rank.push_back(steps(rank));
  return by_rank;
}

const std::vector<std::vector<OverlapLanes>>& RunAnalyses::overlap_lanes() {
  return results_->overlap_lanes.get([&] {
    const auto& intervals = device_intervals();
    std::vector<std::vector<OverlapLanes>> all(ranks_.size());
    parallel_for(ranks_.size(), options_.threads, [&](size_t rank) {
      for (const DeviceIntervals& device : intervals[rank])
        all[rank].push_back(stepscope::overlap_lanes(device));
    });
    return all;
  });
}

const std::vector<OverlapRow>& RunAnalyses::overlap() {
  return results_->overlap.get([&] {
    std::vector<OverlapRow> rows;
    const auto& lanes = overlap_lanes();
    for (const RankId& rank : ranks_) {
      for (const OverlapLanes& device : lanes[rank.position]) add_overlap_rows(rank, device, rows);
      if (lanes[rank.position].empty()) results_->add_reason("overlap", of_rank(rank, kNoWork));
    }
    return rows;
  });
}

const std::vector<IdleRow>& RunAnalyses::idle() {
  return results_->idle.get([&] {
    const auto& lanes = overlap_lanes();
    return rows_of_ranks<IdleRow>(ranks_.size(), options_.threads, [&](size_t rank) {
      if (store_->rows(Table::kKernels, rank) == 0) {
        results_->add_reason("idle", of_rank(ranks_[rank],
                                             "no device work: record with activities that include "
                                             "the device"));
        return std::vector<IdleRow>();
      }
      return idle_rows(*store_, ranks_[rank], lanes[rank]);
    });
  });
}

const std::vector<StepTimeRow>& RunAnalyses::step_times() {
  return results_->step_times.get([&] {
    const auto& lanes = overlap_lanes();
    steps();
    return rows_of_ranks<StepTimeRow>(ranks_.size(), options_.threads, [&](size_t rank) {
      if (lanes[rank].empty()) results_->add_reason("step_times", of_rank(ranks_[rank], kNoWork));
      return stepscope::step_times(*store_, ranks_[rank], lanes[rank], steps(rank));
    });
  });
}

const std::vector<StepBudgetRow>& RunAnalyses::step_budget() {
  return results_->step_budget.get([&] {
    const auto& intervals = device_intervals();
    const auto& lanes = overlap_lanes();
    const RecordedWaits waits = recorded_waits(step_trace());
    steps();
    return rows_of_ranks<StepBudgetRow>(ranks_.size(), options_.threads, [&](size_t rank) {
      std::vector<StepBudgetRow> rows;
      HostActivity host = host_activity(*store_, rank);
      if (const auto own = waits.find({ranks_[rank].rank, ranks_[rank].window}); own != waits.end())
        host.input = unite_intervals(host.input, own->second);
      const auto launched = launched_gaps(*store_, ranks_[rank], lanes[rank]);
      const auto add = [&](const DeviceIntervals& device, const std::vector<Interval>& gaps) {
        auto of_device = stepscope::step_budget(ranks_[rank], device, gaps, host, steps(rank));
        rows.insert(rows.end(), of_device.begin(), of_device.end());
      };
      for (size_t i = 0; i < intervals[rank].size(); ++i) add(intervals[rank][i], launched[i]);
      // How long marked steps take is known even where nothing in them was recorded.
      if (intervals[rank].empty()) add({}, {});
      if (rows.empty())
        results_->add_reason("step_budget",
                             of_rank(ranks_[rank], intervals[rank].empty() ? kNoWork : kNoSteps));
      return rows;
    });
  });
}

const std::vector<StepCategoryRow>& RunAnalyses::step_categories() {
  return results_->step_categories.get([&] {
    steps();
    return rows_of_ranks<StepCategoryRow>(ranks_.size(), options_.threads, [&](size_t rank) {
      auto rows = stepscope::step_categories(*store_, ranks_[rank], steps(rank));
      if (rows.empty()) results_->add_reason("step_categories", of_rank(ranks_[rank], kNoWork));
      return rows;
    });
  });
}

const RankStepTrace& RunAnalyses::step_trace_results() {
  return results_->step_trace.get([&] {
    steps();
    const StepTraceOptions options{options_.fp_start, options_.bp_end};
    std::vector<RankStepTrace> ranks(ranks_.size());
    parallel_for(ranks_.size(), options_.threads, [&](size_t rank) {
      ranks[rank] = rank_step_trace(*store_, ranks_[rank], steps(rank), options);
    });
    RankStepTrace all;
    for (const RankId& rank : ranks_) {
      const RankStepTrace& trace = ranks[rank.position];
      all.rows.insert(all.rows.end(), trace.rows.begin(), trace.rows.end());
      all.reduces.insert(all.reduces.end(), trace.reduces.begin(), trace.reduces.end());
      if (!trace.why.empty()) results_->add_reason("step_trace", of_rank(rank, trace.why));
      if (trace.reduces.empty()) {
        results_->add_reason("step_reduces",
                             of_rank(rank,
                                     "no collectives in the steps: one rank alone, or "
                                     "record with communication"));
      }
    }
    return all;
  });
}

const std::vector<StepTraceRow>& RunAnalyses::step_trace() { return step_trace_results().rows; }

const std::vector<StepReduceRow>& RunAnalyses::step_reduces() {
  return step_trace_results().reduces;
}

}  // namespace stepscope
