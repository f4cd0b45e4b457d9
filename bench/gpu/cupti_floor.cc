// The least that a profiler on CUPTI can cost: the same kinds of records switched on, buffers
// handed over and thrown away unread. What our tiers add to this is ours, the rest is the vendor's.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/sources/cupti/api_calls.h"
#include "collector/sources/cupti/cupti_library.h"
#include "stepscope/record.h"

namespace {

namespace cupti = stepscope::cupti;

constexpr size_t kBufferBytes = 8 << 20;
std::mutex mutex;
std::vector<uint8_t*> free_buffers;
std::atomic<uint64_t> bytes_seen = 0;
std::vector<uint32_t> enabled;
void* subscriber = nullptr;

extern "C" void floor_request(uint8_t** buffer, size_t* bytes, size_t* most_records) {
  *most_records = 0;
  *bytes = kBufferBytes;
  const std::lock_guard lock(mutex);
  if (free_buffers.empty()) {
    *buffer = static_cast<uint8_t*>(std::aligned_alloc(4096, kBufferBytes));
    return;
  }
  *buffer = free_buffers.back();
  free_buffers.pop_back();
}

extern "C" void floor_complete(void*, uint32_t, uint8_t* buffer, size_t, size_t valid_bytes) {
  bytes_seen += valid_bytes;
  const std::lock_guard lock(mutex);
  free_buffers.push_back(buffer);
}

extern "C" void floor_call(void*, uint32_t, uint32_t, const cupti::CallbackData*) {}

extern "C" uint64_t floor_ticks() { return stepscope_ticks(); }

void enable(const cupti::CuptiLibrary& library, uint32_t kind) {
  if (library.enable(kind) == cupti::kSuccess) enabled.push_back(kind);
}

// The calls that our full tier records, each answered by a function that does nothing.
bool call_back(const cupti::CuptiLibrary& library) {
  if (library.subscribe(&subscriber, floor_call, nullptr) != cupti::kSuccess) return false;
  for (const uint32_t domain : {cupti::kRuntimeDomain, cupti::kDriverDomain}) {
    cupti::for_each_call(library, domain, [&](uint32_t id, std::string_view name) {
      const bool wanted = domain == cupti::kRuntimeDomain ? cupti::runtime_call_is_wanted(name)
                                                          : cupti::driver_call_is_wanted(name);
      if (wanted) library.enable_callback(1, subscriber, domain, id);
    });
  }
  return true;
}

}  // namespace

// `tier` as in stepscope_options; 4: the calls of 3 by callbacks instead of records. Returns 0, or
// -1 when CUPTI cannot be had.
extern "C" __attribute__((visibility("default"))) int stepscope_floor_start(int tier) {
  const auto& library = cupti::CuptiLibrary::open();
  if (!library) return -1;
  if (library->register_timestamp != nullptr) library->register_timestamp(floor_ticks);
  if (library->register_callbacks(floor_request, floor_complete) != cupti::kSuccess) return -1;
  for (const uint32_t kind : {cupti::kConcurrentKernel, cupti::kMemcpy, cupti::kMemset})
    enable(*library, kind);
  if (tier < 3) return 0;
  if (tier == 4) return call_back(*library) ? 0 : -1;
  if (!cupti::record_runtime_calls(*library) || !cupti::record_driver_calls(*library)) return -1;
  enabled.push_back(cupti::kRuntimeApi);
  enabled.push_back(cupti::kDriverApi);
  return 0;
}

// Bytes of records that were thrown away. CUPTI stays in the process.
extern "C" __attribute__((visibility("default"))) uint64_t stepscope_floor_stop() {
  const auto& library = cupti::CuptiLibrary::open();
  if (!library) return 0;
  for (const uint32_t kind : enabled) library->disable(kind);
  enabled.clear();
  if (subscriber != nullptr) library->unsubscribe(std::exchange(subscriber, nullptr));
  library->flush_all(cupti::kFlushForced);
  return bytes_seen.exchange(0);
}

// Takes CUPTI out of the process, also from under another profiler, so that the next measurement
// begins as the first one did. Nothing may be launching meanwhile. Returns CUPTI's code.
extern "C" __attribute__((visibility("default"))) int stepscope_floor_reset() {
  const auto& library = cupti::CuptiLibrary::open();
  if (!library || library->finalize == nullptr) return -1;
  return library->finalize();
}
