#include "analyses/run_analyses.h"

#include <mutex>
#include <utility>

#include "base/parallel.h"

namespace stepscope {
namespace {

// A result that is computed when it is first needed.
template <class T>
class Once {
 public:
  template <class Compute>
  const T& get(Compute&& compute) {
    std::call_once(flag_, [&] { value_ = compute(); });
    return value_;
  }

 private:
  std::once_flag flag_;
  T value_;
};

using MakeTable = ResultTable (*)(RunAnalyses&);
struct NamedTable {
  std::string_view name;
  MakeTable make;
};

constexpr NamedTable kTables[] = {
    {"device_time",
     [](RunAnalyses& run) {
       return make_table("device_time", "Where the time of each device went.", run.device_time(),
                         kDeviceTimeFields);
     }},
    {"operators",
     [](RunAnalyses& run) {
       return make_table("operators", "Operators of the host, and of devices that run operators.",
                         run.operators().operators, kOperatorFields);
     }},
    {"operator_types",
     [](RunAnalyses& run) {
       return make_table("operator_types", "Operators and kernels by type.", run.operators().types,
                         kOperatorTypeFields);
     }},
    {"operator_shapes",
     [](RunAnalyses& run) {
       return make_table("operator_shapes", "Operators by the shapes and types of their inputs.",
                         run.operators().shapes, kOperatorShapeFields);
     }},
    {"operator_steps",
     [](RunAnalyses& run) {
       return make_table("operator_steps",
                         "The largest operators and kernels of each category, step by step.",
                         run.operators().steps, kOperatorStepFields);
     }},
    {"flops",
     [](RunAnalyses& run) {
       return make_table("flops", "FLOPs, rates and roofline of operators.", run.flops().operators,
                         kFlopFields);
     }},
    {"flops_scopes",
     [](RunAnalyses& run) {
       return make_table("flops_scopes", "FLOPs in the tree of modules or scopes.",
                         run.flops().scopes, kFlopScopeFields);
     }},
    {"flops_steps",
     [](RunAnalyses& run) {
       return make_table("flops_steps", "FLOPs and model FLOPs utilisation of steps.",
                         run.flops().steps, kFlopStepFields);
     }},
    {"flops_summary",
     [](RunAnalyses& run) {
       return make_table("flops_summary", "FLOPs of the model and how well the device is used.",
                         run.flops().summaries, kFlopSummaryFields);
     }},
    {"kernels",
     [](RunAnalyses& run) {
       return make_table("kernels", "Device work by name.", run.kernels().kernels, kKernelFields);
     }},
    {"kernel_variants",
     [](RunAnalyses& run) {
       return make_table("kernel_variants",
                         "Device work by name, operator and launch configuration.",
                         run.kernels().variants, kKernelVariantFields);
     }},
    {"device_use",
     [](RunAnalyses& run) {
       return make_table("device_use", "How well the kernels of each device use it.",
                         run.kernels().devices, kDeviceUseFields);
     }},
    {"launches",
     [](RunAnalyses& run) {
       return make_table("launches", "Launches and queues of each stream.", run.kernels().launches,
                         kLaunchFields);
     }},
    {"copies",
     [](RunAnalyses& run) {
       return make_table("copies", "Copies and sets by kind.", run.kernels().copies, kCopyFields);
     }},
};

}  // namespace

struct RunAnalyses::Results {
  Once<std::vector<std::vector<DeviceIntervals>>> device_intervals;
  Once<std::vector<DeviceTimeRow>> device_time;
  std::once_flag operators_walked;
  OperatorResults operators;
  FlopResults flops;
  Once<KernelResults> kernels;

  void add_reason(std::string table, std::string why) {
    const std::scoped_lock lock(reasons_mutex);
    reasons.push_back({std::move(table), std::move(why)});
  }

  std::mutex reasons_mutex;
  std::vector<Reason> reasons;
};

RunAnalyses::RunAnalyses(std::shared_ptr<const StoreReader> store, AnalysisOptions options)
    : store_(std::move(store)),
      options_(options),
      ranks_(rank_ids(*store_)),
      results_(std::make_unique<Results>()) {
  if (options_.threads == 0) options_.threads = available_cpus();
}

RunAnalyses::~RunAnalyses() = default;

const std::vector<std::vector<DeviceIntervals>>& RunAnalyses::device_intervals() {
  return results_->device_intervals.get([&] {
    std::vector<std::vector<DeviceIntervals>> all(ranks_.size());
    parallel_for(ranks_.size(), options_.threads,
                 [&](size_t rank) { all[rank] = stepscope::device_intervals(*store_, rank); });
    return all;
  });
}

const std::vector<DeviceTimeRow>& RunAnalyses::device_time() {
  return results_->device_time.get([&] {
    std::vector<DeviceTimeRow> rows;
    const auto& intervals = device_intervals();
    for (const RankId& rank : ranks_) {
      for (const DeviceIntervals& device : intervals[rank.position])
        rows.push_back(stepscope::device_time(rank, device));
    }
    return rows;
  });
}

void RunAnalyses::walk_operators() {
  std::call_once(results_->operators_walked, [&] {
    struct Rank {
      OperatorResults operators;
      FlopResults flops;
    };
    std::vector<Rank> ranks(ranks_.size());
    parallel_for(ranks_.size(), options_.threads, [&](size_t i) {
      const OpTree tree = build_op_tree(*store_, ranks_[i].position);
      ranks[i].operators = rank_operators(*store_, ranks_[i], tree);
      ranks[i].flops = rank_flops(*store_, ranks_[i], tree, options_.peaks);
    });
    for (Rank& rank : ranks) {
      results_->operators.append(std::move(rank.operators));
      results_->flops.append(std::move(rank.flops));
    }
    for (auto& [table, why] : operator_reasons(results_->operators))
      results_->add_reason(std::move(table), std::move(why));
    for (auto& [table, why] : flop_reasons(results_->flops))
      results_->add_reason(std::move(table), std::move(why));
  });
}

const OperatorResults& RunAnalyses::operators() {
  walk_operators();
  return results_->operators;
}

const FlopResults& RunAnalyses::flops() {
  walk_operators();
  return results_->flops;
}

const KernelResults& RunAnalyses::kernels() {
  return results_->kernels.get([&] {
    std::vector<KernelResults> ranks(ranks_.size());
    parallel_for(ranks_.size(), options_.threads,
                 [&](size_t i) { ranks[i] = rank_kernels(*store_, ranks_[i]); });
    KernelResults all;
    for (KernelResults& rank : ranks) all.append(std::move(rank));
    for (auto& [table, why] : kernel_reasons(all))
      results_->add_reason(std::move(table), std::move(why));
    return all;
  });
}

std::span<const std::string_view> RunAnalyses::table_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const NamedTable& table : kTables) all.push_back(table.name);
    return all;
  }();
  return names;
}

Result<ResultTable> RunAnalyses::table(std::string_view name) {
  for (const NamedTable& table : kTables) {
    if (table.name == name) return table.make(*this);
  }
  std::string known;
  for (const NamedTable& table : kTables)
    known += (known.empty() ? "" : ", ") + std::string(table.name);
  return Error{ErrorCode::kNotFound, "no analysis named \"" + std::string(name) + "\"", "", "",
               "there are: " + known};
}

std::vector<Reason> RunAnalyses::reasons(std::string_view table) {
  const std::scoped_lock lock(results_->reasons_mutex);
  std::vector<Reason> found;
  for (const Reason& reason : results_->reasons) {
    if (reason.table == table) found.push_back(reason);
  }
  return found;
}

}  // namespace stepscope
