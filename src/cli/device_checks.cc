// The vendor libraries that recording needs. They are opened by name as the collector would do it.
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>

#include "base/folder.h"
#include "cli/machine_checks.h"
#include "collector/sources/ascend/acl_library.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

class Library {
 public:
  explicit Library(const std::string& name)
      : handle_(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {}
  ~Library() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  bool loaded() const { return handle_ != nullptr; }
  template <typename Function>
  Function function(const char* name) const {
    return reinterpret_cast<Function>(dlsym(handle_, name));
  }

 private:
  void* handle_;
};

std::string environment(const char* name) {
  const char* value = getenv(name);
  return value != nullptr ? value : "";
}

Check check_driver() {
  const Library cuda("libcuda.so.1");
  if (!cuda.loaded())
    return {"NVIDIA", "driver", CheckState::kMissing, "libcuda.so.1 not found",
            "install the NVIDIA driver; in a container, start it with --gpus all"};
  const auto version_of = cuda.function<int (*)(int*)>("cuDriverGetVersion");
  int version = 0;
  if (version_of == nullptr || version_of(&version) != 0)
    return {"NVIDIA", "driver", CheckState::kLimited, "libcuda.so.1 does not answer",
            "check nvidia-smi"};
  return {"NVIDIA", "driver", CheckState::kOk,
          fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10), ""};
}

Check check_management() {
  const Library nvml("libnvidia-ml.so.1");
  if (!nvml.loaded())
    return {"NVIDIA", "nvml", CheckState::kMissing, "libnvidia-ml.so.1 not found",
            "install the NVIDIA driver; in a container, allow the utility capability; only to "
            "record the GPUs' load, clocks, power and memory"};
  const auto start = nvml.function<int (*)()>("nvmlInit_v2");
  const auto count_of = nvml.function<int (*)(unsigned*)>("nvmlDeviceGetCount_v2");
  const auto stop = nvml.function<int (*)()>("nvmlShutdown");
  if (start == nullptr || count_of == nullptr || stop == nullptr || start() != 0)
    return {"NVIDIA", "nvml", CheckState::kLimited, "libnvidia-ml.so.1 does not answer",
            "check nvidia-smi"};
  unsigned count = 0;
  const bool counted = count_of(&count) == 0;
  stop();
  if (!counted || count == 0)
    return {"NVIDIA", "nvml", CheckState::kLimited, "no GPU is visible",
            "check CUDA_VISIBLE_DEVICES and nvidia-smi"};
  return {"NVIDIA", "nvml", CheckState::kOk,
          fmt::format("{} GPU: load, clocks, power, memory, temperature", count), ""};
}

// Where CUPTI lies when it is not in the loader's path: a toolkit, or pip's wheel in a Python tree.
std::vector<std::string> cupti_folders() {
  std::vector<std::string> folders;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string home = environment(name); !home.empty())
      folders.push_back(home + "/extras/CUPTI/lib64");
  }
  folders.emplace_back("/usr/local/cuda/extras/CUPTI/lib64");
  std::vector<std::string> trees = {"/usr/lib", "/usr/local/lib"};
  if (const std::string venv = environment("VIRTUAL_ENV"); !venv.empty())
    trees.push_back(venv + "/lib");
  if (const std::string conda = environment("CONDA_PREFIX"); !conda.empty())
    trees.push_back(conda + "/lib");
  for (const std::string& tree : trees) {
    std::error_code error;
    for (const fs::path& python : paths_in(tree, error)) {
      if (!python.filename().string().starts_with("python3")) continue;
      for (const char* packages : {"site-packages", "dist-packages"}) {
        for (const char* wheel : {"cuda_cupti", "cu13"}) {
          folders.push_back((python / packages / "nvidia" / wheel / "lib").string());
        }
      }
    }
  }
  return folders;
}

