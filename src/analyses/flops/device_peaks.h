// The rates that devices can reach, from their makers' data sheets.
#ifndef STEPSCOPE_ANALYSES_FLOPS_DEVICE_PEAKS_H_
#define STEPSCOPE_ANALYSES_FLOPS_DEVICE_PEAKS_H_

#include <optional>
#include <string_view>

#include "analyses/flops/tensors.h"
#include "analyses/operators/device_properties.h"

namespace stepscope {

// FLOP/s and bytes/s; 0: the device has no such unit, or it is not known.
struct PeakRates {
  double float64 = 0;
  double float32 = 0;  // ordinary cores; also what work other than multiplying matrices can reach
  double float32_matrix = 0;  // where matrices of 32 bits are multiplied faster than that
  double tf32 = 0;            // tensor cores and the like from here on, without sparsity
  double float16 = 0;
  double bfloat16 = 0;
  double float8 = 0;
  double int8 = 0;
  double memory = 0;

  // For multiplying matrices of that type.
  double matrix_rate(DataType type) const;
  // For everything else.
  double vector_rate(DataType type) const;
};

// By the device's name as drivers give it ("NVIDIA H200", "Ascend910B3"); nothing when it is not
// known.
std::optional<PeakRates> known_peaks(std::string_view device_name);

// By name, else from the number and clock of an Ascend's cores.
std::optional<PeakRates> device_peaks(const DeviceProperties& device);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_FLOPS_DEVICE_PEAKS_H_
