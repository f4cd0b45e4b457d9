#include "analyses/run_analyses.h"

#include <algorithm>
#include <array>
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

// A result table; without a run its description alone.
struct NamedTable {
  std::string_view name;
  std::string_view doc;
  ResultTable (*make)(const NamedTable& self, RunAnalyses* run);
};

template <class Row, size_t N>
ResultTable with_rows(const NamedTable& self, const Field<Row> (&fields)[N],
                      const std::vector<Row>* rows) {
  static const std::vector<Row> kNone;
  return make_table(self.name, self.doc, rows == nullptr ? kNone : *rows, fields);
}

template <class Row, size_t N>
ResultTable with_rows(const NamedTable& self, const std::array<Field<Row>, N>& fields,
                      const std::vector<Row>* rows) {
  static const std::vector<Row> kNone;
  return make_table<Row>(self.name, self.doc, rows == nullptr ? kNone : *rows,
                         std::span<const Field<Row>>(fields));
}

constexpr NamedTable kTables[] = {
    {"communication_collectives", "Operations that several recorded ranks took part in.",
     [](const NamedTable& self, RunAnalyses* run) {
       return with_rows(self, kCollectiveFields, run ? &run->communication().collectives : nullptr);
     }},
    {"communication_groups", "Communication by process group and kind.",
     [](const NamedTable& self, RunAnalyses* run) {
       return with_rows(self, kCommunicationGroupFields,
                        run ? &run->communication().groups : nullptr);
     }},
    {"communication_links", "What went over each link, per rank and step.",
     [](const NamedTable& self, RunAnalyses* run) {
       return with_rows(self, kCommunicationLinkFields,
                        run ? &run->communication().links : nullptr);
     }},
    {"communication_matrix", "Links of the whole job beside each other.",
     [](const NamedTable& self, RunAnalyses* run) {
       return with_rows(self, kCommunicationMatrixFields,
                        run ? &run->communication().matrix : nullptr);
     }},
    {"communication_operators", "Every communication operator.",
     [](const NamedTable& self, RunAnalyses* run) {
       return with_rows(self, kCommunicationOperatorFields,
                        run ? &run->communication().operators : nullptr);
     }},
    {"communication_peer_waits", "How long each operator waited for each peer.",
     [](const NamedTable& self, RunAnalyses* run) {
       return with_rows(self, kPeerWaitFields, run ? &run->communication().peer_waits : nullptr);
     }},
    {"communication_steps", "Communication by step.",
     [](const NamedTable& self, RunAnalyses* run) {
       return with_rows(self, kCommunicationStepFields,
                        run ? &run->communication().steps : nullptr);
     }},
    {"device_time", "Where the time of each device went.",
     [](const NamedTable& self, RunAnalyses* run) {
       return with_rows(self, kDeviceTimeFields, run ? &run->device_time() : nullptr);
     }},
    {"overlap", "What overlaps on each device, as totals of merged intervals.",
     [](const NamedTable& self, RunAnalyses* run) {
       return with_rows(self, kOverlapFields, run ? &run->overlap() : nullptr);
     }},
    {"step_budget", "Each step by the most important event at every moment.",
     [](const NamedTable& self, RunAnalyses* run) {
       return with_rows(self, kStepBudgetFields, run ? &run->step_budget() : nullptr);
     }},
    {"step_reduces", "Collectives of each step, by stream.",
     [](const NamedTable& self, RunAnalyses* run) {
       return with_rows(self, kStepReduceFields, run ? &run->step_reduces() : nullptr);
     }},
    {"step_times", "Where the time of each step went on each device.",
     [](const NamedTable& self, RunAnalyses* run) {
       return with_rows(self, kStepTimeFields, run ? &run->step_times() : nullptr);
     }},
    {"step_trace",
     "Each step as step interval, forward and backward, and tail; and their "
     "average.",
     [](const NamedTable& self, RunAnalyses* run) {
       return with_rows(self, kStepTraceFields, run ? &run->step_trace() : nullptr);
     }},
    {"steps", "Training steps, marked or inferred.",
     [](const NamedTable& self, RunAnalyses* run) {
       return with_rows(self, kStepFields, run ? &run->steps() : nullptr);
     }},
    {"late_ranks", "Ranks that others wait for.",
     [](const NamedTable& self, RunAnalyses* run) {
       return with_rows(self, kLateRankFields, run ? &run->communication().late_ranks : nullptr);
     }},
    {"rank_comparison", "Ranks beside each other.",
     [](const NamedTable& self, RunAnalyses* run) {
       return with_rows(self, kRankComparisonFields, run ? &run->rank_comparison() : nullptr);
     }},
    {"timeline", "Lanes of the timeline.",
     [](const NamedTable& self, RunAnalyses* run) {
       return with_rows(self, kTimelineFields, run ? &run->timeline() : nullptr);
     }},
};

}  // namespace

