// The functions of NVIDIA's management library that a sample needs, opened at run time.
#ifndef STEPSCOPE_COLLECTOR_SOURCES_SYSTEM_NVML_LIBRARY_H_
#define STEPSCOPE_COLLECTOR_SOURCES_SYSTEM_NVML_LIBRARY_H_

#include <functional>
#include <string>
#include <vector>

namespace stepscope {

struct NvmlDevice;  // NVML's own

struct NvmlUtilization {
  unsigned gpu;     // percent of the time in which a kernel ran
  unsigned memory;  // percent of the time in which memory was read or written
};
struct NvmlMemory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

enum class NvmlAnswer {
  kThere,
  kMissing,
  // In a child of fork() whose parent had not searched: it is not searched for.
  kNotAsked,
};

struct NvmlLibrary {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*by_index)(unsigned, NvmlDevice**) = nullptr;
  int (*by_uuid)(const char*, NvmlDevice**) = nullptr;
  int (*index_of)(NvmlDevice*, unsigned*) = nullptr;
  // Null where a driver lacks them.
  int (*utilization)(NvmlDevice*, NvmlUtilization*) = nullptr;
  int (*clock)(NvmlDevice*, unsigned type, unsigned* megahertz) = nullptr;
  int (*power)(NvmlDevice*, unsigned* milliwatts) = nullptr;
  int (*memory)(NvmlDevice*, NvmlMemory*) = nullptr;
  int (*temperature)(NvmlDevice*, unsigned sensor, unsigned* celsius) = nullptr;
  int (*throttle_reasons)(NvmlDevice*, unsigned long long*) = nullptr;

  // Fills this in where there is one: STEPSCOPE_NVML, or libnvidia-ml.so.1. Each name is searched
  // for once in a process, and the library never closed again. From any thread.
  NvmlAnswer open();
  // Those that `visible` (CUDA_VISIBLE_DEVICES; null: all) names by number or UUID.
  std::vector<NvmlDevice*> devices(const char* visible) const;
  // Hands over name and value of everything that the device answers.
  void sample(NvmlDevice* device,
              const std::function<void(std::string series, double value)>& take) const;
};

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_SOURCES_SYSTEM_NVML_LIBRARY_H_
