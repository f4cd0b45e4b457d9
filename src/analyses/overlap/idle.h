// Why devices and streams are idle: the host had not launched the next work yet, the device took a
// moment to start what was waiting, or something else held it up.
#ifndef STEPSCOPE_ANALYSES_OVERLAP_IDLE_H_
#define STEPSCOPE_ANALYSES_OVERLAP_IDLE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/common/result_table.h"
#include "analyses/overlap/overlap_lanes.h"
#include "store/store_reader.h"

namespace stepscope {

// Work that was launched in time and starts sooner than this after the work before it waits for the
// device only.
inline constexpr int64_t kKernelWaitNs = 30'000;

// A gap is the time between the end of all work so far and the start of the next. Its class is that
// of the work that ends it:
//   host_wait    launched after the gap began
//   kernel_wait  launched before, and the gap is shorter than 30 us
//   other        the rest: it waits for another stream, a synchronisation, or nobody knows
// idle = host_wait + kernel_wait + other.
struct IdleRow {
  int64_t rank = 0;
  int64_t window = 0;
  int64_t device = 0;
  std::string_view lane;
  int64_t stream = kNull;
  int64_t gaps = 0;
  int64_t idle_ns = 0;
  int64_t host_wait_ns = 0;
  int64_t kernel_wait_ns = 0;
  int64_t other_ns = 0;
  int64_t launch_ns = 0;
  int64_t longest_ns = 0;
  int64_t exposed_communication_ns = kNull;
};

inline constexpr Field<IdleRow> kIdleFields[] = {
    field<&IdleRow::rank>("rank", Unit::kNone, "rank"),
    field<&IdleRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&IdleRow::device>("device", Unit::kNone, "device number"),
    field<&IdleRow::lane>("lane", Unit::kNone,
                          "device: idle when all its streams are; else the stream's name"),
    field<&IdleRow::stream>("stream", Unit::kNone, "stream number, where it has one"),
    field<&IdleRow::gaps>("gaps", Unit::kCount, "times it was idle"),
    field<&IdleRow::idle_ns>("idle_ns", Unit::kNanoseconds, "idle between first and last work"),
    field<&IdleRow::host_wait_ns>("host_wait_ns", Unit::kNanoseconds,
                                  "the next work was launched after the gap began"),
    field<&IdleRow::kernel_wait_ns>("kernel_wait_ns", Unit::kNanoseconds,
                                    "it was launched before, and started within 30 us"),
    field<&IdleRow::other_ns>("other_ns", Unit::kNanoseconds,
                              "it was launched before and started later, or its launch is unknown"),
    field<&IdleRow::launch_ns>("launch_ns", Unit::kNanoseconds,
                               "part of host_wait_ns after the launching call began: the overhead "
                               "of launching"),
    field<&IdleRow::longest_ns>("longest_ns", Unit::kNanoseconds, "the longest gap"),
    field<&IdleRow::exposed_communication_ns>(
        "exposed_communication_ns", Unit::kNanoseconds,
        "time with communication and no computation; rows of devices only"),
};

// The gaps of each whole device that are no waiting for the host: the work that ends them was
// launched before they began. In the order of `devices`, each merged. One pass over the kernels.
std::vector<std::vector<Interval>> launched_gaps(const StoreReader& store, const RankId& rank,
                                                 const std::vector<OverlapLanes>& devices);

// A row for each device, then for each of its streams. Every device event counts. One pass over the
// kernels; 24 bytes for each kernel of the largest stream.
std::vector<IdleRow> idle_rows(const StoreReader& store, const RankId& rank,
                               const std::vector<OverlapLanes>& devices);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_OVERLAP_IDLE_H_
