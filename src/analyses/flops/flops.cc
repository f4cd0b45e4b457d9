#include "analyses/flops/flops.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "analyses/common/saturated.h"
#include "analyses/flops/convolution_flops.h"
#include "analyses/flops/flop_files.h"
#include "analyses/flops/flop_formulas.h"
#include "analyses/flops/flop_kernels.h"
#include "analyses/flops/flop_scopes.h"
#include "analyses/flops/flop_sums.h"
#include "analyses/operators/operators.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

// The name that decides the formula: MindSpore's operators have their type beside a scoped name.
std::string_view formula_name(const StoreReader& store, const OpTree& tree, uint32_t kind) {
  const auto& key = tree.kinds.key(kind);
  return store.string(key[OpTree::kType] == kNull ? key[OpTree::kName] : key[OpTree::kType]);
}

std::string_view text_or_empty(const StoreReader& store, int64_t id) {
  return id == kNull ? std::string_view() : store.string(id);
}

ConcreteInputs concrete_inputs(const StoreReader& store, size_t rank, uint64_t slice,
                               ArgsCache& cache) {
  const auto args = store.args(rank, slice, &cache);
  if (!args.ok()) return {};  // the input may be gone: then this is not known
  const auto json = json_tree(*args);
  if (!json.is_object()) return {};
  const auto found = json.find("Concrete Inputs");
  if (found == json.end() || !found->is_array()) return {};
  ConcreteInputs inputs;
  for (const auto& value : *found)
    inputs.push_back(value.is_string() ? value.get<std::string>() : "");
  return inputs;
}

class HostFlops {
 public:
  HostFlops(const StoreReader& store, const RankId& rank, OpTree& tree, FlopSums& sums)
      : store_(store), rank_(rank), tree_(tree), sums_(sums) {}

  // Whether any kind of operator has matrix work that can be counted.
  bool estimate() {
    const size_t kinds = tree_.kinds.size();
    inputs_.resize(kinds);
    counts_.resize(kinds);
    for (uint32_t kind = 0; kind < kinds; ++kind) {
      const auto& key = tree_.kinds.key(kind);
      if (key[OpTree::kShapes] == kNull) continue;
      inputs_[kind] = parse_tensors(store_.string(key[OpTree::kShapes]),
                                    text_or_empty(store_, key[OpTree::kTypes]));
    }
    std::vector<int64_t> calls(kinds);
    for (const uint32_t kind : tree_.kind) {
      if (kind != kNoGroup) ++calls[kind];
    }
    for (uint32_t kind = 0; kind < kinds; ++kind)
      convolutions_.learn(formula_name(store_, tree_, kind), inputs_[kind], calls[kind]);
    const auto examples = examples_of_convolutions();
    ArgsCache args;
    bool any = false;
    for (uint32_t kind = 0; kind < kinds; ++kind) {
      OperatorCall call;
      call.name = formula_name(store_, tree_, kind);
      call.inputs = std::move(inputs_[kind]);
      if (examples[kind] != kNull)
        call.concrete =
            concrete_inputs(store_, rank_.position, static_cast<uint64_t>(examples[kind]), args);
      counts_[kind] = count_flops(call, convolutions_);
      any = any || (counts_[kind] && is_matrix_work(counts_[kind]->kind));
    }
    find_tensor_float32();
    return any;
  }

  void count() {
    make_kinds();
    choose();
    if (!tree_.has_device_work) {
      // Self times of all operators: their lengths without what is nested.
      for (const int64_t nested_ns : tree_.nested_ns) add_saturated(whole_ns_, -nested_ns);
    }
    take_out_counted_device_time();
    const std::vector<uint32_t> modules =
        module_scopes(store_, rank_.position, tree_, sums_.scopes);
    size_t at = 0;
    for_each_row<3>(store_, Table::kOps, rank_.position, {"step", "dur", "ts"},
                    [&](const auto& row) {
                      const size_t op = at++;
                      if (tree_.kind[op] == kNoGroup) return;
                      const uint32_t kind = tree_.kind[op];
                      if (!tree_.has_device_work) add_saturated(whole_ns_, row[1]);
                      if ((marks_[op] & kCounted) == 0) return;
                      int64_t time_ns = row[1];
                      if (tree_.has_device_work) {
                        time_ns = tree_.device_total_ns[op];
                        if (time_ns <= 0) return;  // it did its work on the host
                      }
                      sums_.add_call(rows_[kind], row[0], row[2], time_ns);
                      const uint32_t scope = modules.empty() ? kind_scopes_[kind] : modules[op];
                      sums_.scopes.add(scope, counts_[kind]->flops);
                    });
  }

  int64_t whole_ns() const { return whole_ns_; }

 private:
  enum Mark : uint8_t { kMatrixBelow = 1, kOtherBelow = 2, kUnderMatrix = 4, kCounted = 8 };

