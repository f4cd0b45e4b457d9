#include "collector/sources/system/nvml_sampler.h"

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "collector/sources/system/nvml_library.h"
#include "stepscope/record.h"

namespace stepscope {
namespace {

// NVML's own figures change no faster, and asking for them costs the driver's lock.
constexpr int64_t kShortestIntervalMs = 100;
constexpr std::chrono::milliseconds kAskCudaEvery(50);
constexpr size_t kMostValues = 1 << 16;  // waiting for the writer: far more than it ever leaves

// Whether NVML may be started. While one thread was inside of cuInit, with CUPTI loaded into it,
// NVML's start on another left a lock of the driver taken, and the program's next cuInit waited for
// ever (driver 580.159). A recording from outside begins right there. So where the driver is in the
// process NVML waits until it says that it is ready; a program that never uses it has no figures.
bool driver_is_ready() {
  void* const driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return true;
  const auto count = reinterpret_cast<int (*)(int*)>(::dlsym(driver, "cuDeviceGetCount"));
  int devices = 0;
  const bool ready = count == nullptr || count(&devices) == 0;
  ::dlclose(driver);
  return ready;
}

}  // namespace

struct NvmlSampler::Shared {
  NvmlLibrary library;
  std::chrono::milliseconds interval{};
  bool all_devices = true;
  std::string visible;

  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;
  bool ended = false;
  std::vector<SystemValue> values;

  void sample(const std::vector<NvmlDevice*>& devices) {
    for (NvmlDevice* const device : devices) {
      const uint64_t ticks = stepscope_ticks();
      library.sample(device, [&](std::string series, double value) {
        const std::lock_guard lock(mutex);
        if (values.size() < kMostValues) values.push_back({ticks, std::move(series), value});
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

void NvmlSampler::start(int64_t interval_ms) {
  const auto shared = std::make_shared<Shared>();
  if (!shared->library.open()) return;
  shared->interval = std::chrono::milliseconds(std::max(interval_ms, kShortestIntervalMs));
  if (const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES"); visible != nullptr) {
    shared->all_devices = false;
    shared->visible = visible;
  }
  std::thread([shared] { shared->run(); }).detach();
  shared_ = shared;
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

std::vector<SystemValue> NvmlSampler::take() {
  if (shared_ == nullptr) return {};
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->values, {});
}

}  // namespace stepscope
