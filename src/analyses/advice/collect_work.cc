// What happens in the steps that means are made of, on the device and on the host. What a recording
// has before and between them is in the totals of other tables, and no part of a step.
#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "analyses/advice/averaged_steps.h"
#include "analyses/advice/collect_facts.h"
#include "analyses/common/key_index.h"
#include "analyses/common/saturated.h"
#include "analyses/operators/kernel_names.h"
#include "analyses/run_analyses.h"

namespace stepscope {
namespace {

bool is_softmax(std::string_view kind) {
  return kind == "softmax" || kind.starts_with("Softmax");  // also SoftmaxV2, SoftmaxGrad
}

// What a device event is, by its name, class and type: decided once for each of them.
struct Meaning {
  bool computes = false;
  bool on_ai_cpu = false;
  bool is_pageable_copy = false;
  bool is_softmax = false;  // of attention
  bool is_fused_attention = false;
};

Meaning meaning_of(std::string_view name, std::string_view work_class, std::string_view type,
                   std::string_view kind) {
  Meaning meaning;
  meaning.computes = work_class == "compute";
  meaning.on_ai_cpu = type == "AI_CPU";
  meaning.is_pageable_copy =
      work_class == "memory" && name.find("Pageable") != std::string_view::npos;
  meaning.is_fused_attention = kind.find("ttention") != std::string_view::npos;
  // A loss has a softmax too, of logarithms.
  meaning.is_softmax = is_softmax(kind) && name.find("LogSoft") == std::string_view::npos;
  return meaning;
}

}  // namespace

void collect_device_work(const StoreReader& store, const RankId& rank,
                         std::span<const StepRow> steps, RankFacts& facts) {
  AveragedSteps averaged(steps, AveragedSteps::By::kWork);
  if (averaged.count() == 0) return;
  KeyIndex<4> kinds;  // name, class, type, type of the operator
  std::vector<Meaning> meanings;
  int64_t kernels = 0;
  int64_t compute_ns = 0;
  int64_t ai_cpu_ns = 0;
  int64_t pageable_ns = 0;
  int64_t softmax_ns = 0;
  bool has_fused_attention = false;
  for_each_row<7>(store, Table::kKernels, rank.position,
                  {"ts", "dur", "flags", "name", "class", "type", "op_type"}, [&](const auto& row) {
                    const auto [ts_ns, dur_ns, flags, name, work_class, type, op_type] = row;
                    if (dur_ns < 0 || (flags & kFlagImpossible) != 0 || !averaged.hold(ts_ns))
                      return;
                    const uint32_t at = kinds.group({name, work_class, type, op_type});
                    if (at == meanings.size()) {
                      const std::string_view text = store.string(name);
                      meanings.push_back(
                          meaning_of(text, store.string(work_class), store.string(type),
                                     op_type == kNull ? kernel_kind(text) : store.string(op_type)));
                    }
                    const Meaning& meaning = meanings[at];
                    if (meaning.is_pageable_copy) add_saturated(pageable_ns, dur_ns);
                    if (!meaning.computes) return;
                    ++kernels;
                    add_saturated(compute_ns, dur_ns);
                    if (meaning.on_ai_cpu) add_saturated(ai_cpu_ns, dur_ns);
                    if (meaning.is_softmax) add_saturated(softmax_ns, dur_ns);
                    has_fused_attention |= meaning.is_fused_attention;
                  });
  facts.pageable_copy_ns = pageable_ns / averaged.count();
  if (kernels == 0) return;
  facts.kernels = static_cast<double>(kernels) / static_cast<double>(averaged.count());
  facts.mean_kernel_ns = compute_ns / kernels;
  facts.ai_cpu_ns = ai_cpu_ns / averaged.count();
  if (!has_fused_attention) facts.unfused_softmax_ns = softmax_ns / averaged.count();
}

void collect_host_calls(const StoreReader& store, const RankId& rank,
                        std::span<const StepRow> steps, RankFacts& facts) {
  struct Calls {
    int64_t count = 0;
    int64_t total_ns = 0;
  };
  std::map<int64_t, Calls> calls;  // of the names that rules look for; most runs have none
  for_each_row<2>(store, Table::kTotalsByName, rank.position, {"name", "count"},
                  [&](const auto& row) {
                    const std::string_view name = store.string(row[0]);
                    if (name.find("aclopCompileAndExecute") != std::string_view::npos)
                      facts.compiled_on_the_fly += row[1];  // of the whole run
                    if (name == "DataParallel.forward") facts.data_parallel_module = true;
                    if (name.starts_with("gloo:")) facts.uses_gloo = true;
                    if (name == "DataParallel.forward" || name.starts_with("gloo:") ||
                        name.find("SyncBatchNorm") != std::string_view::npos)
                      calls.try_emplace(row[0]);
                  });
  AveragedSteps averaged(steps, AveragedSteps::By::kMark);
  if (calls.empty() || averaged.count() == 0) return;
  for_each_row<3>(store, Table::kSlices, rank.position, {"name", "ts", "dur"},
                  [&](const auto& row) {
                    const auto [name, ts_ns, dur_ns] = row;
                    const auto found = calls.find(name);
                    if (found == calls.end() || !averaged.hold(ts_ns)) return;
                    ++found->second.count;
                    if (dur_ns != kNull && dur_ns > 0)
                      add_saturated(found->second.total_ns, dur_ns);
                  });
  const auto a_step = [&](int64_t count) {
    return static_cast<double>(count) / static_cast<double>(averaged.count());
  };
  for (const auto& [number, sum] : calls) {
    const std::string_view name = store.string(number);
    if (name == "DataParallel.forward") {
      facts.data_parallel_calls = a_step(sum.count);
      facts.data_parallel_ns = sum.total_ns / averaged.count();
    } else if (name.starts_with("gloo:")) {
      facts.gloo_calls += a_step(sum.count);
      add_saturated(facts.gloo_ns, sum.total_ns / averaged.count());
    } else {  // forward and backward are two names
      facts.sync_batch_norms = std::max(facts.sync_batch_norms, a_step(sum.count));
    }
  }
}

std::string host_code_in(const StoreReader& store, const RankId& rank, const Place& place) {
  std::vector<bool> host_track;
  for_each_row<1>(store, Table::kTracks, rank.position, {"kind"}, [&](const auto& row) {
    const std::string_view kind = store.string(row[0]);
    host_track.push_back(kind == "host" || kind == "python");
  });
  std::set<int64_t> step_marks;
  for_each_row<1>(store, Table::kSteps, rank.position, {"slice"},
                  [&](const auto& row) { step_marks.insert(row[0]); });
  const uint64_t first_track = store.row_base(Table::kTracks, rank.position);
  const int64_t most_ns = (place.end_ns - place.start_ns) / 2;
  int64_t shortest_ns = std::numeric_limits<int64_t>::max();
  int64_t innermost = kNull;
  for_each_row<5>(store, Table::kSlices, rank.position, {"track", "ts", "dur", "name", "id"},
                  [&](const auto& row) {
                    const auto [track, ts_ns, dur_ns, name, id] = row;
                    // Most slices are too short.
                    if (dur_ns == kNull || dur_ns <= most_ns || dur_ns >= shortest_ns) return;
                    const auto lane = static_cast<uint64_t>(track) - first_track;
                    if (lane >= host_track.size() || !host_track[lane] || step_marks.contains(id))
                      return;
                    const int64_t inside_ns =
                        std::min(ts_ns + dur_ns, place.end_ns) - std::max(ts_ns, place.start_ns);
                    if (inside_ns <= most_ns) return;
                    shortest_ns = dur_ns;
                    innermost = name;
                  });
  return innermost == kNull ? "" : std::string(store.string(innermost));
}

}  // namespace stepscope