  // Takes the device time of operators with a count out of that of the ones around them, unless
  // these are matrix work, which keeps everything that is launched in it. Callers come before what
  // they call, so that a time is still whole when it is taken out.
  void take_out_counted_device_time() {
    if (!tree_.has_device_work) return;
    std::vector<uint32_t> around(tree_.caller.size(), kNoOp);  // the nearest with a count
    for (size_t op = 0; op < around.size(); ++op) {
      const uint32_t caller = tree_.caller[op];
      if (caller == kNoOp) continue;
      around[op] = has_count(caller) ? caller : around[caller];
      if (!has_count(op) || around[op] == kNoOp ||
          is_matrix_work(counts_[tree_.kind[around[op]]]->kind))
        continue;
      tree_.device_total_ns[around[op]] -= tree_.device_total_ns[op];
    }
  }
  bool has_count(size_t op) const {
    return tree_.kind[op] != kNoGroup && counts_[tree_.kind[op]].has_value();
  }

  // A slice for each kind of convolution, to read its arguments from; kNull for the others.
  std::vector<int64_t> examples_of_convolutions() const {
    std::vector<int64_t> examples(tree_.kinds.size(), kNull);
    std::vector<bool> wanted(tree_.kinds.size());
    bool any = false;
    for (uint32_t kind = 0; kind < wanted.size(); ++kind) {
      const std::string_view name = formula_name(store_, tree_, kind);
      wanted[kind] = !inputs_[kind].empty() && name.find("conv") != std::string_view::npos &&
                     name.starts_with("aten::");
      any = any || wanted[kind];
    }
    if (!any) return examples;
    const auto base = static_cast<int64_t>(store_.row_base(Table::kSlices, rank_.position));
    size_t op = 0;
    for_each_row<1>(store_, Table::kOps, rank_.position, {"id"}, [&](const auto& row) {
      const uint32_t kind = tree_.kind[op++];
      if (kind != kNoGroup && wanted[kind] && examples[kind] == kNull)
        examples[kind] = row[0] - base;
    });
    return examples;
  }

  // 32-bit matrices whose kernels use tensor cores are multiplied as TF32.
  void find_tensor_float32() {
    const auto is_float32 = [&](uint32_t kind) {
      return counts_[kind] && is_matrix_work(counts_[kind]->kind) &&
             counts_[kind]->type == DataType::kFloat32;
    };
    for (uint32_t kind = 0; kind < counts_.size(); ++kind) {
      if (is_float32(kind) && tree_.tensor_core_ns[kind] > tree_.device_self_ns[kind] / 2)
        counts_[kind]->type = DataType::kTensorFloat32;
    }
  }

  void make_kinds() {
    rows_.assign(counts_.size(), kNoGroup);
    kind_scopes_.assign(counts_.size(), ScopeTree::kTop);
    for (uint32_t kind = 0; kind < counts_.size(); ++kind) {
      if (!counts_[kind]) continue;
      const auto& key = tree_.kinds.key(kind);
      FlopRow row;
      row.category = host_category(store_, tree_, kind);
      row.name = store_.string(key[OpTree::kName]);
      row.source = kFromShapes;
      if (key[OpTree::kModule] != kNull) {
        row.module = store_.string(key[OpTree::kModule]);
        kind_scopes_[kind] = sums_.scopes.at_path(*row.module);
      }
      if (key[OpTree::kShapes] != kNull) row.input_shapes = store_.string(key[OpTree::kShapes]);
      if (key[OpTree::kTypes] != kNull) row.input_types = store_.string(key[OpTree::kTypes]);
      rows_[kind] = sums_.add_kind(row, *counts_[kind]);
    }
  }

  // Operators call one another (linear, addmm, mm): of nested matrix work the innermost counts. Of
  // the rest each counts for the device work that is launched in it and not in another that counts,
  // on a CPU the innermost; nothing inside counted matrix work does.
  void choose() {
    marks_.assign(tree_.kind.size(), 0);
    const auto count_of = [&](size_t op) -> const std::optional<FlopCount>& {
      static const std::optional<FlopCount> kNothing;
      return tree_.kind[op] == kNoGroup ? kNothing : counts_[tree_.kind[op]];
    };
    for (size_t op = marks_.size(); op-- > 0;) {
      const auto& count = count_of(op);
      const bool matrix = count && is_matrix_work(count->kind);
      if (matrix && (marks_[op] & kMatrixBelow) == 0) marks_[op] |= kCounted;
      if (tree_.caller[op] == kNoOp) continue;
      uint8_t& outer = marks_[tree_.caller[op]];
      if (matrix || (marks_[op] & kMatrixBelow) != 0) outer |= kMatrixBelow;
      if (count || (marks_[op] & kOtherBelow) != 0) outer |= kOtherBelow;
    }
    for (size_t op = 0; op < marks_.size(); ++op) {
      const uint32_t caller = tree_.caller[op];
      if (caller != kNoOp) {
        const auto& outer = count_of(caller);
        const bool counted_matrix =
            (marks_[caller] & kCounted) != 0 && outer && is_matrix_work(outer->kind);
        if (counted_matrix || (marks_[caller] & kUnderMatrix) != 0) marks_[op] |= kUnderMatrix;
      }
      const auto& count = count_of(op);
      if (!count || is_matrix_work(count->kind) || (marks_[op] & kUnderMatrix) != 0) continue;
      if (tree_.has_device_work || (marks_[op] & (kMatrixBelow | kOtherBelow)) == 0)
        marks_[op] |= kCounted;
    }
  }

