#include "collector/sources/cupti/api_calls.h"

#include <algorithm>
#include <array>
#include <string>

namespace stepscope::cupti {
namespace {

constexpr uint32_t kMostIds = 4096;  // CUDA 13 has about 900 of the driver and 500 of the runtime
constexpr uint32_t kEndOfIds = 64;   // so many without a name in a row: there are no more
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
constexpr std::array<std::string_view, 22> kWantedDriverCalls = {
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
};

template <typename Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

template <typename Visit>
void for_each_call(const CuptiLibrary& library, uint32_t domain, Visit visit) {
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
  // The per-thread default stream has functions of its own.
  for (const std::string_view suffix : {"_ptsz", "_ptds"}) {
    if (plain_name.ends_with(suffix)) plain_name.remove_suffix(suffix.size());
  }
  return contains(kWantedDriverCalls, plain_name);
}

int choose_runtime_calls(const CuptiLibrary& library) {
  if (library.enable(kRuntimeApi) != kSuccess) return 0;
  if (library.enable_runtime_api == nullptr || library.get_callback_name == nullptr) return -1;
  int wanted = 0;
  for_each_call(library, kRuntimeDomain, [&](uint32_t id, std::string_view name) {
    if (runtime_call_is_wanted(name)) {
      ++wanted;
    } else {
      library.enable_runtime_api(id, 0);
    }
  });
  return wanted;
}

int choose_driver_calls(const CuptiLibrary& library) {
  if (library.enable_driver_api == nullptr || library.get_callback_name == nullptr)
    return library.enable(kDriverApi) == kSuccess ? -1 : 0;
  int wanted = 0;
  for_each_call(library, kDriverDomain, [&](uint32_t id, std::string_view name) {
    if (driver_call_is_wanted(name) && library.enable_driver_api(id, 1) == kSuccess) ++wanted;
  });
  return wanted;
}

void forget_chosen_calls(const CuptiLibrary& library) {
  library.disable(kRuntimeApi);
  if (library.enable_driver_api == nullptr || library.get_callback_name == nullptr) {
    library.disable(kDriverApi);
    return;
  }
  for_each_call(library, kDriverDomain, [&](uint32_t id, std::string_view name) {
    if (driver_call_is_wanted(name)) library.enable_driver_api(id, 0);
  });
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
  calls[id] = {names.intern(text), true, wanted};
  return calls[id];
}

}  // namespace stepscope::cupti
