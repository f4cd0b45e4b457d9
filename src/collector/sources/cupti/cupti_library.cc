#include "collector/sources/cupti/cupti_library.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <link.h>

#include "collector/bounded_call.h"

namespace stepscope::cupti {
namespace {

// Newest first. CUDA 11 put the minor version into the library's name.
constexpr std::array kNames = {"libcupti.so.13",   "libcupti.so.12",   "libcupti.so.11.8",
                               "libcupti.so.11.7", "libcupti.so.11.6", "libcupti.so.11.5",
                               "libcupti.so.11.4", "libcupti.so.11.3", "libcupti.so.11.2",
                               "libcupti.so.11.1", "libcupti.so.11.0", "libcupti.so"};

// Paths of the libraries that the program has loaded by now.
std::vector<std::string> loaded_libraries() {
  std::vector<std::string> paths;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* to) {
        if (info->dlpi_name != nullptr && info->dlpi_name[0] != '\0')
          static_cast<std::vector<std::string>*>(to)->emplace_back(info->dlpi_name);
        return 0;
      },
      &paths);
  return paths;
}

std::string_view file_name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

// Where CUPTI may be, best first. A program that has it loaded (PyTorch does) must not get a
// second one; otherwise the one beside the CUDA runtime that the program uses fits best.
std::vector<std::string> candidates() {
  if (const char* const chosen = std::getenv("STEPSCOPE_CUPTI"); chosen != nullptr && *chosen)
    return {chosen};
  std::vector<std::string> found;
  std::vector<std::string> beside;
  std::string runtime_name;
  for (const std::string& path : loaded_libraries()) {
    const std::string_view name = file_name_of(path);
    if (name.starts_with("libcupti.so")) found.push_back(path);
    if (!name.starts_with("libcudart.so")) continue;
    const std::string folder = folder_of(path);
    for (const char* const below : {"/../../cuda_cupti/lib/", "/", "/../extras/CUPTI/lib64/"})
      beside.push_back(folder + below);
    runtime_name = name;
  }
  // "libcudart.so.12" wants "libcupti.so.12"; "libcudart.so.11.0" any of 11.
  const std::string version = runtime_name.empty()
                                  ? std::string()
                                  : runtime_name.substr(std::string_view("libcudart").size());
  const std::string major = version.substr(0, std::string_view(".so.12").size());
  const auto add_all = [&](const std::string& folder) {
    for (const std::string_view name : kNames) {
      if (major.empty() || name.find(major) != std::string_view::npos)
        found.push_back(folder + std::string(name));
    }
  };
  for (const std::string& folder : beside) add_all(folder);
  add_all("");
  if (const char* const home = std::getenv("CUDA_HOME"); home != nullptr)
    add_all(std::string(home) + "/extras/CUPTI/lib64/");
  add_all("/usr/local/cuda/extras/CUPTI/lib64/");
  add_all("/usr/local/cuda/lib64/");
  return found;
}

template <typename Function>
bool look_up(void* handle, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(handle, name));
  return function != nullptr;
}

Error cannot_open(std::string why, std::string remedy) {
  return {ErrorCode::kUnsupported, "cannot record the GPU", "", std::move(why), std::move(remedy)};
}

