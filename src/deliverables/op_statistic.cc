// op_statistic.csv.
#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/operators/op_tree.h"
#include "deliverables/profiler_output.h"

namespace stepscope {
namespace {

const std::vector<std::string> kOpStatisticHeader = {
    "Device_id",    "OP Type",      "Core Type",    "Count",   "Total Time(us)",
    "Min Time(us)", "Avg Time(us)", "Max Time(us)", "Ratio(%)"};

double percent(int64_t part, int64_t whole) {
  return whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

struct HostSum {
  std::string_view type;
  int64_t count = 0;
  int64_t self_ns = 0;
  int64_t min_ns = std::numeric_limits<int64_t>::max();
  int64_t max_ns = 0;
};

std::vector<HostSum> sums_of_run(OutputContext& context) {
  std::vector<HostSum> sums;
  for (const OperatorTypeRow& row : context.run.operators().types) {
    if (row.rank == context.rank.rank && row.window == context.rank.window)
      sums.push_back({row.type, row.count, row.self_ns, row.min_ns, row.max_ns});
  }
  return sums;
}

// Operators that began in the chosen steps.
std::vector<HostSum> sums_of_steps(OutputContext& context) {
  const StoreReader& store = context.store();
  const OpTree tree = build_op_tree(store, context.rank.position);
  std::map<std::string_view, HostSum> by_type;
  const auto sum_of = [&](size_t op) -> HostSum& {
    const auto& key = tree.kinds.key(tree.kind[op]);
    return by_type[store.string(key[key[OpTree::kType] == kNull ? OpTree::kName : OpTree::kType])];
  };
  std::vector<bool> chosen;
  for_each_row<2>(store, Table::kOps, context.rank.position, {"dur", "step"}, [&](const auto& row) {
    const size_t at = chosen.size();
    const auto [dur_ns, step] = row;
    chosen.push_back(tree.kind[at] != kNoGroup && context.chosen_step(step));
    if (!chosen[at]) return;
    HostSum& sum = sum_of(at);
    ++sum.count;
    sum.self_ns += dur_ns;
    sum.min_ns = std::min(sum.min_ns, dur_ns);
    sum.max_ns = std::max(sum.max_ns, dur_ns);
    const uint32_t caller = tree.caller[at];  // comes before
    if (caller != kNoOp && chosen[caller]) sum_of(caller).self_ns -= dur_ns;
  });
  std::vector<HostSum> sums;
  for (auto& [type, sum] : by_type) {
    sum.type = type;
    if (sum.count > 0) sums.push_back(sum);
  }
  return sums;
}

// A run without a device: its operators on the host, by the time that is their own.
Result<bool> write_host_op_statistic(OutputContext& context, const Sink& sink) {
  std::vector<HostSum> sums =
      context.options.steps.empty() ? sums_of_run(context) : sums_of_steps(context);
  std::ranges::stable_sort(sums, std::ranges::greater(), &HostSum::self_ns);
  int64_t all_ns = 0;
  for (const HostSum& sum : sums) all_ns += sum.self_ns;
  CsvWriter csv(sink, kOpStatisticHeader);
  for (const HostSum& sum : sums) {
    csv.text("host").known(sum.type).text("HOST_CPU").integer(sum.count);
    csv.us(sum.self_ns).us(sum.min_ns);
    csv.rounded(static_cast<double>(sum.self_ns) / 1e3 / static_cast<double>(sum.count), 3);
    csv.us(sum.max_ns);
    csv.rounded(percent(sum.self_ns, all_ns), 3);
    if (auto status = csv.end_row(); !status) return std::move(status.error());
  }
  return csv.finish();
}

}  // namespace

Result<bool> write_op_statistic(OutputContext& context, const Sink& sink) {
  const StoreReader& store = context.store();
  struct Sum {
    int64_t count = 0;
    int64_t total_ns = 0;
    int64_t min_ns = std::numeric_limits<int64_t>::max();
    int64_t max_ns = 0;
    void add(int64_t dur_ns) {
      ++count;
      total_ns += dur_ns;
      min_ns = std::min(min_ns, dur_ns);
      max_ns = std::max(max_ns, dur_ns);
    }
  };
  std::map<std::tuple<int64_t, int64_t, int64_t>, Sum> sums;  // device, operator type, core
  int64_t all_ns = 0;
  std::unordered_map<int64_t, bool> computes;
  for_each_row<8>(store, Table::kKernels, context.rank.position,
                  {"dur", "class", "flags", "step", "device", "op_type", "type", "name"},
                  [&](const auto& row) {
                    const auto [dur_ns, work_class, flags, step, device, op_type, type, name] = row;
                    const auto [compute, added] = computes.try_emplace(work_class, false);
                    if (added) compute->second = store.string(work_class) == "compute";
                    if (!compute->second || dur_ns == kNull || dur_ns < 0) return;
                    if ((flags & kFlagImpossible) != 0 || !context.chosen_step(step)) return;
                    all_ns += dur_ns;
                    sums[{device, op_type == kNull ? name : op_type, type}].add(dur_ns);
                  });
  if (sums.empty()) return write_host_op_statistic(context, sink);
  std::vector<std::pair<std::tuple<int64_t, int64_t, int64_t>, Sum>> rows(sums.begin(), sums.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.second.total_ns > b.second.total_ns;
  });
  CsvWriter csv(sink, kOpStatisticHeader);
  for (const auto& [key, sum] : rows) {
    const auto& [device, op_type, core] = key;
    csv.integer(device).known(store.string(op_type)).known(store.string(core)).integer(sum.count);
    csv.us(sum.total_ns).us(sum.min_ns);
    csv.rounded(static_cast<double>(sum.total_ns) / 1e3 / static_cast<double>(sum.count), 3);
    csv.us(sum.max_ns);
    csv.rounded(percent(sum.total_ns, all_ns), 3);
    if (auto status = csv.end_row(); !status) return std::move(status.error());
  }
  return csv.finish();
}

}  // namespace stepscope