  const StoreReader& store_;
  const RankId rank_;
  OpTree& tree_;
  FlopSums& sums_;
  ConvolutionShapes convolutions_;
  std::vector<std::vector<Tensor>> inputs_;       // by kind
  std::vector<std::optional<FlopCount>> counts_;  // by kind
  std::vector<uint32_t> rows_;                    // by kind: in sums_
  std::vector<uint32_t> kind_scopes_;
  std::vector<uint8_t> marks_;  // by operator
  int64_t whole_ns_ = 0;
};

// Device time of operators that can be matrix work, whether their shapes are known or not.
int64_t matrix_operator_ns(const StoreReader& store, const OpTree& tree) {
  std::vector<bool> matrix(tree.kinds.size());
  for (uint32_t kind = 0; kind < matrix.size(); ++kind)
    matrix[kind] = may_be_matrix_work(formula_name(store, tree, kind));
  std::vector<bool> inside(tree.kind.size());  // one of them, or called by one
  int64_t sum_ns = 0;
  for (size_t op = 0; op < tree.kind.size(); ++op) {
    const bool called = tree.caller[op] != kNoOp && inside[tree.caller[op]];
    const bool own = tree.kind[op] != kNoGroup && matrix[tree.kind[op]];
    inside[op] = called || own;
    if (own && !called) add_saturated(sum_ns, tree.device_ns(op));
  }
  return sum_ns;
}

// Computing and copying on the device, and its first start to last end.
std::pair<int64_t, int64_t> device_work_and_span(const StoreReader& store, size_t rank) {
  int64_t work_ns = 0;
  int64_t first = kNull;
  int64_t last = kNull;
  for_each_row<4>(
      store, Table::kKernels, rank, {"ts", "dur", "flags", "class"},
      [&, communication = int64_t{kNull}, other = int64_t{kNull}](const auto& row) mutable {
        const auto [ts, dur, flags, work_class] = row;
        if (dur < 0 || (flags & kFlagImpossible) != 0) return;
        first = first == kNull ? ts : std::min(first, ts);
        last = last == kNull ? ts + dur : std::max(last, ts + dur);
        if (work_class != communication && work_class != other) {
          if (store.string(work_class) == "communication")
            communication = work_class;
          else
            other = work_class;
        }
        if (work_class != communication) add_saturated(work_ns, dur);
      });
  return {work_ns, first == kNull ? 0 : last - first};
}

int64_t host_span(const StoreReader& store, size_t rank) {
  int64_t first = kNull;
  int64_t last = kNull;
  for_each_row<2>(store, Table::kOps, rank, {"ts", "dur"}, [&](const auto& row) {
    if (row[1] < 0) return;
    first = first == kNull ? row[0] : std::min(first, row[0]);
    last = last == kNull ? row[0] + row[1] : std::max(last, row[0] + row[1]);
  });
  return first == kNull ? 0 : last - first;
}

}  // namespace

FlopResults rank_flops(const StoreReader& store, const RankId& rank, OpTree&& tree,
                       std::span<const StepRow> steps, const std::optional<PeakRates>& peaks) {
  const int64_t matrix_ns = matrix_operator_ns(store, tree);
  const RankPeaks rates = rank_peaks(store, rank.position, peaks);
  const auto [device_ns, device_span_ns] = device_work_and_span(store, rank.position);
  FlopResults results = [&, device_ns = device_ns, device_span_ns = device_span_ns] {
    FlopSums counters(rank, steps, rates);
    if (count_kernel_counters(store, rank, counters))
      return counters.finish(kFromCounters, device_ns, device_span_ns);
    FlopResults from_files = flops_from_files(store, rank);
    if (!from_files.summaries.empty()) return from_files;
    FlopSums shapes(rank, steps, rates);
    HostFlops host(store, rank, tree, shapes);
    if (host.estimate()) {
      host.count();
      return tree.has_device_work
                 ? shapes.finish(kFromShapes, device_ns, device_span_ns)
                 : shapes.finish(kFromShapes, host.whole_ns(), host_span(store, rank.position));
    }
    FlopSums tasks(rank, steps, rates);
    count_kernel_shapes(store, rank, tasks);
    return tasks.finish(kFromShapes, device_ns, device_span_ns);
  }();
  if (tree.has_device_work && !tree.kind.empty() && device_ns > 0) {
    const double share = static_cast<double>(matrix_ns) / static_cast<double>(device_ns);
    for (FlopSummaryRow& row : results.summaries) row.matrix_time_share = share;
  }
  return results;
}

}  // namespace stepscope
