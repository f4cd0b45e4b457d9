#include "analyses/run_analyses.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

#include "analyses/steps/steps.h"
#include "base/parallel.h"

namespace stepscope {
namespace {

// A result that is computed when it is first needed.
template <class T>
class Once {
 public:
  template <class Compute>
  const T& get(Compute&& compute) {
    std::call_once(flag_, [&] { value_ = compute(); });
    return value_;
  }

 private:
  std::once_flag flag_;
  T value_;
};

// Steps of all ranks in one list, and where each rank's begin.
struct RunSteps {
  std::vector<StepRow> rows;
  std::vector<size_t> first;  // by position of the rank, and the end
};

// Rows of all ranks, each made on its own, in the order of the ranks.
template <class Row, class Compute>
std::vector<Row> rows_of_ranks(size_t ranks, unsigned threads, Compute&& compute) {
  std::vector<std::vector<Row>> parts(ranks);
  parallel_for(ranks, threads, [&](size_t rank) { parts[rank] = compute(rank); });
  std::vector<Row> rows;
  for (std::vector<Row>& part : parts)
    rows.insert(rows.end(), std::make_move_iterator(part.begin()),
                std::make_move_iterator(part.end()));
  return rows;
}

std::string of_rank(const RankId& rank, std::string_view why) {
  return "rank " + std::to_string(rank.rank) +
         (rank.window == 0 ? "" : " window " + std::to_string(rank.window)) + ": " +
         std::string(why);
}

constexpr std::string_view kNoWork =
    "there are no operators and no device work: record with activities that include the CPU or the "
    "device";

using MakeTable = ResultTable (*)(RunAnalyses&);
struct NamedTable {
  std::string_view name;
  MakeTable make;
};

constexpr NamedTable kTables[] = {
    {"critical_path",
     [](RunAnalyses& run) {
       return make_table("critical_path", "What the length of a step consists of.",
                         run.critical_path(), kCriticalPathFields);
     }},
    {"critical_path_segments",
     [](RunAnalyses& run) {
       return make_table("critical_path_segments", "The critical path of a step, piece by piece.",
                         run.critical_path_segments(), kPathSegmentFields);
     }},
    {"device_time",
     [](RunAnalyses& run) {
       return make_table("device_time", "Where the time of each device went.", run.device_time(),
                         kDeviceTimeFields);
     }},
    {"idle",
     [](RunAnalyses& run) {
       return make_table("idle", "Why devices and streams are idle.", run.idle(), kIdleFields);
     }},
    {"overlap",
     [](RunAnalyses& run) {
       return make_table("overlap", "What overlaps on each device, as totals of merged intervals.",
                         run.overlap(), kOverlapFields);
     }},
    {"step_budget",
     [](RunAnalyses& run) {
       return make_table("step_budget", "Each step by the most important event at every moment.",
                         run.step_budget(), kStepBudgetFields);
     }},
    {"step_reduces",
     [](RunAnalyses& run) {
       return make_table("step_reduces", "Collectives of each step, by stream.", run.step_reduces(),
                         kStepReduceFields);
     }},
    {"step_times",
     [](RunAnalyses& run) {
       return make_table("step_times", "Where the time of each step went on each device.",
                         run.step_times(), kStepTimeFields);
     }},
    {"step_trace",
     [](RunAnalyses& run) {
       return make_table("step_trace",
                         "Each step as step interval, forward and backward, and tail; and their "
                         "average.",
                         run.step_trace(), kStepTraceFields);
     }},
    {"steps",
     [](RunAnalyses& run) {
       return make_table("steps", "Training steps, marked or inferred.", run.steps(), kStepFields);
     }},
};

}  // namespace

struct RunAnalyses::Results {
  Once<std::vector<std::vector<DeviceIntervals>>> device_intervals;
  Once<std::vector<DeviceTimeRow>> device_time;
  Once<CriticalPaths> critical_paths;
  Once<RunSteps> steps;
  Once<std::vector<StepTimeRow>> step_times;
  Once<RankStepTrace> step_trace;
  Once<std::vector<StepBudgetRow>> step_budget;
  Once<std::vector<std::vector<OverlapLanes>>> overlap_lanes;
  Once<std::vector<OverlapRow>> overlap;
  Once<std::vector<IdleRow>> idle;

  std::mutex reasons_mutex;
  std::vector<Reason> reasons;

  void add_reason(std::string_view table, std::string why) {
    const std::scoped_lock lock(reasons_mutex);
    reasons.push_back({std::string(table), std::move(why)});
  }
};

RunAnalyses::RunAnalyses(std::shared_ptr<const StoreReader> store, AnalysisOptions options)
    : store_(std::move(store)),
      options_(std::move(options)),
      ranks_(rank_ids(*store_)),
      results_(std::make_unique<Results>()) {
  if (options_.threads == 0) options_.threads = available_cpus();
}

RunAnalyses::~RunAnalyses() = default;

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
    steps();
    return rows_of_ranks<StepBudgetRow>(ranks_.size(), options_.threads, [&](size_t rank) {
      auto rows = stepscope::step_budget(*store_, ranks_[rank], steps(rank));
      if (rows.empty()) results_->add_reason("step_budget", of_rank(ranks_[rank], kNoWork));
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

const RunAnalyses::CriticalPaths& RunAnalyses::critical_paths() {
  return results_->critical_paths.get([&] {
    steps();
    std::vector<CriticalPaths> ranks(ranks_.size());
    parallel_for(ranks_.size(), options_.threads, [&](size_t rank) {
      const StepRow* step = middle_step(steps(rank));
      if (step == nullptr) {
        results_->add_reason("critical_path",
                             of_rank(ranks_[rank], "no steps are known; see steps"));
        return;
      }
      const CriticalPath path(*store_, ranks_[rank], *step);
      ranks[rank].rows.push_back(path.summary());
      ranks[rank].segments = path.segments();
    });
    CriticalPaths all;
    for (const CriticalPaths& rank : ranks) {
      all.rows.insert(all.rows.end(), rank.rows.begin(), rank.rows.end());
      all.segments.insert(all.segments.end(), rank.segments.begin(), rank.segments.end());
    }
    return all;
  });
}

const std::vector<CriticalPathRow>& RunAnalyses::critical_path() { return critical_paths().rows; }

const std::vector<PathSegment>& RunAnalyses::critical_path_segments() {
  return critical_paths().segments;
}

std::span<const std::string_view> RunAnalyses::table_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const NamedTable& table : kTables) all.push_back(table.name);
    return all;
  }();
  return names;
}

Result<ResultTable> RunAnalyses::table(std::string_view name) {
  for (const NamedTable& table : kTables) {
    if (table.name == name) return table.make(*this);
  }
  std::string known;
  for (const NamedTable& table : kTables)
    known += (known.empty() ? "" : ", ") + std::string(table.name);
  return Error{ErrorCode::kNotFound, "no analysis named \"" + std::string(name) + "\"", "", "",
               "there are: " + known};
}

std::vector<Reason> RunAnalyses::reasons(std::string_view table) {
  const std::scoped_lock lock(results_->reasons_mutex);
  std::vector<Reason> found;
  for (const Reason& reason : results_->reasons) {
    if (reason.table == table) found.push_back(reason);
  }
  return found;
}

}  // namespace stepscope
