#include "analyses/quality/quality.h"

#include <cmath>
#include <set>
#include <utility>

#include "analyses/advice/wording.h"

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
  if (QualityRow incomplete = incomplete_steps(store, rank, steps); incomplete.count > 0)
    add(std::move(incomplete));
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
