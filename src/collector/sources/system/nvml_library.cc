#include "collector/sources/system/nvml_library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string_view>

namespace stepscope {
namespace {

constexpr unsigned kClockOfMultiprocessors = 1;
constexpr unsigned kClockOfMemory = 2;
constexpr unsigned kSensorOfGpu = 0;
constexpr unsigned kMostDevices = 64;

template <typename Function>
bool look_up(void* handle, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(handle, name));
  return function != nullptr;
}

// What a search for a file came to.
struct Found {
  std::string file;
  bool complete = false;
  NvmlLibrary library;
  const Found* earlier = nullptr;
};

// Read without a lock: another thread may have held one when this process was forked. Entries stay
// until the process ends; there is one for each value of STEPSCOPE_NVML.
std::atomic<const Found*> last_found;
std::mutex searching;  // never taken in a forked child
// 0 until this library's own start.
const pid_t loaded_in = ::getpid();

const Found* remembered(std::string_view file) {
  const Found* found = last_found.load(std::memory_order_acquire);
  while (found != nullptr && found->file != file) found = found->earlier;
  return found;
}

bool load(const std::string& file, NvmlLibrary& nvml) {
  void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return false;
  bool complete = look_up(handle, "nvmlInit_v2", nvml.init);
  complete &= look_up(handle, "nvmlShutdown", nvml.shutdown);
  complete &= look_up(handle, "nvmlDeviceGetCount_v2", nvml.count);
  complete &= look_up(handle, "nvmlDeviceGetHandleByIndex_v2", nvml.by_index);
  complete &= look_up(handle, "nvmlDeviceGetHandleByUUID", nvml.by_uuid);
  complete &= look_up(handle, "nvmlDeviceGetIndex", nvml.index_of);
  look_up(handle, "nvmlDeviceGetUtilizationRates", nvml.utilization);
  look_up(handle, "nvmlDeviceGetClockInfo", nvml.clock);
  look_up(handle, "nvmlDeviceGetPowerUsage", nvml.power);
  look_up(handle, "nvmlDeviceGetMemoryInfo", nvml.memory);
  look_up(handle, "nvmlDeviceGetTemperature", nvml.temperature);
  // Two names of one function; older drivers have only the second.
  if (!look_up(handle, "nvmlDeviceGetCurrentClocksEventReasons", nvml.throttle_reasons))
    look_up(handle, "nvmlDeviceGetCurrentClocksThrottleReasons", nvml.throttle_reasons);
  return complete;
}

}  // namespace

NvmlAnswer NvmlLibrary::open() {
  const char* const chosen = std::getenv("STEPSCOPE_NVML");
  const bool other = chosen != nullptr && *chosen != '\0';
  const std::string file = other ? chosen : "libnvidia-ml.so.1";
  const Found* found = remembered(file);
  if (found == nullptr) {
    // glibc's loader does not survive a fork while another thread is inside of it: the child's next
    // search crashed, once in some 300 forks beside a thread that started recordings.
    if (loaded_in != 0 && loaded_in != ::getpid()) return NvmlAnswer::kNotAsked;
    const std::lock_guard lock(searching);
    found = remembered(file);
    if (found == nullptr) {
      auto searched = std::make_unique<Found>();
      searched->file = file;
      searched->complete = load(file, searched->library);
      searched->earlier = last_found.load(std::memory_order_relaxed);
      found = searched.release();
      last_found.store(found, std::memory_order_release);
    }
  }
  if (!found->complete) return NvmlAnswer::kMissing;
  *this = found->library;
  return NvmlAnswer::kThere;
}

std::vector<NvmlDevice*> NvmlLibrary::devices(const char* visible) const {
  std::vector<NvmlDevice*> found;
  NvmlDevice* device = nullptr;
  const auto add = [&](int code) {
    if (code == 0 && std::find(found.begin(), found.end(), device) == found.end())
      found.push_back(device);
  };
  if (visible == nullptr) {
    unsigned number = 0;
    if (count(&number) != 0) return found;
    for (unsigned index = 0; index < std::min(number, kMostDevices); ++index)
      add(by_index(index, &device));
    return found;
  }
  std::string_view rest = visible;
  while (!rest.empty() && found.size() < kMostDevices) {
    const std::string word(rest.substr(0, rest.find(',')));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    unsigned index = 0;
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), index);
    // As CUDA reads it: whatever is no device ends the list.
    const bool is_number = parsed.ec == std::errc() && parsed.ptr == word.data() + word.size();
    const int code = is_number ? by_index(index, &device) : by_uuid(word.c_str(), &device);
    if (code != 0) break;
    add(code);
  }
  return found;
}

void NvmlLibrary::sample(NvmlDevice* device,
                         const std::function<void(std::string series, double value)>& take) const {
  unsigned index = 0;
  if (index_of(device, &index) != 0) return;
  const std::string gpu = "gpu " + std::to_string(index) + " ";
  if (NvmlUtilization now{}; utilization != nullptr && utilization(device, &now) == 0) {
    take(gpu + "utilisation %", now.gpu);
    take(gpu + "memory utilisation %", now.memory);
  }
  unsigned value = 0;
  if (clock != nullptr && clock(device, kClockOfMultiprocessors, &value) == 0)
    take(gpu + "SM clock MHz", value);
  if (clock != nullptr && clock(device, kClockOfMemory, &value) == 0)
    take(gpu + "memory clock MHz", value);
  if (power != nullptr && power(device, &value) == 0) take(gpu + "power W", value / 1000.0);
  if (NvmlMemory now{}; memory != nullptr && memory(device, &now) == 0)
    take(gpu + "memory used bytes", static_cast<double>(now.used));
  if (temperature != nullptr && temperature(device, kSensorOfGpu, &value) == 0)
    take(gpu + "temperature C", value);
  if (unsigned long long bits = 0;
      throttle_reasons != nullptr && throttle_reasons(device, &bits) == 0)
    take(gpu + "throttle reasons", static_cast<double>(bits));
}

}  // namespace stepscope
