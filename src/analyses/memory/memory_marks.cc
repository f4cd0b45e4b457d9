#include "analyses/memory/memory_marks.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "analyses/common/names.h"
#include "analyses/steps/step_number.h"

namespace stepscope {
namespace {

struct Passes {
  std::string_view fp_start;  // operators
  std::string_view bp_end;
  int64_t fp_start_ns = kNull;
  int64_t bp_end_ns = kNull;
};

bool same_pool(const PoolName& a, const PoolName& b) {
  return std::tie(a.rank, a.window, a.device_kind, a.device, a.component) ==
         std::tie(b.rank, b.window, b.device_kind, b.device, b.component);
}

std::map<int64_t, Passes> passes_of_steps(const StoreReader& store, const RankId& rank,
                                          std::span<const StepRow> steps,
                                          const std::vector<StepTraceRow>& trace) {
  std::map<int64_t, Passes> passes;
  for (const StepTraceRow& row : trace) {
    if (row.rank != rank.rank || row.window != rank.window || row.step == kNull) continue;
    passes[row.step] = {row.fp_start, row.bp_end};
  }
  if (passes.empty()) return passes;
  const std::vector<uint8_t> named = classify_strings(store, [&](std::string_view name) {
    return std::any_of(passes.begin(), passes.end(), [&](const auto& step) {
      return name == step.second.fp_start || name == step.second.bp_end;
    });
  });
  StepNumber numbers(steps);
  for_each_row<4>(
      store, Table::kOps, rank.position, {"name", "step", "ts", "dur"}, [&](const auto& row) {
        const auto [name, stored_step, ts_ns, dur_ns] = row;
        if (class_of(named, name) == 0 || dur_ns < 0) return;
        const auto found = passes.find(numbers.of(stored_step, ts_ns));
        if (found == passes.end()) return;
        Passes& pass = found->second;
        const std::string_view text = store.string(name);
        if (text == pass.fp_start)
          pass.fp_start_ns = pass.fp_start_ns == kNull ? ts_ns : std::min(pass.fp_start_ns, ts_ns);
        if (text == pass.bp_end) pass.bp_end_ns = std::max(pass.bp_end_ns, ts_ns + dur_ns);
      });
  return passes;
}

}  // namespace

void mark_passes(const StoreReader& store, const RankId& rank, std::span<const StepRow> steps,
                 const std::vector<StepTraceRow>& trace, const CurveRange& range,
                 std::vector<MemoryPoint>& points) {
  const auto passes = passes_of_steps(store, rank, steps, trace);
  for (auto first = points.begin(); first != points.end();) {
    const auto last = std::find_if(
        first, points.end(), [&](const MemoryPoint& point) { return !same_pool(*first, point); });
    // Points without a time are of a plan, which has marks of its own.
    if (first->rank == rank.rank && first->window == rank.window && first->ts != kNull) {
      const auto mark = [&](int64_t moment_ns, std::string_view word) {
        if (moment_ns == kNull || moment_ns < range.first_ns || moment_ns > range.last_ns) return;
        const auto at = std::partition_point(
            first, last, [&](const MemoryPoint& point) { return point.ts < moment_ns; });
        if (at != last) at->mark = word;
      };
      for (const auto& [step, pass] : passes) {
        mark(pass.bp_end_ns, "bp_end");
        mark(pass.fp_start_ns, "fp_start");
      }
    }
    first = last;
  }
}

}  // namespace stepscope
