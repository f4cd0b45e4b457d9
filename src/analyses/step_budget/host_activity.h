// What the host of a rank was doing while its devices stood still: waiting for data, waiting for
// the device, collecting garbage, or anything at all.
#ifndef STEPSCOPE_ANALYSES_STEP_BUDGET_HOST_ACTIVITY_H_
#define STEPSCOPE_ANALYSES_STEP_BUDGET_HOST_ACTIVITY_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/intervals.h"
#include "store/store_reader.h"

namespace stepscope {

// All merged.
struct HostActivity {
  std::vector<Interval> input;
  std::vector<Interval> sync;
  std::vector<Interval> gc;
  std::vector<Interval> allocator;   // calls that get or give back memory of a device
  std::vector<Interval> any;         // slices of all host threads, step marks aside
  std::vector<int64_t> sync_starts;  // each wait for the device, nested ones once, rising
};

// One pass over the rank's slices, about 10 ns each.
HostActivity host_activity(const StoreReader& store, size_t rank);

// Whether a host slice of this name is a wait for the next batch, or for the device.
bool is_input_wait(std::string_view name);
bool is_device_wait(std::string_view name);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_STEP_BUDGET_HOST_ACTIVITY_H_
