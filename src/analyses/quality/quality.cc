#include "analyses/quality/quality.h"

#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "analyses/advice/wording.h"
#include "analyses/steps/steps.h"

namespace stepscope {
namespace {

// Above this times of short operators are wrong by as much: the limit of the rule profiler_cost.
constexpr double kMuchOverhead = 0.1;
constexpr size_t kExamples = 3;

// Steps that their marks call complete and that are not, and inferred ones that differ from the
// others. Those that the input itself calls cut are the importer's window_cut.
QualityRow incomplete_steps(const StoreReader& store, const RankId& rank,
                            std::span<const StepRow> steps) {
  std::set<int64_t> cut;
  for_each_row<2>(store, Table::kSteps, rank.position, {"step", "complete"}, [&](const auto& row) {
    if (row[1] == 0) cut.insert(row[0]);
  });
  QualityRow found;
  found.code = kIncompleteSteps;
  found.severity = "note";
  found.meaning =
      !steps.empty() && steps.front().source == "inferred"
          ? "inferred steps that are unlike the others, or whose device work is not in the "
            "recording; means leave them out"
          : "steps at the end whose device work is not in the recording; means leave them out";
  size_t examples = 0;
  for (const StepRow& step : steps) {
    if (step.complete || cut.contains(step.step)) continue;
    ++found.count;
    if (examples++ < kExamples)
      found.example += (found.example.empty() ? "step " : ", step ") + std::to_string(step.step);
  }
  return found;
}

// Marks of the store that are no steps of their own.
QualityRow repeated_marks(const StoreReader& store, const RankId& rank,
                          std::span<const StepRow> steps) {
  QualityRow found;
  found.code = kRepeatedMarks;
  found.severity = "suspect";
  found.meaning = "marks over another mark of the same step; the step counts once";
  if (steps.empty() || steps.front().source == "inferred") return found;
  std::map<int64_t, int64_t> marks;  // by number of the step
  for_each_row<3>(store, Table::kSteps, rank.position, {"step", "ts", "dur"}, [&](const auto& row) {
    if (row[1] != kNull && row[2] >= 0) ++marks[row[0]];
  });
  for (const StepRow& step : steps) --marks[step.step];
  size_t examples = 0;
  for (const auto& [step, count] : marks) {
    if (count <= 0) continue;
    found.count += count;
    if (examples++ < kExamples)
      found.example += (found.example.empty() ? "step " : ", step ") + std::to_string(step);
  }
  return found;
}

QualityRow between_steps(std::span<const StepRow> steps) {
  const TimeBetweenSteps between = time_between_steps(steps);
  QualityRow found;
  found.code = kBetweenSteps;
  found.severity = "note";
  found.meaning =
      "time between steps that belongs to none of them: an iteration of the program is longer than "
      "its step";
  found.count = between.count;
  if (between.count > 0)
    found.example = words_for_time(std::llround(between.mean_ns())) +
                    " between two steps on average, " + words_for_share(between.share()) +
                    " of the time";
  return found;
}

}  // namespace

std::vector<QualityRow> quality_rows(const StoreReader& store, const RankId& rank,
                                     std::span<const StepRow> steps,
                                     std::optional<double> overhead) {
  std::vector<QualityRow> rows;
  const auto add = [&](QualityRow row) {
    row.rank = rank.rank;
    row.window = rank.window;
    rows.push_back(std::move(row));
  };
  for_each_row<6>(store, Table::kQuality, rank.position,
                  {"code", "severity", "count", "example", "meaning", "excluded"},
                  [&](const auto& row) {
                    QualityRow one;
                    one.code = store.string(row[0]);
                    one.severity = store.string(row[1]);
                    one.count = row[2] == kNull ? 0 : row[2];
                    one.example = store.string(row[3]);
                    one.meaning = store.string(row[4]);
                    one.excluded = row[5] == 1;
                    add(std::move(one));
                  });
  for (QualityRow& row : std::array{incomplete_steps(store, rank, steps),
                                    repeated_marks(store, rank, steps), between_steps(steps)}) {
    if (row.count > 0) add(std::move(row));
  }
  if (overhead) {
    QualityRow cost;
    cost.code = kProfilerOverhead;
    cost.severity = *overhead > kMuchOverhead ? "suspect" : "note";
    cost.count = 1;
    cost.example = "recorded steps take " + words_for_share(std::abs(*overhead)) +
                   (*overhead < 0 ? " less" : " more") + " time than those beside the recording";
    cost.meaning = "what recording cost, by the medians of steps with and without it";
    add(std::move(cost));
  }
  return rows;
}

}  // namespace stepscope
