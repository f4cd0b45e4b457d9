#include "collector/sources/cupti/api_calls.h"

#include <algorithm>
#include <array>
#include <string>

namespace stepscope::cupti {
namespace {

constexpr uint32_t kLargestId = 1 << 16;  // beyond it a record is damaged

// Questions that wait for nothing and change nothing on the device.
constexpr std::array<std::string_view, 22> kUnwantedRuntimeCalls = {
    "cudaGetDevice",
    "cudaSetDevice",
    "cudaGetDeviceCount",
    "cudaGetLastError",
    "cudaPeekAtLastError",
    "cudaEventCreate",
    "cudaEventCreateWithFlags",
    "cudaEventDestroy",
    "cudaDeviceGetAttribute",
    "cudaFuncGetAttributes",
    "cudaFuncSetAttribute",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
    "cudaStreamIsCapturing",
    "cudaStreamGetCaptureInfo",
    "cudaStreamGetPriority",
    "cudaStreamGetFlags",
    "cudaPointerGetAttributes",
    "cudaThreadExchangeStreamCaptureMode",
    "cudaDriverGetVersion",
    "cudaRuntimeGetVersion",
    "cudaGetDriverEntryPoint",
};

// The driver's functions are mostly the runtime's own steps, seen a second time. These are what
// programs and compilers (Triton, NCCL, the expandable segments of PyTorch) call themselves.
constexpr std::array<std::string_view, 23> kWantedDriverCalls = {
    "cuLaunchKernel",
    "cuLaunchKernelEx",
    "cuLaunchCooperativeKernel",
    "cuGraphLaunch",
    "cuMemCreate",
    "cuMemMap",
    "cuMemUnmap",
    "cuMemRelease",
    "cuMemSetAccess",
    "cuMemExportToShareableHandle",
    "cuMemImportFromShareableHandle",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyDtoDAsync_v2",
    "cuMemcpyAsync",
    "cuMemsetD8Async",
    "cuMemsetD32Async",
    "cuStreamSynchronize",
    "cuEventSynchronize",
    "cuCtxSynchronize",
    "cuStreamWaitEvent",
};

template <typename Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The per-thread default stream has functions of its own.
std::string_view without_stream_suffix(std::string_view plain_name) {
  for (const std::string_view suffix : {"_ptsz", "_ptds"}) {
    if (plain_name.ends_with(suffix)) plain_name.remove_suffix(suffix.size());
  }
  return plain_name;
}

// The kind first: what is switched on for single functions without it stays off (CUPTI 13.0).
template <typename IsWanted>
bool record_calls(const CuptiLibrary& library, uint32_t kind, uint32_t domain,
                  ReturnCode (*switch_one)(uint32_t, uint8_t), IsWanted is_wanted) {
  if (library.enable(kind) != kSuccess) return false;
  if (switch_one == nullptr || library.get_callback_name == nullptr) return true;
  for_each_call(library, domain, [&](uint32_t id, std::string_view name) {
    if (!is_wanted(name)) switch_one(id, 0);
  });
  return true;
}

}  // namespace

std::string_view plain_api_name(std::string_view name) {
  const size_t at = name.rfind("_v");
  if (at == std::string_view::npos || name.size() - at < 6) return name;
  const bool digits = std::all_of(name.begin() + static_cast<ptrdiff_t>(at) + 2, name.end(),
                                  [](char c) { return c >= '0' && c <= '9'; });
  return digits ? name.substr(0, at) : name;
}

bool runtime_call_is_wanted(std::string_view plain_name) {
  return !contains(kUnwantedRuntimeCalls, plain_name);
}

bool driver_call_is_wanted(std::string_view plain_name) {
  return contains(kWantedDriverCalls, without_stream_suffix(plain_name));
}

SyncType sync_type(std::string_view plain_name) {
  plain_name = without_stream_suffix(plain_name);
  if (plain_name == "cudaStreamSynchronize" || plain_name == "cuStreamSynchronize")
    return SyncType::kStream;
  if (plain_name == "cudaDeviceSynchronize" || plain_name == "cuCtxSynchronize")
    return SyncType::kContext;
  if (plain_name == "cudaEventSynchronize" || plain_name == "cuEventSynchronize")
    return SyncType::kEvent;
  if (plain_name == "cudaStreamWaitEvent" || plain_name == "cuStreamWaitEvent")
    return SyncType::kStreamWaitsForEvent;
  return SyncType::kNothing;
}

bool record_runtime_calls(const CuptiLibrary& library) {
  return record_calls(library, kRuntimeApi, kRuntimeDomain, library.enable_runtime_api,
                      runtime_call_is_wanted);
}

bool record_driver_calls(const CuptiLibrary& library) {
  return record_calls(library, kDriverApi, kDriverDomain, library.enable_driver_api,
                      driver_call_is_wanted);
}

const ApiCalls::Call& ApiCalls::learn(uint32_t domain, uint32_t id, NameTable& names) {
  static constexpr Call kNoCall;
  if (id >= kLargestId) return kNoCall;
  auto& calls = domain == kRuntimeDomain ? runtime_ : driver_;
  if (id >= calls.size()) calls.resize(id + 1);
  const char* name = nullptr;
  std::string text;
  if (library_.get_callback_name != nullptr &&
      library_.get_callback_name(domain, id, &name) == kSuccess && name != nullptr) {
    text = plain_api_name(name);
  } else {
    text = (domain == kRuntimeDomain ? "runtime call " : "driver call ") + std::to_string(id);
  }
  const bool wanted =
      domain == kRuntimeDomain ? runtime_call_is_wanted(text) : driver_call_is_wanted(text);
  calls[id] = {names.intern(text), true, wanted, sync_type(text)};
  return calls[id];
}

}  // namespace stepscope::cupti
