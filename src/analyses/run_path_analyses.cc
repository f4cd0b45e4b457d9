// The part of RunAnalyses about critical paths: of the step of middle length, of others, and with
// changes.
#include <algorithm>
#include <utility>

#include "analyses/run_results.h"

namespace stepscope {

const RunAnalyses::CriticalPaths& RunAnalyses::critical_paths() {
  return results_->critical_paths.get([&] {
    steps();
    std::vector<CriticalPaths> ranks(ranks_.size());
    parallel_for(ranks_.size(), options_.threads, [&](size_t rank) {
      const StepRow* step = middle_step(steps(rank));
      if (step == nullptr) {
        for (const char* table : {"critical_path", "critical_path_segments"})
          results_->add_reason(table, of_rank(ranks_[rank], "no steps are known; see steps"));
        return;
      }
      const CriticalPath path(*store_, ranks_[rank], *step);
      ranks[rank].rows.push_back(path.summary());
      ranks[rank].segments = path.segments();
      if (ranks[rank].segments.empty())
        results_->add_reason("critical_path_segments",
                             of_rank(ranks_[rank], "its step of middle length takes no time"));
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

// A step that a user asks for.
struct RunAnalyses::ChosenStep {
  size_t rank = 0;  // position
  const StepRow* step = nullptr;
};

Result<std::vector<RunAnalyses::ChosenStep>> RunAnalyses::chosen_steps(const StepChoice& choice) {
  std::vector<ChosenStep> chosen;
  bool has_rank = false;
  for (const RankId& rank : ranks_) {
    if (choice.rank && rank.rank != *choice.rank) continue;
    has_rank = true;
    const std::span<const StepRow> all = steps(rank.position);
    const StepRow* step = nullptr;
    if (!choice.step) {
      step = middle_step(all);
    } else if (const auto at = std::ranges::find(all, *choice.step, &StepRow::step);
               at != all.end()) {
      step = &*at;
    }
    if (step != nullptr) chosen.push_back({rank.position, step});
  }
  if (!chosen.empty()) return chosen;
  if (!has_rank) {
    return Error{ErrorCode::kNotFound, "no such rank", std::to_string(choice.rank.value_or(0)), "",
                 "the table ranks has those of the run"};
  }
  if (!choice.step) {
    return Error{ErrorCode::kNotFound, "cannot find a critical path", "", "no steps are known",
                 "the table steps says why"};
  }
  return Error{ErrorCode::kNotFound, "no such step", std::to_string(*choice.step), "",
               "the table steps has those of the run"};
}

// Paths are large: each is let go when its rows are made.
template <class Row, class Make>
Result<std::vector<Row>> RunAnalyses::rows_of_paths(const StepChoice& choice, Make&& make) {
  const auto chosen = chosen_steps(choice);
  if (!chosen) return chosen.error();
  return rows_of_ranks<Row>(chosen->size(), options_.threads, [&](size_t at) {
    const ChosenStep& one = (*chosen)[at];
    return make(CriticalPath(*store_, ranks_[one.rank], *one.step));
  });
}

Result<std::vector<CriticalPathRow>> RunAnalyses::critical_path_of(const StepChoice& choice) {
  return rows_of_paths<CriticalPathRow>(
      choice, [](const CriticalPath& path) { return std::vector{path.summary()}; });
}

Result<std::vector<PathSegment>> RunAnalyses::critical_path_segments_of(const StepChoice& choice) {
  return rows_of_paths<PathSegment>(choice,
                                    [](const CriticalPath& path) { return path.segments(); });
}

Result<std::vector<WhatIfRow>> RunAnalyses::what_if(const WhatIf& change,
                                                    const StepChoice& choice) {
  auto rows = rows_of_paths<WhatIfRow>(
      choice, [&](const CriticalPath& path) { return std::vector{what_if_row(path, change)}; });
  const bool changes_nothing =
      rows && !change.kernel.empty() &&
      std::ranges::all_of(*rows, [](const WhatIfRow& row) { return row.events == 0; });
  if (changes_nothing) {
    return Error{ErrorCode::kNotFound, "cannot say what a changed step takes", change.kernel,
                 "no device work of the step has this in its name or is of this kind",
                 "the table kernels has both; work of the host is changed as a whole, by host"};
  }
  return rows;
}

}  // namespace stepscope
