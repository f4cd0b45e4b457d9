#include "analyses/operators/operator_history.h"

#include <map>
#include <utility>

#include "analyses/common/saturated.h"
#include "analyses/operators/operators.h"
#include "analyses/steps/step_number.h"

namespace stepscope {
namespace {

struct Sums {
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t device_ns = 0;
};
using Series = std::map<std::pair<size_t, int64_t>, Sums>;  // by choice and step; no step first

constexpr size_t kNotChosen = static_cast<size_t>(-1);

size_t find_choice(const std::vector<OperatorChoice>& choices, std::string_view category,
                   std::string_view name) {
  for (size_t i = 0; i < choices.size(); ++i) {
    if (choices[i].category == category && choices[i].name == name) return i;
  }
  return kNotChosen;
}

}  // namespace

std::vector<OperatorStepRow> operator_history(const StoreReader& store, const RankId& rank,
                                              const OpTree& tree, std::span<const StepRow> steps,
                                              const std::vector<OperatorChoice>& choices) {
  Series series;
  if (choices.empty()) return {};
  StepNumber step_number(steps);
  // Rows of one choice and step follow one another often.
  std::pair<size_t, int64_t> last{kNotChosen, kNull};
  Sums* sums = nullptr;
  const auto sums_of = [&](size_t choice, int64_t step) -> Sums& {
    if (sums == nullptr || last != std::pair(choice, step)) {
      last = {choice, step};
      sums = &series[last];
    }
    return *sums;
  };

  std::vector<size_t> chosen(tree.kinds.size());
  for (uint32_t kind = 0; kind < chosen.size(); ++kind) {
    const auto& key = tree.kinds.key(kind);
    chosen[kind] =
        find_choice(choices, host_category(store, tree, kind), store.string(key[OpTree::kName]));
  }
  size_t op = 0;
  for_each_row<3>(store, Table::kOps, rank.position, {"step", "dur", "ts"}, [&](const auto& row) {
    const size_t at = op++;
    if (tree.kind[at] == kNoGroup || chosen[tree.kind[at]] == kNotChosen) return;
    Sums& add_to = sums_of(chosen[tree.kind[at]], step_number.of(row[0], row[2]));
    ++add_to.count;
    add_saturated(add_to.total_ns, row[1]);
    add_saturated(add_to.device_ns, tree.device_ns(at));
  });

  KeyIndex<2> tasks;
  std::vector<size_t> chosen_tasks;
  for_each_row<6>(
      store, Table::kKernels, rank.position, {"type", "name", "step", "ts", "dur", "flags"},
      [&](const auto& row) {
        const auto [type, name, step, ts, dur, flags] = row;
        if (dur < 0 || (flags & kFlagImpossible) != 0) return;
        const uint32_t task = tasks.group({type, name});
        if (task == chosen_tasks.size())
          chosen_tasks.push_back(find_choice(choices, store.string(type), store.string(name)));
        if (chosen_tasks[task] == kNotChosen) return;
        Sums& add_to = sums_of(chosen_tasks[task], step_number.of(step, ts));
        ++add_to.count;
        add_saturated(add_to.total_ns, dur);
        add_saturated(add_to.device_ns, dur);
      });

  std::vector<OperatorStepRow> rows;
  rows.reserve(series.size());
  for (const auto& [key, found] : series) {
    OperatorStepRow row;
    row.rank = rank.rank;
    row.window = rank.window;
    row.category = choices[key.first].category;
    row.name = choices[key.first].name;
    row.step = key.second;
    row.count = found.count;
    row.total_ns = found.total_ns;
    row.device_ns = found.device_ns;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace stepscope
