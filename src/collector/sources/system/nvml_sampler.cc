#include "collector/sources/system/nvml_sampler.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <link.h>

#include "collector/sources/system/nvml_library.h"
#include "stepscope/record.h"

namespace stepscope {
namespace {

// NVML's own figures change no faster, and asking for them costs the driver's lock.
constexpr int64_t kShortestIntervalMs = 100;
constexpr std::chrono::milliseconds kAskCudaEvery(50);

// The file of CUDA's driver where the process has it, from the list of what is loaded: dlopen would
// search the disk for one that is not, and a fork during such a search leaves the child a loader
// that crashes at its next one.
std::string loaded_driver() {
  std::string file;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* to) {
        const std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        if (!path.substr(path.rfind('/') + 1).starts_with("libcuda.so")) return 0;  // npos + 1 is 0
        *static_cast<std::string*>(to) = path;
        return 1;
      },
      &file);
  return file;
}

// Whether NVML may be started. While one thread was inside of cuInit, with CUPTI loaded into it,
// NVML's start on another left a lock of the driver taken, and the program's next cuInit waited for
// ever (driver 580.159). A recording from outside begins right there. So where the driver is in the
// process NVML waits until it says that it is ready; a program that never uses it has no figures.
bool driver_is_ready() {
  const std::string file = loaded_driver();
  if (file.empty()) return true;
  void* const driver = ::dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return true;
  const auto count = reinterpret_cast<int (*)(int*)>(::dlsym(driver, "cuDeviceGetCount"));
  int devices = 0;
  const bool ready = count == nullptr || count(&devices) == 0;
  ::dlclose(driver);
  return ready;
}

// Whether somebody expects figures: the driver's device (or WSL's) is there, or a library is named.
bool may_have_gpus() {
  const char* const chosen = std::getenv("STEPSCOPE_NVML");
  return (chosen != nullptr && *chosen != '\0') || ::access("/dev/nvidiactl", F_OK) == 0 ||
         ::access("/dev/dxg", F_OK) == 0;
}

}  // namespace

struct NvmlSampler::Shared {
  NvmlLibrary library;
  std::chrono::milliseconds interval{};
  size_t most_waiting = 0;
  bool all_devices = true;
  std::string visible;

  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;
  bool ended = false;
  WaitingValues waiting;

  void sample(const std::vector<NvmlDevice*>& devices) {
    for (NvmlDevice* const device : devices) {
      const uint64_t ticks = stepscope_ticks();
      library.sample(device, [&](std::string series, double value) {
        const std::lock_guard lock(mutex);
        waiting.add({ticks, std::move(series), value}, most_waiting);
      });
    }
  }

  // False when it is to end meanwhile.
  bool wait_for_driver() {
    while (!driver_is_ready()) {
      std::unique_lock lock(mutex);
      if (changed.wait_for(lock, kAskCudaEvery, [this] { return stopping; })) return false;
    }
    return true;
  }

  void sample_until_stopped() {
    if (!wait_for_driver() || library.init() != 0) return;
    const auto devices = library.devices(all_devices ? nullptr : visible.c_str());
    auto next = std::chrono::steady_clock::now();
    while (!devices.empty()) {
      sample(devices);
      next = std::max(next + interval, std::chrono::steady_clock::now());
      std::unique_lock lock(mutex);
      if (changed.wait_until(lock, next, [this] { return stopping; })) break;
    }
    library.shutdown();
  }

  void run() {
    ::pthread_setname_np(::pthread_self(), "stepscope-nvml");
    try {
      sample_until_stopped();
    } catch (const std::exception&) {  // NOLINT: without memory there are no samples
    }
    const std::lock_guard lock(mutex);
    ended = true;
    changed.notify_all();
  }
};

std::string NvmlSampler::start(int64_t interval_ms, size_t most_waiting) {
  const auto shared = std::make_shared<Shared>();
  const NvmlAnswer answer = shared->library.open();
  if (answer == NvmlAnswer::kNotAsked && may_have_gpus()) {
    return "there are no figures of GPUs: NVML cannot be loaded safely in a forked child, and the "
           "parent process had not loaded it; start such processes by spawn, or record in the "
           "parent first";
  }
  if (answer != NvmlAnswer::kThere) return {};
  shared->interval = std::chrono::milliseconds(std::max(interval_ms, kShortestIntervalMs));
  shared->most_waiting = most_waiting;
  if (const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES"); visible != nullptr) {
    shared->all_devices = false;
    shared->visible = visible;
  }
  std::thread([shared] { shared->run(); }).detach();
  shared_ = shared;
  return {};
}

void NvmlSampler::stop(int64_t most_ms) {
  has_stopped_ = true;
  if (shared_ == nullptr) return;
  std::unique_lock lock(shared_->mutex);
  shared_->stopping = true;
  shared_->changed.notify_all();
  shared_->changed.wait_for(lock, std::chrono::milliseconds(most_ms),
                            [this] { return shared_->ended; });
}

WaitingValues NvmlSampler::take() {
  if (shared_ == nullptr) return {};
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->waiting, {});
}

}  // namespace stepscope
