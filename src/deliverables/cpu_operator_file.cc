// cpu_op_execute_timestamp_<rank>.txt: MindSpore's operators on the processor, in the text its own
// profiler leaves. Ours reads and removes those while it records, so it is written again here:
//
//   <operator>;HostCpuOps;<start, unix ns>,<length, ms>,<thread> <start>,<length>,<thread> ...
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "deliverables/profiler_output.h"

namespace stepscope {
namespace {

// Milliseconds with all six decimals that nanoseconds have.
void append_ms(std::string& out, int64_t ns) {
  append_integer(out, ns / 1'000'000);
  const std::string rest = std::to_string(1'000'000 + ns % 1'000'000);
  out.append(1, '.').append(rest, 1);
}

}  // namespace

Result<bool> write_cpu_operators(OutputContext& context, const Sink& sink) {
  const StoreReader& store = context.store();
  const size_t rank = context.rank.position;
  if (!context.form.is_mindspore ||
      text_at(store, Table::kRanks, "source_format", rank) != "native") {
    return false;  // the others' own file is in FRAMEWORK
  }
  struct Operator {
    int64_t name;
    std::vector<std::pair<int64_t, int64_t>> calls;  // start and length
  };
  std::vector<Operator> operators;  // as they first ran
  std::unordered_map<int64_t, size_t> position;
  for_each_row<4>(store, Table::kOps, rank, {"name", "ts", "dur", "step"}, [&](const auto& row) {
    const auto [name, ts_ns, dur_ns, step] = row;
    if (dur_ns == kNull || dur_ns < 0) return;
    if (step == kNull ? !context.chosen_moment(ts_ns) : !context.chosen_step(step)) return;
    const auto [found, added] = position.try_emplace(name, operators.size());
    if (added) operators.push_back({name, {}});
    operators[found->second].calls.emplace_back(ts_ns, dur_ns);
  });
  for (const Operator& one : operators) {
    std::string line(store.string(one.name));
    line += ";HostCpuOps;";
    for (const auto& [ts_ns, dur_ns] : one.calls) {
      if (line.back() != ';') line += ' ';
      append_integer(line, ts_ns);
      line += ',';
      append_ms(line, dur_ns);
      line += ",0";  // MindSpore's profiler does not know the thread
    }
    line += '\n';
    if (auto status = sink(line); !status) return std::move(status.error());
  }
  return !operators.empty();
}

}  // namespace stepscope
