// The tables that CUPTI's records become. docs/formats/raw.md describes them.
#ifndef STEPSCOPE_COLLECTOR_SOURCES_CUPTI_DEVICE_TABLES_H_
#define STEPSCOPE_COLLECTOR_SOURCES_CUPTI_DEVICE_TABLES_H_

#include <string_view>

#include "format/chunk_builder.h"

namespace stepscope::cupti {

// Key: the device. A kernel's name and shape repeat from step to step: they are written once, in
// `kernel_variants` (key 0), and named by number.
inline constexpr std::string_view kKernelColumns[] = {"start_ticks", "duration_ticks", "stream",
                                                      "context",     "correlation",    "variant"};
inline constexpr RawTableLayout kKernelsTable{"kernels", kKernelColumns};

inline constexpr std::string_view kGraphKernelColumns[] = {
    "start_ticks", "duration_ticks", "stream", "context",
    "correlation", "variant",        "graph",  "graph_node"};
inline constexpr RawTableLayout kGraphKernelsTable{"graph_kernels", kGraphKernelColumns};

inline constexpr std::string_view kKernelVariantColumns[] = {
    "variant", "name",    "grid_x",    "grid_y",        "grid_z",        "block_x",
    "block_y", "block_z", "registers", "static_shared", "dynamic_shared"};
inline constexpr RawTableLayout kKernelVariantsTable{"kernel_variants", kKernelVariantColumns};

// Key: the device. `copy_kind`, `from` and `to` are CUPTI's numbers; a memset has copy_kind 0 and
// the kind of memory in `to`. `peer` is the other device plus one of a copy between two.
inline constexpr std::string_view kCopyColumns[] = {
    "start_ticks", "duration_ticks", "stream", "context", "correlation", "bytes",
    "copy_kind",   "from",           "to",     "peer",    "graph",       "graph_node"};
inline constexpr RawTableLayout kCopiesTable{"copies", kCopyColumns};

// Key: the thread.
inline constexpr std::string_view kOverheadColumns[] = {"start_ticks", "duration_ticks", "kind"};
inline constexpr RawTableLayout kOverheadsTable{"overheads", kOverheadColumns};

inline constexpr std::string_view kContextColumns[] = {"context", "device"};
inline constexpr RawTableLayout kContextsTable{"contexts", kContextColumns};

// Key: the device. Allocations have positive bytes, releases negative.
inline constexpr std::string_view kDeviceMemoryColumns[] = {"ticks",       "bytes",  "address",
                                                            "memory_kind", "stream", "correlation"};
inline constexpr RawTableLayout kDeviceMemoryTable{"device_memory", kDeviceMemoryColumns};

}  // namespace stepscope::cupti

#endif  // STEPSCOPE_COLLECTOR_SOURCES_CUPTI_DEVICE_TABLES_H_
