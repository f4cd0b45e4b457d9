// CuptiLibrary: the vendor's library, opened while the program runs and never linked.
//
// Opening it costs tens of milliseconds the first time; looking up a function is done once. It is
// never closed again: CUPTI keeps threads and callbacks.
#ifndef STEPSCOPE_COLLECTOR_SOURCES_CUPTI_CUPTI_LIBRARY_H_
#define STEPSCOPE_COLLECTOR_SOURCES_CUPTI_CUPTI_LIBRARY_H_

#include <string>

#include "base/result.h"
#include "collector/sources/cupti/cupti_abi.h"

namespace stepscope::cupti {

// The functions are null where a CUPTI lacks them, except those that are marked as needed.
struct CuptiLibrary {
  ReturnCode (*get_version)(uint32_t*) = nullptr;                                      // needed
  ReturnCode (*register_callbacks)(RequestFunction, CompleteFunction) = nullptr;       // needed
  ReturnCode (*enable)(uint32_t kind) = nullptr;                                       // needed
  ReturnCode (*disable)(uint32_t kind) = nullptr;                                      // needed
  ReturnCode (*flush_all)(uint32_t flag) = nullptr;                                    // needed
  ReturnCode (*next_record)(uint8_t* buffer, size_t bytes, Activity**) = nullptr;      // needed
  ReturnCode (*get_dropped)(void* context, uint32_t stream, size_t* count) = nullptr;  // needed
  ReturnCode (*get_timestamp)(uint64_t*) = nullptr;                                    // needed
  ReturnCode (*get_callback_name)(uint32_t domain, uint32_t id, const char**) = nullptr;
  ReturnCode (*get_result_text)(ReturnCode, const char**) = nullptr;
  ReturnCode (*register_timestamp)(TimestampFunction) = nullptr;     // CUDA 11.6
  ReturnCode (*enable_and_dump)(uint32_t kind) = nullptr;            // CUDA 11.8
  ReturnCode (*enable_runtime_api)(uint32_t id, uint8_t) = nullptr;  // CUDA 12.5
  ReturnCode (*enable_driver_api)(uint32_t id, uint8_t) = nullptr;   // CUDA 12.5
  ReturnCode (*set_attribute)(uint32_t, size_t*, void*) = nullptr;
  ReturnCode (*get_attribute)(uint32_t, size_t*, void*) = nullptr;
  ReturnCode (*set_thread_id_type)(uint32_t) = nullptr;
  ReturnCode (*get_thread_id_type)(uint32_t*) = nullptr;
  ReturnCode (*flush_period)(uint32_t milliseconds) = nullptr;
  ReturnCode (*subscribe)(void** subscriber, CallFunction, void* ours) = nullptr;
  ReturnCode (*unsubscribe)(void* subscriber) = nullptr;
  ReturnCode (*enable_callback)(uint32_t on, void* subscriber, uint32_t domain,
                                uint32_t id) = nullptr;
  ReturnCode (*get_stream_id)(void* context, void* stream, uint8_t per_thread,
                              uint32_t* id) = nullptr;
  ReturnCode (*finalize)() = nullptr;
  void* handle = nullptr;
  std::string path;
  uint32_t version = 0;

  // The same for the whole process; a second call returns the first one's answer.
  static const Result<CuptiLibrary>& open();
  // Any other function of it; null when it has none of that name or cannot be opened.
  static void* function(const char* name);
  // The vendor's word for a code that is not kSuccess.
  std::string result_text(ReturnCode code) const;
};

// A function of the driver that the process uses; null where there is none.
void* driver_function(const CuptiLibrary& library, const char* name);

// Waits until the devices that this process uses have done what was launched so far, at most so
// long: a device that hangs must not hang the program's end too. False when the time was up. Costs
// a thread, which calls `first` before anything else; does nothing while the process has no CUDA.
bool wait_for_devices(int64_t most_ms, void (*first)());

}  // namespace stepscope::cupti

#endif  // STEPSCOPE_COLLECTOR_SOURCES_CUPTI_CUPTI_LIBRARY_H_
