#include "collector/sources/ascend/acl_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string_view>
#include <vector>

namespace stepscope::ascend {
namespace {

constexpr size_t kLongestSentence = 300;  // CANN's may fill a screen

// Where CANN lies when the loader does not find it, best first.
std::vector<std::string> folders() {
  std::vector<std::string> found = {""};
  for (const char* const name : {"ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"}) {
    if (const char* const home = std::getenv(name); home != nullptr && *home != '\0')
      found.push_back(std::string(home) + "/lib64/");
  }
  found.emplace_back("/usr/local/Ascend/ascend-toolkit/latest/lib64/");
  found.emplace_back("/usr/local/Ascend/latest/lib64/");
  return found;
}

struct Opened {
  void* handle = nullptr;
  std::string path;
};

Opened open_by_name(const char* name) {
  for (const std::string& folder : folders()) {
    Opened opened{nullptr, folder + name};
    // Global, as MindSpore and torch_npu open them: CANN's libraries look for each other's symbols.
    opened.handle = ::dlopen(opened.path.c_str(), RTLD_LAZY | RTLD_GLOBAL);
    if (opened.handle != nullptr) return opened;
  }
  return {};
}

template <typename Function>
bool look_up(const std::vector<Opened>& libraries, const char* name, Function*& function,
             std::string* path = nullptr) {
  for (const Opened& library : libraries) {
    function = reinterpret_cast<Function*>(::dlsym(library.handle, name));
    if (function == nullptr) continue;
    if (path != nullptr) *path = library.path;
    return true;
  }
  return false;
}

Error cannot_open(std::string where, std::string why, std::string remedy) {
  return {ErrorCode::kUnsupported, "cannot record the NPU", std::move(where), std::move(why),
          std::move(remedy)};
}

Result<AclLibrary> open_library() {
  std::vector<Opened> libraries;
  if (const char* const chosen = std::getenv("STEPSCOPE_ASCENDCL"); chosen != nullptr && *chosen) {
    libraries.push_back({::dlopen(chosen, RTLD_LAZY | RTLD_LOCAL), chosen});
  } else {
    // Profiling first: older versions of the runtime's library have functions of the same names.
    libraries.push_back(open_by_name("libmsprofiler.so"));
    libraries.push_back(open_by_name("libascendcl.so"));
  }
  std::erase_if(libraries, [](const Opened& library) { return library.handle == nullptr; });
  if (libraries.empty()) {
    return cannot_open("", "CANN's libascendcl.so was not found",
                       "install CANN and source its set_env.sh before the program starts");
  }
  AclLibrary library;
  bool complete = look_up(libraries, "aclprofInit", library.profiling_init, &library.path);
  complete &= look_up(libraries, "aclprofFinalize", library.profiling_finalize);
  complete &= look_up(libraries, "aclprofCreateConfig", library.create_config);
  complete &= look_up(libraries, "aclprofDestroyConfig", library.destroy_config);
  complete &= look_up(libraries, "aclprofSetConfig", library.set_config);
  complete &= look_up(libraries, "aclprofStart", library.start);
  complete &= look_up(libraries, "aclprofStop", library.stop);
  complete &= look_up(libraries, "aclInit", library.init);
  complete &= look_up(libraries, "aclrtGetDevice", library.get_device);
  complete &= look_up(libraries, "aclrtSetDevice", library.set_device);
  if (!complete) {
    return cannot_open(libraries.front().path, "CANN's profiling functions are not all there",
                       "install a CANN that has libmsprofiler.so");
  }
  look_up(libraries, "aclGetRecentErrMsg", library.recent_error);
  return library;
}

}  // namespace

const Result<AclLibrary>& AclLibrary::open() {
  static const auto* const kLibrary = new Result<AclLibrary>(open_library());
  return *kLibrary;
}

std::string AclLibrary::result_text(ReturnCode code) const {
  std::string text = "CANN code " + std::to_string(code);
  const char* const said = recent_error == nullptr ? nullptr : recent_error();
  if (said == nullptr || *said == '\0') return text;
  std::string_view sentence(said);
  sentence = sentence.substr(0, std::min(sentence.find('\n'), kLongestSentence));
  return text + ", " + std::string(sentence);
}

}  // namespace stepscope::ascend
