#include "analyses/operators/rank_operators.h"

#include <algorithm>
#include <utility>

#include "analyses/common/all_ranks.h"
#include "analyses/common/fuzzy_match.h"
#include "analyses/operators/operator_files.h"

namespace stepscope {
namespace {

void append_tables(OperatorResults& results, OperatorTables&& tables) {
  append_rows(results.operators, std::move(tables.operators));
  append_rows(results.types, std::move(tables.types));
  append_rows(results.shapes, std::move(tables.shapes));
}

// The largest of each category; rows of a category follow one another, the largest first.
std::vector<OperatorChoice> largest(const std::vector<OperatorRow>& operators) {
  std::vector<OperatorChoice> choices;
  size_t of_category = 0;
  for (size_t i = 0; i < operators.size(); ++i) {
    if (i == 0 || operators[i].category != operators[i - 1].category) of_category = 0;
    if (of_category++ < kHistoryOperators)
      choices.push_back({operators[i].category, operators[i].name});
  }
  return choices;
}

}  // namespace

void OperatorResults::append(OperatorResults&& other) {
  append_rows(operators, std::move(other.operators));
  append_rows(types, std::move(other.types));
  append_rows(shapes, std::move(other.shapes));
  append_rows(steps, std::move(other.steps));
}

void KernelResults::append(KernelResults&& other) {
  append_rows(kernels, std::move(other.kernels));
  append_rows(variants, std::move(other.variants));
  append_rows(devices, std::move(other.devices));
  append_rows(launches, std::move(other.launches));
  append_rows(copies, std::move(other.copies));
}

OperatorResults rank_operators(const StoreReader& store, const RankId& rank, const OpTree& tree,
                               std::span<const StepRow> steps) {
  OperatorResults results;
  append_tables(results, device_operators(store, rank));
  append_tables(results, host_operators(store, rank, tree));
  if (results.types.empty()) append_tables(results, operators_from_files(store, rank));
  results.steps = operator_history(store, rank, tree, steps, largest(results.operators));
  return results;
}

KernelResults rank_kernels(const StoreReader& store, const RankId& rank) {
  KernelResults results;
  KernelTables tables = kernel_tables(store, rank);
  results.kernels = std::move(tables.kernels);
  results.variants = std::move(tables.variants);
  results.devices = std::move(tables.devices);
  results.launches = launches(store, rank);
  results.copies = copies(store, rank);
  return results;
}

std::vector<Reason> operator_reasons(const OperatorResults& results) {
  std::vector<Reason> reasons;
  if (results.operators.empty()) {
    for (const char* table : {"operators", "operator_shapes", "operator_steps"})
      reasons.push_back({table,
                         "no operators: record the CPU too (torch: ProfilerActivity.CPU; "
                         "MindSpore: profiler_level Level1)"});
  } else if (std::none_of(
                 results.shapes.begin(), results.shapes.end(),
                 [](const OperatorShapeRow& row) { return row.input_shapes.has_value(); })) {
    reasons.push_back({"operator_shapes", "no shapes: record with record_shapes=True"});
  }
  if (results.types.empty())
    reasons.push_back({"operator_types", "neither operators nor device work were recorded"});
  return reasons;
}

std::vector<Reason> kernel_reasons(const KernelResults& results) {
  std::vector<Reason> reasons;
  if (results.kernels.empty()) {
    for (const char* table : {"kernels", "kernel_variants", "device_use", "launches", "copies"})
      reasons.push_back({table,
                         "no device work: a run on the CPU, or a recording without the device "
                         "(torch: ProfilerActivity.CUDA; MindSpore: ProfilerActivity.NPU)"});
    return reasons;
  }
  if (results.devices.empty())
    reasons.push_back({"device_use", "no computation on a device in this recording"});
  if (results.copies.empty())
    reasons.push_back({"copies", "no copies or sets on a device in this recording"});
  if (std::all_of(results.launches.begin(), results.launches.end(),
                  [](const LaunchRow& row) { return row.launched == 0; }))
    reasons.push_back({"launches",
                       "no launching call is known: record the runtime calls too (torch: "
                       "ProfilerActivity.CPU; Ascend: profiler_level Level1)"});
  return reasons;
}

std::vector<size_t> find_operators(const std::vector<OperatorRow>& operators,
                                   std::string_view query, size_t limit) {
  std::vector<std::string_view> names;
  names.reserve(operators.size());
  for (const OperatorRow& row : operators) names.push_back(row.name);
  return fuzzy_search(names, query, limit);
}

}  // namespace stepscope
