// ApiCalls: names of the runtime's and the driver's functions, and which of them are worth a
// record.
//
// A program calls cudaGetDevice and its like thousands of times a step; they tell nothing and cost
// the launching thread a record each. The ids of functions differ from one CUDA to the next, their
// names do not, so both ways go through the names that the CUPTI at hand reports.
#ifndef STEPSCOPE_COLLECTOR_SOURCES_CUPTI_API_CALLS_H_
#define STEPSCOPE_COLLECTOR_SOURCES_CUPTI_API_CALLS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "collector/name_table.h"
#include "collector/sources/cupti/cupti_library.h"

namespace stepscope::cupti {

// "cudaLaunchKernel" for "cudaLaunchKernel_v7000"; the driver's "_v2" and the like stay, as
// they do in other profilers.
std::string_view plain_api_name(std::string_view name);

bool runtime_call_is_wanted(std::string_view plain_name);
bool driver_call_is_wanted(std::string_view plain_name);

// What a call waits for, in CUPTI's numbers of synchronisations.
enum class SyncType : uint8_t {
  kNothing = 0,
  kEvent = 1,
  kStreamWaitsForEvent = 2,
  kStream = 3,
  kContext = 4,
};
SyncType sync_type(std::string_view plain_name);

// Calls visit(id, plain name) for every function of a domain. The library must have
// get_callback_name.
template <typename Visit>
void for_each_call(const CuptiLibrary& library, uint32_t domain, Visit visit) {
  constexpr uint32_t kMostIds = 4096;  // CUDA 13 has about 900 of the driver, 500 of the runtime
  constexpr uint32_t kEndOfIds = 64;   // so many without a name in a row: there are no more
  uint32_t without_name = 0;
  for (uint32_t id = 1; id < kMostIds && without_name < kEndOfIds; ++id) {
    const char* name = nullptr;
    if (library.get_callback_name(domain, id, &name) != kSuccess || name == nullptr) {
      ++without_name;
      continue;
    }
    without_name = 0;
    visit(id, plain_api_name(name));
  }
}

// Where calls come as CUPTI's records. Has CUPTI leave out what is not wanted, where it can
// (CUDA 12.5 and later); on older ones the decoder drops it. False when CUPTI refuses. Switched off
// by disabling the two kinds.
bool record_runtime_calls(const CuptiLibrary& library);
bool record_driver_calls(const CuptiLibrary& library);

// What the decoder asks for each record. The writer thread's.
class ApiCalls {
 public:
  struct Call {
    uint32_t name = 0;
    bool known = false;
    bool wanted = false;
    SyncType waits_for = SyncType::kNothing;
  };

  explicit ApiCalls(const CuptiLibrary& library) : library_(library) {}
  const Call& call(uint32_t domain, uint32_t id, NameTable& names) {
    auto& calls = domain == kRuntimeDomain ? runtime_ : driver_;
    if (id < calls.size() && calls[id].known) return calls[id];
    return learn(domain, id, names);
  }

 private:
  const Call& learn(uint32_t domain, uint32_t id, NameTable& names);

  const CuptiLibrary& library_;
  std::vector<Call> runtime_;
  std::vector<Call> driver_;
};

}  // namespace stepscope::cupti

#endif  // STEPSCOPE_COLLECTOR_SOURCES_CUPTI_API_CALLS_H_