Check check_cupti() {
  const char* const kNames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8",
                                "libcupti.so"};
  const auto answer = [](const Library& library, const std::string& where) {
    const auto version_of = library.function<int (*)(uint32_t*)>("cuptiGetVersion");
    uint32_t version = 0;
    if (version_of == nullptr || version_of(&version) != 0)
      return Check{"NVIDIA", "CUPTI", CheckState::kLimited, where + " does not answer",
                   "install the CUPTI that fits the driver: pip install nvidia-cuda-cupti-cu12"};
    return Check{"NVIDIA", "CUPTI", CheckState::kOk,
                 fmt::format("{}, API version {}", where, version), ""};
  };
  for (const char* name : kNames) {
    const Library library(name);
    if (library.loaded()) return answer(library, name);
  }
  for (const std::string& folder : cupti_folders()) {
    for (const char* name : kNames) {
      const std::string path = folder + "/" + name;
      if (access(path.c_str(), R_OK) != 0) continue;
      const Library library(path);
      if (library.loaded()) return answer(library, path);
      return {"NVIDIA", "CUPTI", CheckState::kLimited, path + " cannot be loaded",
              "install the libraries that ldd says are missing: ldd " + path};
    }
  }
  return {"NVIDIA", "CUPTI", CheckState::kMissing, "libcupti.so not found",
          "pip install nvidia-cuda-cupti-cu12, or put the toolkit's extras/CUPTI/lib64 into "
          "LD_LIBRARY_PATH; only to record GPU work"};
}

std::string in_path(const std::string& program) {
  std::string folders = environment("PATH");
  folders += ':';
  for (size_t first = 0, colon = 0; (colon = folders.find(':', first)) != std::string::npos;
       first = colon + 1) {
    const std::string path = folders.substr(first, colon - first) + "/" + program;
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

// As the analysis looks for it: python/stepscope/profiler/msprof.py.
std::string find_msprof() {
  if (std::string path = in_path("msprof"); !path.empty()) return path;
  for (const char* name : {"ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH"}) {
    for (const char* inside : {"/bin/msprof", "/tools/profiler/bin/msprof"}) {
      const std::string home = environment(name);
      if (!home.empty() && access((home + inside).c_str(), X_OK) == 0) return home + inside;
    }
  }
  const std::string latest = "/usr/local/Ascend/latest/tools/profiler/bin/msprof";
  return access(latest.c_str(), X_OK) == 0 ? latest : std::string();
}

Check check_npus() {
  size_t count = 0;
  std::error_code error;
  for (const fs::path& path : paths_in("/dev", error)) {
    const std::string name = path.filename().string();
    const bool numbered = name.size() > 7 && name.find_first_not_of("0123456789", 7) == name.npos;
    if (name.starts_with("davinci") && numbered) ++count;
  }
  if (count > 0)
    return {"Ascend", "devices", CheckState::kOk, fmt::format("{} in /dev", count), ""};
  return {"Ascend", "devices", CheckState::kMissing, "no /dev/davinci*",
          "install the driver; in a container, pass the devices on"};
}

}  // namespace

std::vector<Check> check_nvidia() { return {check_driver(), check_management(), check_cupti()}; }

std::vector<Check> check_ascend() {
  const std::string kSource = "source /usr/local/Ascend/ascend-toolkit/set_env.sh";
  std::vector<Check> checks = {check_npus()};
  const std::string home = environment("ASCEND_HOME_PATH");
  checks.push_back(home.empty()
                       ? Check{"Ascend", "ASCEND_HOME_PATH", CheckState::kMissing, "not set",
                               "install CANN, then: " + kSource + "; only to record NPU work"}
                       : Check{"Ascend", "ASCEND_HOME_PATH", CheckState::kOk, home, ""});
  const Result<ascend::AclLibrary>& cann = ascend::AclLibrary::open();
  if (cann) {
    checks.push_back({"Ascend", "CANN", CheckState::kOk, cann->path, ""});
  } else {
    const Error& error = cann.error();
    checks.push_back({"Ascend", "CANN",
                      error.where.empty() ? CheckState::kMissing : CheckState::kLimited,
                      (error.where.empty() ? "" : error.where + ": ") + error.why,
                      "install CANN, then: " + kSource + "; only to record NPU work"});
  }
  const std::string msprof = find_msprof();
  checks.push_back(msprof.empty() ? Check{"Ascend", "msprof", CheckState::kMissing, "not found",
                                          "install CANN, then: " + kSource +
                                              "; only to export raw PROF_ folders"}
                                  : Check{"Ascend", "msprof", CheckState::kOk, msprof, ""});
  return checks;
}

}  // namespace stepscope
