// What the input says about the devices of a rank.
#ifndef STEPSCOPE_ANALYSES_OPERATORS_DEVICE_PROPERTIES_H_
#define STEPSCOPE_ANALYSES_OPERATORS_DEVICE_PROPERTIES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/store_reader.h"

namespace stepscope {

struct DeviceProperties {
  int64_t device = 0;
  std::string name;
  int64_t multiprocessors = 0;     // 0: not given
  int64_t compute_capability = 0;  // NVIDIA: 80 for 8.0; 0: not given
  int64_t ai_cores = 0;            // Ascend: cube cores; 0: not given
  double ai_core_hz = 0;           // their clock; 0: not given
};

// Devices that the rank's input describes; the rank's device name alone when it describes none.
std::vector<DeviceProperties> device_properties(const StoreReader& store, size_t rank);
// Multiprocessors of GPUs that the input does not describe: Kineto gives the blocks per SM of a
// kernel beside its grid. Reads a kernel of each device in the input file; without it they stay
// unknown. `devices` gets the numbers.
void add_undescribed_gpus(const StoreReader& store, size_t rank,
                          std::vector<DeviceProperties>& devices);
// Blocks of a launch grid such as "[201028, 1, 1]"; NaN when it is not one.
double blocks_in_grid(std::string_view grid);
// The number after `"name":` in a flat JSON text; NaN when there is none.
double number_in_json(std::string_view json, std::string_view name);
// The entry of a device, or the only one when devices are numbered differently; nullptr if none.
const DeviceProperties* find_device(const std::vector<DeviceProperties>& devices, int64_t device);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_OPERATORS_DEVICE_PROPERTIES_H_
