#include "analyses/operators/rank_operators.h"

#include <iterator>
#include <utility>

#include "analyses/common/fuzzy_match.h"
#include "analyses/operators/operator_files.h"

namespace stepscope {
namespace {

template <class T>
void append_rows(std::vector<T>& to, std::vector<T>&& from) {
  if (to.empty())
    to = std::move(from);
  else
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

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

OperatorResults rank_operators(const StoreReader& store, const RankId& rank, const OpTree& tree) {
  OperatorResults results;
  append_tables(results, device_operators(store, rank));
  append_tables(results, host_operators(store, rank, tree));
  if (results.types.empty()) append_tables(results, operators_from_files(store, rank));
  results.steps = operator_history(store, rank, tree, largest(results.operators));
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

std::vector<size_t> find_operators(const std::vector<OperatorRow>& operators,
                                   std::string_view query, size_t limit) {
  std::vector<std::string_view> names;
  names.reserve(operators.size());
  for (const OperatorRow& row : operators) names.push_back(row.name);
  return fuzzy_search(names, query, limit);
}

}  // namespace stepscope
