// One event of the simulated job, before it is text. Times are true time: every rank's clock offset
// is added by the writer.

#ifndef STEPSCOPE_BENCH_GENERATE_EVENT_H_
#define STEPSCOPE_BENCH_GENERATE_EVENT_H_

#include <array>
#include <cstdint>
#include <string_view>

namespace stepscope::generate {

using NameId = uint32_t;

enum class Category : uint8_t {
  kCpuOp,
  kUserAnnotation,
  kPythonFunction,
  kCudaRuntime,
  kCudaDriver,
  kKernel,
  kGpuMemcpy,
  kGpuMemset,
  kGpuUserAnnotation,
  kMemory,  // Instant events; everything else is a slice.
  kTraceSpan,
  kCount,
};

inline constexpr auto kCategoryCount = static_cast<size_t>(Category::kCount);

inline constexpr std::array<std::string_view, kCategoryCount> kCategoryNames = {
    "cpu_op", "user_annotation", "python_function", "cuda_runtime",        "cuda_driver",
    "kernel", "gpu_memcpy",      "gpu_memset",      "gpu_user_annotation", "cpu_instant_event",
    "Trace"};

inline constexpr std::string_view CategoryName(Category category) {
  return kCategoryNames[static_cast<size_t>(category)];
}

inline constexpr bool IsDeviceWork(Category category) {
  return category == Category::kKernel || category == Category::kGpuMemcpy ||
         category == Category::kGpuMemset;
}

enum class Lane : uint8_t { kMainThread, kBackwardThread, kComputeStream, kCommunicationStream };

inline constexpr bool IsStream(Lane lane) { return lane >= Lane::kComputeStream; }

// The flow event that Kineto writes right after a slice.
enum class Flow : uint8_t { kNone, kLaunchStart, kLaunchEnd, kForwardStart, kBackwardEnd };

struct Event {
  Category category = Category::kCpuOp;
  Lane lane = Lane::kMainThread;
  Flow flow = Flow::kNone;
  NameId name = 0;
  uint32_t site = 0;  // Index of the text of its arguments; what it indexes depends on category.
  int64_t ts_ns = 0;
  int64_t dur_ns = 0;
  int64_t external_id = 0;  // 0: not written.
  int64_t correlation = 0;
  int64_t sequence = -1;            // Autograd sequence number; -1: not written.
  int64_t collective_sequence = 0;  // Seq: the same on every rank of the group.
  int64_t flow_id = 0;              // Of fwdbwd flows; ac2g flows use the correlation.
  int64_t bytes = 0;                // Memory events (signed) and copies.
  int64_t address = 0;
  int64_t total_allocated_bytes = 0;
  int64_t total_reserved_bytes = 0;
  int64_t python_id = 0;
  int64_t python_parent_id = 0;  // 0: none.
};

}  // namespace stepscope::generate

#endif  // STEPSCOPE_BENCH_GENERATE_EVENT_H_
