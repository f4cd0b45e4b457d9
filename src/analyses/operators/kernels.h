// Device work by name: kernels, copies, sets and collectives of each device.
#ifndef STEPSCOPE_ANALYSES_OPERATORS_KERNELS_H_
#define STEPSCOPE_ANALYSES_OPERATORS_KERNELS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/common/result_table.h"
#include "store/store_reader.h"

namespace stepscope {

// Text points into the store.
// Not KernelRow: an importer has that name, and everything is linked into one program.
struct KernelTotalRow {
  int64_t rank = 0;
  int64_t window = 0;
  int64_t device = 0;
  std::string_view name;
  std::string_view work_class;
  std::string_view type;
  std::string_view kind;
  std::optional<std::string_view> op;
  int64_t count = 0;
  int64_t total_ns = 0;
  double share = 0;
  double mean_ns = 0;
  int64_t min_ns = 0;
  int64_t max_ns = 0;
  double stddev_ns = 0;
  int64_t median_ns = 0;
  int64_t p90_ns = 0;
  int64_t p99_ns = 0;
  std::optional<bool> tensor_cores;
  std::optional<double> cube_utilisation;
  std::optional<double> occupancy;
  std::optional<double> blocks_per_sm;
};
inline constexpr Field<KernelTotalRow> kKernelFields[] = {
    field<&KernelTotalRow::rank>("rank", Unit::kNone, "rank"),
    field<&KernelTotalRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&KernelTotalRow::device>("device", Unit::kNone, "device number"),
    field<&KernelTotalRow::name>("name", Unit::kNone, "name"),
    field<&KernelTotalRow::work_class>("class", Unit::kNone, "compute, communication or memory"),
    field<&KernelTotalRow::type>("type", Unit::kNone, "CUDA, MEMCPY, AI_CORE, AI_CPU, HCCL ..."),
    field<&KernelTotalRow::kind>(
        "kind", Unit::kNone,
        "operator type, or by the kernel's name: gemm, convolution, attention, "
        "normalisation, softmax, embedding, reduction, optimizer, elementwise, "
        "copy, set, communication, other"),
    field<&KernelTotalRow::op>("op", Unit::kNone, "operator that launched most of its time"),
    field<&KernelTotalRow::count>("count", Unit::kCount, "how often it ran"),
    field<&KernelTotalRow::total_ns>("total_ns", Unit::kNanoseconds, "sum of its lengths"),
    field<&KernelTotalRow::share>("share", Unit::kShare, "of the sum over its device and class"),
    field<&KernelTotalRow::mean_ns>("mean_ns", Unit::kNanoseconds, "mean length"),
    field<&KernelTotalRow::min_ns>("min_ns", Unit::kNanoseconds, "shortest"),
    field<&KernelTotalRow::max_ns>("max_ns", Unit::kNanoseconds, "longest"),
    field<&KernelTotalRow::stddev_ns>("stddev_ns", Unit::kNanoseconds, "standard deviation"),
    field<&KernelTotalRow::median_ns>("median_ns", Unit::kNanoseconds, "median"),
    field<&KernelTotalRow::p90_ns>("p90_ns", Unit::kNanoseconds, "90 % are not longer"),
    field<&KernelTotalRow::p99_ns>("p99_ns", Unit::kNanoseconds, "99 % are not longer"),
    field<&KernelTotalRow::tensor_cores>("tensor_cores", Unit::kNone,
                                         "uses tensor cores, by its name (NVIDIA)"),
    field<&KernelTotalRow::cube_utilisation>(
        "cube_utilisation", Unit::kShare,
        "share of its time in which the cube unit works, by counters (Ascend), weighted by time"),
    field<&KernelTotalRow::occupancy>("occupancy", Unit::kShare,
                                      "estimated achieved occupancy, weighted by time"),
    field<&KernelTotalRow::blocks_per_sm>(
        "blocks_per_sm", Unit::kNone,
        "blocks of the grid for each multiprocessor, weighted by time"),
};

// The same by launch configuration and operator.
struct KernelVariantRow {
  int64_t rank = 0;
  int64_t window = 0;
  int64_t device = 0;
  std::string_view name;
  std::optional<std::string_view> op;
  std::optional<std::string_view> grid;
  std::optional<std::string_view> block;
  int64_t registers = kNull;
  int64_t shared_memory_bytes = kNull;
  int64_t count = 0;
  int64_t total_ns = 0;
  double mean_ns = 0;
  int64_t min_ns = 0;
  int64_t max_ns = 0;
  std::optional<double> occupancy;
  std::optional<double> blocks_per_sm;
};
inline constexpr Field<KernelVariantRow> kKernelVariantFields[] = {
    field<&KernelVariantRow::rank>("rank", Unit::kNone, "rank"),
    field<&KernelVariantRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&KernelVariantRow::device>("device", Unit::kNone, "device number"),
    field<&KernelVariantRow::name>("name", Unit::kNone, "name of the kernel"),
    field<&KernelVariantRow::op>("op", Unit::kNone, "operator that launched it"),
    field<&KernelVariantRow::grid>("grid", Unit::kNone, "launch grid"),
    field<&KernelVariantRow::block>("block", Unit::kNone, "launch block"),
    field<&KernelVariantRow::registers>("registers", Unit::kCount, "registers per thread"),
    field<&KernelVariantRow::shared_memory_bytes>("shared_memory_bytes", Unit::kBytes,
                                                  "shared memory"),
    field<&KernelVariantRow::count>("count", Unit::kCount, "how often it ran"),
    field<&KernelVariantRow::total_ns>("total_ns", Unit::kNanoseconds, "sum of its lengths"),
    field<&KernelVariantRow::mean_ns>("mean_ns", Unit::kNanoseconds, "mean length"),
    field<&KernelVariantRow::min_ns>("min_ns", Unit::kNanoseconds, "shortest"),
    field<&KernelVariantRow::max_ns>("max_ns", Unit::kNanoseconds, "longest"),
    field<&KernelVariantRow::occupancy>("occupancy", Unit::kShare,
                                        "estimated achieved occupancy, weighted by time"),
    field<&KernelVariantRow::blocks_per_sm>("blocks_per_sm", Unit::kNone,
                                            "blocks for each multiprocessor, weighted by time"),
};

// How well a device was used, over its kernels (copies and collectives aside).
struct DeviceUseRow {
  int64_t rank = 0;
  int64_t window = 0;
  int64_t device = 0;
  int64_t kernels = 0;
  int64_t kernel_ns = 0;
  std::optional<double> tensor_core_share;
  std::optional<double> cube_utilisation;
  std::optional<double> occupancy;
  std::optional<double> blocks_per_sm;
  std::optional<double> sm_efficiency;
};
inline constexpr Field<DeviceUseRow> kDeviceUseFields[] = {
    field<&DeviceUseRow::rank>("rank", Unit::kNone, "rank"),
    field<&DeviceUseRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&DeviceUseRow::device>("device", Unit::kNone, "device number"),
    field<&DeviceUseRow::kernels>("kernels", Unit::kCount, "computing kernels that ran"),
    field<&DeviceUseRow::kernel_ns>("kernel_ns", Unit::kNanoseconds, "sum of their lengths"),
    field<&DeviceUseRow::tensor_core_share>(
        "tensor_core_share", Unit::kShare,
        "share of that in kernels whose name says tensor cores (NVIDIA)"),
    field<&DeviceUseRow::cube_utilisation>(
        "cube_utilisation", Unit::kShare,
        "share of that in which the cube unit works, by counters (Ascend)"),
    field<&DeviceUseRow::occupancy>("occupancy", Unit::kShare,
                                    "estimated achieved occupancy, weighted by time"),
    field<&DeviceUseRow::blocks_per_sm>("blocks_per_sm", Unit::kNone,
                                        "blocks for each multiprocessor, weighted by time"),
    field<&DeviceUseRow::sm_efficiency>(
        "sm_efficiency", Unit::kShare,
        "share of the multiprocessors that can have a block, weighted by time"),
};

struct KernelTables {
  std::vector<KernelTotalRow> kernels;     // by device, then time
  std::vector<KernelVariantRow> variants;  // by device, then time
  std::vector<DeviceUseRow> devices;
  int64_t left_out = 0;  // impossible events
};
// O(n log n) for the quantiles at worst; 12 bytes a kernel while it runs.
KernelTables kernel_tables(const StoreReader& store, const RankId& rank);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_OPERATORS_KERNELS_H_
