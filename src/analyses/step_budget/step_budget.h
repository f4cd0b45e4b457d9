// Where each step of a device went, completely: the parts of a row add up to its length, in
// nanoseconds. What the device does has the first claim (computing, then communication, then
// copies); what is left it stands still, and each piece of that has one cause:
//
//   queued  the work that ends the piece was launched before it began: no fault of the host
//   input   the host was waiting for the next batch
//   gc      Python's garbage collector ran
//   sync    the device ran dry while the host waited for it: that wait emptied the queue
//   host    the host was busy with other things and launched too late
//   other   no thread of the host was in any recorded slice
//
// Launches that are not known leave a piece to the other causes.
#ifndef STEPSCOPE_ANALYSES_STEP_BUDGET_STEP_BUDGET_H_
#define STEPSCOPE_ANALYSES_STEP_BUDGET_STEP_BUDGET_H_

#include <cstdint>
#include <span>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/common/result_table.h"
#include "analyses/device_time/device_intervals.h"
#include "analyses/step_budget/host_activity.h"
#include "analyses/steps/step_row.h"

namespace stepscope {

// The host launches in microseconds: a piece of idle time that is longer than this is no launching.
inline constexpr int64_t kStallNs = 1'000'000;

struct StepBudgetRow {
  int64_t rank = 0;
  int64_t window = 0;
  int64_t device = 0;
  int64_t step = 0;
  int64_t start_ns = 0;
  int64_t step_ns = 0;
  int64_t compute_ns = 0;
  int64_t exposed_communication_ns = 0;
  int64_t exposed_copy_ns = 0;
  int64_t idle_ns = 0;
  int64_t queued_ns = 0;
  int64_t input_ns = 0;
  int64_t sync_ns = 0;
  int64_t gc_ns = 0;
  int64_t host_ns = 0;
  int64_t host_stall_ns = 0;
  int64_t other_ns = 0;
  int64_t input_wait_ns = 0;   // of the host, whatever the device did
  int64_t device_wait_ns = 0;  // the same for synchronisation
  int64_t device_waits = 0;
  int64_t allocator_ns = 0;  // of the host, in calls that get or give back device memory
  int64_t longest_idle_ns = 0;
  int64_t longest_idle_at_ns = kNull;
  int64_t longest_stall_ns = 0;
  int64_t longest_stall_at_ns = kNull;
  bool averaged = true;
};

inline constexpr Field<StepBudgetRow> kStepBudgetFields[] = {
    field<&StepBudgetRow::rank>("rank", Unit::kNone, "rank"),
    field<&StepBudgetRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&StepBudgetRow::device>("device", Unit::kNone,
                                  "device number; -1: the host, for runs without a device"),
    field<&StepBudgetRow::step>("step", Unit::kNone, "number of the step"),
    field<&StepBudgetRow::start_ns>("start_ns", Unit::kTimestamp, "start"),
    field<&StepBudgetRow::step_ns>(
        "step_ns", Unit::kNanoseconds,
        "length of the step: computation + exposed communication + exposed copies + idle"),
    field<&StepBudgetRow::compute_ns>("compute_ns", Unit::kNanoseconds, "time with computation"),
    field<&StepBudgetRow::exposed_communication_ns>("exposed_communication_ns", Unit::kNanoseconds,
                                                    "time with communication and no computation"),
    field<&StepBudgetRow::exposed_copy_ns>("exposed_copy_ns", Unit::kNanoseconds,
                                           "time with copies or sets and nothing else"),
    field<&StepBudgetRow::idle_ns>(
        "idle_ns", Unit::kNanoseconds,
        "time without any event on the device: queued + input + sync + gc + host + other"),
    field<&StepBudgetRow::queued_ns>("queued_ns", Unit::kNanoseconds,
                                     "idle though the next work had already been launched"),
    field<&StepBudgetRow::input_ns>("input_ns", Unit::kNanoseconds,
                                    "idle while the host waited for the next batch"),
    field<&StepBudgetRow::sync_ns>("sync_ns", Unit::kNanoseconds,
                                   "idle that began while the host waited for the device"),
    field<&StepBudgetRow::gc_ns>("gc_ns", Unit::kNanoseconds,
                                 "idle while Python collected garbage"),
    field<&StepBudgetRow::host_ns>("host_ns", Unit::kNanoseconds,
                                   "idle while the host was busy and launched nothing"),
    field<&StepBudgetRow::host_stall_ns>(
        "host_stall_ns", Unit::kNanoseconds,
        "part of host_ns in pieces of a millisecond or more: no launching takes that long"),
    field<&StepBudgetRow::other_ns>("other_ns", Unit::kNanoseconds,
                                    "idle while no host thread was in any recorded slice"),
    field<&StepBudgetRow::input_wait_ns>("input_wait_ns", Unit::kNanoseconds,
                                         "time the host waited for batches, device idle or not"),
    field<&StepBudgetRow::device_wait_ns>("device_wait_ns", Unit::kNanoseconds,
                                          "time the host waited for the device"),
    field<&StepBudgetRow::device_waits>("device_waits", Unit::kCount, "how often it did"),
    field<&StepBudgetRow::allocator_ns>("allocator_ns", Unit::kNanoseconds,
                                        "time of the host in calls that allocate or release "
                                        "memory of a device"),
    field<&StepBudgetRow::longest_idle_ns>("longest_idle_ns", Unit::kNanoseconds,
                                           "longest piece of idle time"),
    field<&StepBudgetRow::longest_idle_at_ns>("longest_idle_at_ns", Unit::kTimestamp,
                                              "where it begins"),
    field<&StepBudgetRow::longest_stall_ns>("longest_stall_ns", Unit::kNanoseconds,
                                            "the piece with most of host_stall_ns"),
    field<&StepBudgetRow::longest_stall_at_ns>("longest_stall_at_ns", Unit::kTimestamp,
                                               "where that piece begins"),
    field<&StepBudgetRow::averaged>("averaged", Unit::kNone, "whether means have it, as in steps"),
};

// Complete steps only, each with the device work that it launched. `launched` is what
// launched_gaps() says of the device.
std::vector<StepBudgetRow> step_budget(const RankId& rank, const DeviceIntervals& device,
                                       const std::vector<Interval>& launched,
                                       const HostActivity& host, std::span<const StepRow> steps);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_STEP_BUDGET_STEP_BUDGET_H_
