// Why a device stood still inside a step. Each piece of idle time has one cause:
//
//   input   the host was waiting for the next batch
//   sync    the device ran dry while the host waited for it: a synchronisation point emptied the
//   queue gc      Python's garbage collector ran host    the host was busy with other things and
//   launched too late other   no thread of the host was in any recorded slice
//
// Causes add up to the idle time, in nanoseconds. A device is idle where it has no event at all.
#ifndef STEPSCOPE_ANALYSES_IDLE_CAUSES_IDLE_CAUSES_H_
#define STEPSCOPE_ANALYSES_IDLE_CAUSES_IDLE_CAUSES_H_

#include <cstdint>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/common/result_table.h"
#include "analyses/device_time/device_intervals.h"
#include "store/store_reader.h"

namespace stepscope {

struct IdleCausesRow {
  int64_t rank = 0;
  int64_t window = 0;
  int64_t device = 0;
  int64_t step = 0;
  int64_t step_ns = 0;
  int64_t idle_ns = 0;
  int64_t input_ns = 0;
  int64_t sync_ns = 0;
  int64_t gc_ns = 0;
  int64_t host_ns = 0;
  int64_t other_ns = 0;
  int64_t longest_ns = 0;  // longest piece
  int64_t longest_at_ns = kNull;
};

inline constexpr Field<IdleCausesRow> kIdleCausesFields[] = {
    field<&IdleCausesRow::rank>("rank", Unit::kNone, "rank"),
    field<&IdleCausesRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&IdleCausesRow::device>("device", Unit::kNone, "device number"),
    field<&IdleCausesRow::step>("step", Unit::kNone, "number of the step"),
    field<&IdleCausesRow::step_ns>("step_ns", Unit::kNanoseconds, "length of the step"),
    field<&IdleCausesRow::idle_ns>("idle_ns", Unit::kNanoseconds,
                                   "time of the step without any event on the device"),
    field<&IdleCausesRow::input_ns>("input_ns", Unit::kNanoseconds,
                                    "idle while the host waited for the next batch"),
    field<&IdleCausesRow::sync_ns>("sync_ns", Unit::kNanoseconds,
                                   "idle that began while the host waited for the device"),
    field<&IdleCausesRow::gc_ns>("gc_ns", Unit::kNanoseconds,
                                 "idle while Python collected garbage"),
    field<&IdleCausesRow::host_ns>("host_ns", Unit::kNanoseconds,
                                   "idle while the host was busy and launched nothing"),
    field<&IdleCausesRow::other_ns>("other_ns", Unit::kNanoseconds,
                                    "idle while no host thread was in any recorded slice"),
    field<&IdleCausesRow::longest_ns>("longest_ns", Unit::kNanoseconds, "longest piece of it"),
    field<&IdleCausesRow::longest_at_ns>("longest_at_ns", Unit::kTimestamp,
                                         "where the longest piece begins"),
};

// A step as the caller counts it: marked or inferred.
struct StepWindow {
  int64_t step = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

// What the host of a rank was doing, as far as causes of idle time need it. All merged.
struct HostActivity {
  std::vector<Interval> input;
  std::vector<Interval> sync;
  std::vector<Interval> gc;
  std::vector<Interval> any;  // slices of all host threads, step marks aside
};
HostActivity host_activity(const StoreReader& store, size_t rank);

// Whether a host slice of this name is a wait for the next batch, or for the device.
bool is_input_wait(std::string_view name);
bool is_device_wait(std::string_view name);

std::vector<IdleCausesRow> idle_causes(const RankId& rank, const DeviceIntervals& device,
                                       const HostActivity& host,
                                       const std::vector<StepWindow>& steps);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_IDLE_CAUSES_IDLE_CAUSES_H_
