#include "analyses/run_analyses.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "analyses/advice/collect_facts.h"
#include "analyses/advice/rules.h"
#include "analyses/run_results.h"

namespace stepscope {

RunAnalyses::RunAnalyses(std::shared_ptr<const StoreReader> store, AnalysisOptions options)
    : store_(std::move(store)),
      options_(std::move(options)),
      ranks_(rank_ids(*store_)),
      results_(std::make_unique<Results>()) {
  if (options_.threads == 0) options_.threads = available_cpus();
}

RunAnalyses::~RunAnalyses() = default;

const Communication& RunAnalyses::communication() {
  return results_->communication.get([&] {
    Communication result = stepscope::communication(*store_, ranks_, options_.threads);
    results_->add_reasons(result.reasons);
    return result;
  });
}

const std::vector<RankComparisonRow>& RunAnalyses::rank_comparison() {
  return results_->rank_comparison.get([&] {
    return compare_ranks(ranks_, device_intervals(), steps_by_rank(), step_budget(),
                         communication());
  });
}

const std::vector<ModuleRow>& RunAnalyses::modules() {
  return results_->modules.get([&] {
    return rows_of_ranks<ModuleRow>(ranks_.size(), options_.threads, [&](size_t rank) {
      auto rows = module_rows(*store_, ranks_[rank]);
      if (rows.empty())
        results_->add_reason("modules",
                             of_rank(ranks_[rank],
                                     "the recording has no modules: record with with_stack=True, "
                                     "which names those of PyTorch and of MindSpore"));
      return rows;
    });
  });
}

const std::vector<TimelineLane>& RunAnalyses::timeline() {
  return results_->timeline.get([&] {
    const auto& intervals = device_intervals();
    steps();
    return rows_of_ranks<TimelineLane>(ranks_.size(), options_.threads, [&](size_t rank) {
      auto lanes = stepscope::timeline(*store_, ranks_[rank], intervals[rank], steps(rank));
      if (lanes.empty()) {
        results_->add_reason("timeline",
                             of_rank(ranks_[rank],
                                     "nothing in the input has a place in time: tables of "
                                     "totals only"));
      }
      return lanes;
    });
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

// Each analysis is parallel over ranks. A run with fewer ranks than processors has the large ones
// side by side instead; one that needs the result of another waits for it.
void RunAnalyses::compute_side_by_side() {
  if (ranks_.size() >= options_.threads) return;
  const std::function<void()> parts[] = {
      [&] { walk_operators(); },  [&] { step_budget(); }, [&] { kernels(); },
      [&] { rank_comparison(); }, [&] { memory(); },      [&] { pipeline(); },
  };
  parallel_for(std::size(parts), options_.threads, [&](size_t part) { parts[part](); });
}

const std::vector<QualityRow>& RunAnalyses::quality() {
  return results_->quality.get([&] {
    steps();
    auto rows = rows_of_ranks<QualityRow>(ranks_.size(), options_.threads, [&](size_t rank) {
      return quality_rows(*store_, ranks_[rank], steps(rank),
                          recording_cost(*store_, ranks_[rank]));
    });
    if (rows.empty()) results_->add_reason("quality", "nothing lost, nothing doubtful");
    return rows;
  });
}

const Facts& RunAnalyses::facts() {
  return results_->facts.get([&] {
    compute_side_by_side();
    return collect_facts(*this);
  });
}

const std::vector<FindingRow>& RunAnalyses::findings() {
  return results_->findings.get([&] {
    auto rows = finding_rows(find_causes(facts()));
    if (rows.empty()) {
      const auto& budget = step_budget();
      const bool no_work = std::all_of(budget.begin(), budget.end(), [](const StepBudgetRow& row) {
        return !row.averaged || row.idle_ns == row.step_ns;
      });
      results_->add_reason("findings",
                           facts().step_ns() == kNull ? "there are no complete steps to judge"
                           : no_work ? "the steps hold no operators and no device work to judge"
                                     : "no rule found anything worth changing");
    }
    return rows;
  });
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