Result<CuptiLibrary> open_library() {
  // Without the driver CUPTI fails in ways that do not say so: asked first.
  const bool chosen = std::getenv("STEPSCOPE_CUPTI") != nullptr;
  if (!chosen && ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    return cannot_open("no CUDA device was found: the driver's library libcuda.so.1 is missing",
                       "on a machine with an NVIDIA GPU, install the driver; in a container, run "
                       "it with --gpus all");
  }
  CuptiLibrary library;
  void* handle = nullptr;
  for (const std::string& path : candidates()) {
    handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    library.path = path;
    if (handle != nullptr) break;
  }
  if (handle == nullptr) {
    return cannot_open("CUPTI (libcupti.so) was not found",
                       "install the package nvidia-cuda-cupti that fits the CUDA in use, or set "
                       "STEPSCOPE_CUPTI to the library's path");
  }
  library.handle = handle;
  bool complete = look_up(handle, "cuptiGetVersion", library.get_version);
  complete &= look_up(handle, "cuptiActivityRegisterCallbacks", library.register_callbacks);
  complete &= look_up(handle, "cuptiActivityEnable", library.enable);
  complete &= look_up(handle, "cuptiActivityDisable", library.disable);
  complete &= look_up(handle, "cuptiActivityFlushAll", library.flush_all);
  complete &= look_up(handle, "cuptiActivityGetNextRecord", library.next_record);
  complete &= look_up(handle, "cuptiActivityGetNumDroppedRecords", library.get_dropped);
  complete &= look_up(handle, "cuptiGetTimestamp", library.get_timestamp);
  if (!complete) {
    return cannot_open(library.path + " lacks functions that CUPTI has had since CUDA 11",
                       "use the CUPTI of CUDA 11, 12 or 13");
  }
  look_up(handle, "cuptiGetCallbackName", library.get_callback_name);
  look_up(handle, "cuptiGetResultString", library.get_result_text);
  look_up(handle, "cuptiActivityRegisterTimestampCallback", library.register_timestamp);
  look_up(handle, "cuptiActivityEnableAndDump", library.enable_and_dump);
  look_up(handle, "cuptiActivityEnableRuntimeApi", library.enable_runtime_api);
  look_up(handle, "cuptiActivityEnableDriverApi", library.enable_driver_api);
  look_up(handle, "cuptiActivitySetAttribute", library.set_attribute);
  look_up(handle, "cuptiActivityGetAttribute", library.get_attribute);
  look_up(handle, "cuptiSetThreadIdType", library.set_thread_id_type);
  look_up(handle, "cuptiGetThreadIdType", library.get_thread_id_type);
  look_up(handle, "cuptiActivityFlushPeriod", library.flush_period);
  look_up(handle, "cuptiSubscribe", library.subscribe);
  look_up(handle, "cuptiUnsubscribe", library.unsubscribe);
  look_up(handle, "cuptiEnableCallback", library.enable_callback);
  look_up(handle, "cuptiGetStreamIdEx", library.get_stream_id);
  look_up(handle, "cuptiFinalize", library.finalize);
  if (const ReturnCode code = library.get_version(&library.version); code != kSuccess) {
    return cannot_open(library.path + " does not start: " + library.result_text(code),
                       "check that it fits the driver (nvidia-smi shows the newest CUDA that the "
                       "driver knows)");
  }
  return library;
}

// The few functions of the driver that waiting needs.
struct Driver {
  int (*device_count)(int*) = nullptr;
  int (*primary_state)(int device, unsigned* flags, int* active) = nullptr;
  int (*retain_primary)(void** context, int device) = nullptr;
  int (*release_primary)(int device) = nullptr;
  int (*push)(void* context) = nullptr;
  int (*pop)(void** context) = nullptr;
  int (*synchronize)() = nullptr;

  bool find() {
    void* const handle = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    return handle != nullptr && look_up(handle, "cuDeviceGetCount", device_count) &&
           look_up(handle, "cuDevicePrimaryCtxGetState", primary_state) &&
           look_up(handle, "cuDevicePrimaryCtxRetain", retain_primary) &&
           look_up(handle, "cuDevicePrimaryCtxRelease_v2", release_primary) &&
           look_up(handle, "cuCtxPushCurrent_v2", push) &&
           look_up(handle, "cuCtxPopCurrent_v2", pop) &&
           look_up(handle, "cuCtxSynchronize", synchronize);
  }

  void wait_for_all() const {
    int count = 0;
    if (device_count(&count) != 0) return;
    for (int device = 0; device < count; ++device) {
      unsigned flags = 0;
      int active = 0;
      void* context = nullptr;
      // Retaining an inactive one would create it, which takes seconds and device memory.
      if (primary_state(device, &flags, &active) != 0 || active == 0) continue;
      if (retain_primary(&context, device) != 0) continue;
      if (push(context) == 0) {
        synchronize();
        pop(&context);
      }
      release_primary(device);
    }
  }
};

}  // namespace

const Result<CuptiLibrary>& CuptiLibrary::open() {
  static const auto* const kLibrary = new Result<CuptiLibrary>(open_library());
  return *kLibrary;
}

void* CuptiLibrary::function(const char* name) {
  const Result<CuptiLibrary>& library = open();
  return library ? ::dlsym(library->handle, name) : nullptr;
}

std::string CuptiLibrary::result_text(ReturnCode code) const {
  const char* text = nullptr;
  if (get_result_text != nullptr && get_result_text(code, &text) == kSuccess && text != nullptr)
    return text;
  return "CUPTI code " + std::to_string(code);
}

void* driver_function(const CuptiLibrary& library, const char* name) {
  void* const driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return ::dlsym(driver != nullptr ? driver : library.handle, name);
}

bool wait_for_devices(int64_t most_ms, void (*first)()) {
  Driver driver;
  return !driver.find() || call_within(most_ms, [driver, first] {
    first();
    driver.wait_for_all();
  });
}

}  // namespace stepscope::cupti