struct RunAnalyses::Results {
  Once<std::vector<std::vector<DeviceIntervals>>> device_intervals;
  Once<std::vector<DeviceTimeRow>> device_time;
  Once<RunSteps> steps;
  Once<std::vector<StepTimeRow>> step_times;
  Once<RankStepTrace> step_trace;
  Once<std::vector<StepBudgetRow>> step_budget;
  Once<std::vector<std::vector<OverlapLanes>>> overlap_lanes;
  Once<std::vector<OverlapRow>> overlap;

  Once<Communication> communication;
  Once<std::vector<RankComparisonRow>> rank_comparison;
  Once<std::vector<TimelineLane>> timeline;

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
    }
    return rows;
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
      return stepscope::step_budget(*store_, ranks_[rank], steps(rank));
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
    }
    return all;
  });
}

const std::vector<StepTraceRow>& RunAnalyses::step_trace() { return step_trace_results().rows; }

const std::vector<StepReduceRow>& RunAnalyses::step_reduces() {
  return step_trace_results().reduces;
}

const Communication& RunAnalyses::communication() {
  return results_->communication.get([&] {
    Communication result = stepscope::communication(*store_, ranks_, options_.threads);
    const std::scoped_lock lock(results_->reasons_mutex);
    for (const NamedTable& one : kTables) {
      const std::string_view table = one.name;
      if (!table.starts_with("communication_") && table != "late_ranks") continue;
      for (const std::string& why : result.reasons)
        results_->reasons.push_back({std::string(table), why});
    }
    return result;
  });
}

const std::vector<RankComparisonRow>& RunAnalyses::rank_comparison() {
  return results_->rank_comparison.get(
      [&] { return compare_ranks(*store_, ranks_, device_intervals(), communication()); });
}

const std::vector<TimelineLane>& RunAnalyses::timeline() {
  return results_->timeline.get([&] {
    const auto& intervals = device_intervals();
    std::vector<std::vector<TimelineLane>> by_rank(ranks_.size());
    parallel_for(ranks_.size(), options_.threads, [&](size_t rank) {
      by_rank[rank] = stepscope::timeline(*store_, ranks_[rank], intervals[rank]);
    });
    std::vector<TimelineLane> all;
    for (auto& lanes : by_rank) {
      all.insert(all.end(), std::make_move_iterator(lanes.begin()),
                 std::make_move_iterator(lanes.end()));
    }
    return all;
  });
}

std::span<const TimelineLane> RunAnalyses::timeline(size_t rank_position) {
  const auto& lanes = timeline();
  const auto of_rank = [&](const TimelineLane& lane) {
    return lane.rank == ranks_[rank_position].rank && lane.window == ranks_[rank_position].window;
  };
  const auto first = std::find_if(lanes.begin(), lanes.end(), of_rank);
  const auto last = std::find_if_not(first, lanes.end(), of_rank);
  return {first, last};
}

std::vector<ResultTable> RunAnalyses::descriptions() {
  std::vector<ResultTable> tables;
  for (const NamedTable& table : kTables) tables.push_back(table.make(table, nullptr));
  return tables;
}

Result<ResultTable> RunAnalyses::table(std::string_view name) {
  for (const NamedTable& table : kTables) {
    if (table.name == name) return table.make(table, this);
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
