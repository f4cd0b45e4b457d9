// A stand-in for NVIDIA's libnvidia-ml.so.1 with two GPUs of known figures. Loaded through
// STEPSCOPE_NVML.
//   FAKE_NVML_LOG    file that gets "init" and "shutdown"
//   FAKE_NVML_FAIL   "init", "power" (of the second GPU) or "count"
//   FAKE_NVML_WAIT   milliseconds that every reading of the power takes
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

constexpr int kNotSupported = 3;
constexpr int kNotFound = 6;
int devices[2] = {0, 1};

bool told_to_fail(const char* what) {
  const char* const told = std::getenv("FAKE_NVML_FAIL");
  return told != nullptr && std::strcmp(told, what) == 0;
}

void log(const char* line) {
  const char* const path = std::getenv("FAKE_NVML_LOG");
  if (path == nullptr) return;
  if (std::FILE* const file = std::fopen(path, "a")) {
    std::fprintf(file, "%s\n", line);
    std::fclose(file);
  }
}

struct Utilization {
  unsigned gpu;
  unsigned memory;
};
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

}  // namespace

EXPORTED int nvmlInit_v2() {
  log("init");
  return told_to_fail("init") ? 9 : 0;
}
EXPORTED int nvmlShutdown() {
  log("shutdown");
  return 0;
}
EXPORTED int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return told_to_fail("count") ? 999 : 0;
}
EXPORTED int nvmlDeviceGetHandleByIndex_v2(unsigned index, int** device) {
  if (index >= 2) return kNotFound;
  *device = &devices[index];
  return 0;
}
EXPORTED int nvmlDeviceGetHandleByUUID(const char* uuid, int** device) {
  if (std::strcmp(uuid, "GPU-aaaa") != 0) return kNotFound;
  *device = &devices[1];
  return 0;
}
EXPORTED int nvmlDeviceGetIndex(const int* device, unsigned* index) {
  *index = static_cast<unsigned>(*device);
  return 0;
}
EXPORTED int nvmlDeviceGetUtilizationRates(const int* device, Utilization* utilization) {
  *utilization = {90u - static_cast<unsigned>(*device), 40};
  return 0;
}
// 1 is the streaming multiprocessors' clock, 2 the memory's.
EXPORTED int nvmlDeviceGetClockInfo(const int*, unsigned type, unsigned* megahertz) {
  if (type != 1 && type != 2) return kNotSupported;
  *megahertz = type == 1 ? 1980 : 3201;
  return 0;
}
EXPORTED int nvmlDeviceGetPowerUsage(const int* device, unsigned* milliwatts) {
  if (const char* const wait = std::getenv("FAKE_NVML_WAIT"))
    ::usleep(static_cast<useconds_t>(std::atoi(wait)) * 1000);
  if (*device == 1 && told_to_fail("power")) return kNotSupported;
  *milliwatts = 350500;
  return 0;
}
EXPORTED int nvmlDeviceGetMemoryInfo(const int*, Memory* memory) {
  *memory = {1000, 400, 600};
  return 0;
}
EXPORTED int nvmlDeviceGetTemperature(const int*, unsigned sensor, unsigned* celsius) {
  if (sensor != 0) return kNotSupported;
  *celsius = 61;
  return 0;
}
EXPORTED int nvmlDeviceGetCurrentClocksThrottleReasons(const int*, unsigned long long* reasons) {
  *reasons = 0x24;  // software's and hardware's limits of power and heat
  return 0;
}
