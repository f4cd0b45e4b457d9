// What the input says about the devices of a rank.
#ifndef STEPSCOPE_ANALYSES_OPERATORS_DEVICE_PROPERTIES_H_
#define STEPSCOPE_ANALYSES_OPERATORS_DEVICE_PROPERTIES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "store/store_reader.h"

namespace stepscope {

struct DeviceProperties {
  int64_t device = 0;
  std::string name;
  int64_t multiprocessors = 0;  // 0: not given
  int64_t ai_cores = 0;         // Ascend: cube cores; 0: not given
  double ai_core_hz = 0;        // their clock; 0: not given
};

// Devices that the rank's input describes; the rank's device name alone when it describes none.
std::vector<DeviceProperties> device_properties(const StoreReader& store, size_t rank);
// The entry of a device, or the only one when devices are numbered differently; nullptr if none.
const DeviceProperties* find_device(const std::vector<DeviceProperties>& devices, int64_t device);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_OPERATORS_DEVICE_PROPERTIES_H_
