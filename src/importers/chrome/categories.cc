#include "importers/chrome/categories.h"

#include <algorithm>

namespace stepscope {
namespace {

using Kind = SliceKind;
using Args = ArgsUse;

constexpr CategoryRule kRules[] = {
    {"cpu_op", Kind::kOp, false, Args::kOp},
    {"Operator", Kind::kOp, false, Args::kOp},
    {"user_annotation", Kind::kAnnotation, false, Args::kLinks},
    {"gpu_user_annotation", Kind::kAnnotation, true, Args::kLinks},
    {"kernel", Kind::kKernel, true, Args::kDevice, WorkClass::kCompute, "CUDA"},
    {"Kernel", Kind::kKernel, true, Args::kDevice, WorkClass::kCompute, "CUDA"},
    {"gpu_memcpy", Kind::kKernel, true, Args::kDevice, WorkClass::kMemory, "MEMCPY"},
    {"Memcpy", Kind::kKernel, true, Args::kDevice, WorkClass::kMemory, "MEMCPY"},
    {"gpu_memset", Kind::kKernel, true, Args::kDevice, WorkClass::kMemory, "MEMSET"},
    {"Memset", Kind::kKernel, true, Args::kDevice, WorkClass::kMemory, "MEMSET"},
    {"mtia_ccp_events", Kind::kKernel, true, Args::kDevice, WorkClass::kCompute, "MTIA"},
    {"cuda_runtime", Kind::kLaunchCall, false, Args::kLinks},
    {"Runtime", Kind::kLaunchCall, false, Args::kLinks},
    {"cuda_driver", Kind::kLaunchCall, false, Args::kLinks},
    {"mtia_runtime", Kind::kLaunchCall, false, Args::kLinks},
    {"xpu_runtime", Kind::kLaunchCall, false, Args::kLinks},
    {"xpu_driver", Kind::kLaunchCall, false, Args::kLinks},
    {"privateuse1_runtime", Kind::kLaunchCall, false, Args::kLinks},
    {"privateuse1_driver", Kind::kLaunchCall, false, Args::kLinks},
    {"glow_runtime", Kind::kLaunchCall, false, Args::kLinks},
    {"cuda_sync", Kind::kOther, true, Args::kLinks},
    {"cuda_event", Kind::kOther, true, Args::kLinks},
    {"xpu_sync", Kind::kOther, true, Args::kLinks},
    {"cuda_profiler_range", Kind::kOther, true, Args::kNone},
    {"hardware_counters", Kind::kOther, true, Args::kNone},
    {"mtia_insight", Kind::kOther, true, Args::kNone},
    {"mtia_counters", Kind::kOther, true, Args::kNone},
    {"collective_comm", Kind::kOther, false, Args::kLinks},
    {"hpu_op", Kind::kKernel, true, Args::kDevice, WorkClass::kCompute, "HPU"},
    {"python_function", Kind::kPython, false, Args::kNone},
    {"Python", Kind::kPython, false, Args::kNone},
    {"cpu_instant_event", Kind::kOther, false, Args::kNone},
    {"overhead", Kind::kOther, false, Args::kNone},
    {"Trace", Kind::kOther, false, Args::kNone},
    {"xpu_scope_profiler", Kind::kOther, false, Args::kNone},
    {"ac2g", Kind::kOther, false, Args::kNone},
    {"fwdbwd", Kind::kOther, false, Args::kNone},
    {"async", Kind::kOther, false, Args::kNone},
    {"async_gpu", Kind::kOther, false, Args::kNone},
    {"async_cpu_to_gpu", Kind::kOther, false, Args::kNone},
    // Ascend's framework side
    {"enqueue", Kind::kOther, false, Args::kAscend},
    {"dequeue", Kind::kOther, false, Args::kAscend},
    {"async_npu", Kind::kOther, false, Args::kNone},
    {"async_task_queue", Kind::kOther, false, Args::kNone},
    {"HostToDevice", Kind::kOther, false, Args::kNone},
    {"MsTx", Kind::kOther, false, Args::kNone},
    // MindSpore's operators on a CPU
    {"HostCpuOps", Kind::kOp, false, Args::kOp},
    // Events without a category
    {"", Kind::kOther, false, Args::kAscend},
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

const CategoryRule* find_category(std::string_view word) {
  const auto* found = std::find_if(std::begin(kRules), std::end(kRules),
                                   [&](const CategoryRule& rule) { return rule.word == word; });
  return found == std::end(kRules) ? nullptr : found;
}

bool is_communication_name(std::string_view name) {
  return contains(name, "nccl") || name.starts_with("hccl") || name.starts_with("rccl") ||
         name.starts_with("oneccl");
}

bool is_memory_name(std::string_view name) {
  return name.starts_with("Memcpy") || name.starts_with("Memset") || name.starts_with("dma") ||
         name.starts_with("Dma") || name.starts_with("CopyHostToDevice") ||
         name.starts_with("CopyDeviceToHost");
}

bool is_launch_flow(std::string_view category) {
  return category == "ac2g" || category == "async_gpu" || category == "async_cpu_to_gpu" ||
         category == "async";
}

}  // namespace stepscope
