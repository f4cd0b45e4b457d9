// A stand-in for CANN's libascendcl.so and libmsprofiler.so: a library of our own that exports the
// functions which the collector looks up, keeps to CANN's rules about their order and arguments,
// and writes a PROF_ folder as CANN does. Loaded through STEPSCOPE_ASCENDCL, or found by its name.
//
// The environment names two files, so that it serves programs as well as tests:
//   FAKE_ASCENDCL_LOG    gets a line for each call, and "VIOLATION: ..." for a broken rule
//   FAKE_ASCENDCL_TOLD   says what to do, and may change while a program runs:
//     fail aclprofInit=100003,aclprofStop=500000   calls that fail, with their codes
//     wait aclprofStop=300                         calls that take so many milliseconds
//     metrics highest=7                            the last group of counters; default 8
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <set>
#include <string>

namespace {

constexpr int kSuccess = 0;
constexpr int kInvalidParameter = 100000;
constexpr int kUninitialized = 100001;
constexpr int kRepeatedInitialize = 100002;
constexpr int kInvalidDevice = 107001;
constexpr int32_t kDevices = 2;
constexpr uint64_t kKnownTypes = 0x7BFF;
constexpr uint32_t kNoMetrics = 0xFF;

struct Config {
  uint32_t device;
  uint64_t types;
};

struct Fake {
  std::mutex mutex;
  pid_t owner = 0;
  bool initialized = false;
  bool any_device = false;
  std::string path;  // not empty: profiling is initialised
  std::set<const Config*> configs;
  const Config* running = nullptr;
  int folders = 0;
};

Fake& fake() {
  static auto* const kFake = new Fake;
  return *kFake;
}

thread_local int32_t current_device = -1;
thread_local std::string last_error;

void log(const std::string& line) {
  const char* const path = std::getenv("FAKE_ASCENDCL_LOG");
  if (path == nullptr) return;
  if (std::FILE* const file = std::fopen(path, "a")) {
    std::fprintf(file, "%s\n", line.c_str());
    std::fclose(file);
  }
}

int violation(const std::string& what, int code = kInvalidParameter) {
  log("VIOLATION: " + what);
  last_error = what;
  return code;
}

// The number behind "name=" in the line that begins with `what`; 0 when it is not there.
long told(const std::string& what, const std::string& name) {
  const char* const path = std::getenv("FAKE_ASCENDCL_TOLD");
  if (path == nullptr) return 0;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(what + " ")) continue;
    const std::string all = "," + line.substr(what.size() + 1);
    const size_t at = all.find("," + name + "=");
    if (at != std::string::npos) return std::atol(all.c_str() + at + name.size() + 2);
  }
  return 0;
}

// What every call does first. Returns the code that it is to fail with, or 0.
int enter(const std::string& call, const std::string& arguments = "") {
  log(arguments.empty() ? call : call + " " + arguments);
  if (const long wait = told("wait", call); wait > 0)
    ::usleep(static_cast<useconds_t>(wait) * 1000);
  {
    Fake& state = fake();
    const std::lock_guard lock(state.mutex);
    if (state.owner == 0) state.owner = ::getpid();
    if (state.owner != ::getpid()) return violation(call + " in a forked child");
  }
  const int code = static_cast<int>(told("fail", call));
  if (code != 0) last_error = "E10001: told to fail\nand more of it";
  return code;
}

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

void write_folder(const std::string& path, uint32_t device, int number) {
  char name[64];
  std::snprintf(name, sizeof name, "/PROF_%06d_20240102030405%03d_ABCDEFGHIJ", number,
                number % 1000);
  const std::string folder = path + name;
  const std::string of_device = folder + "/device_" + std::to_string(device);
  for (const std::string& made :
       {folder, folder + "/host", folder + "/host/data", of_device, of_device + "/data"})
    ::mkdir(made.c_str(), 0750);
  const std::string clocks =
      "[Host]\nclock_monotonic_raw: 1000000000\ncntvct: 5000\nclock_realtime: "
      "1704164645000000000\n";
  const std::string begin =
      R"({"collectionTimeBegin":"1704164645000000","clockMonotonicRaw":"1000000000"})";
  const std::string end =
      R"({"collectionTimeEnd":"1704164646000000","clockMonotonicRaw":"2000000000"})";
  const std::string number_text = std::to_string(device);
  write(folder + "/host/info.json", R"({"pid":")" + std::to_string(::getpid()) + R"("})");
  write(folder + "/host/host_start.log", clocks);
  write(folder + "/host/start_info", begin);
  write(folder + "/host/end_info", end);
  write(folder + "/host/data/unaging.api_event.data.slice_0", std::string(64, '\1'));
  write(of_device + "/info.json." + number_text, R"({"devices":")" + number_text + R"("})");
  write(of_device + "/start_info." + number_text, begin);
  write(of_device + "/end_info." + number_text, end);
  write(of_device + "/data/stars_soc.data." + number_text + ".slice_0", std::string(64, '\2'));
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int aclInit(const char* config) {
  if (const int code = enter("aclInit")) return code;
  if (config != nullptr) return violation("aclInit with a configuration");
  Fake& state = fake();
  const std::lock_guard lock(state.mutex);
  if (state.initialized) return kRepeatedInitialize;
  state.initialized = true;
  return kSuccess;
}

EXPORTED int aclrtGetDevice(int32_t* device) {
  if (const int code = enter("aclrtGetDevice")) return code;
  if (current_device < 0) return kUninitialized;
  *device = current_device;
  return kSuccess;
}

EXPORTED int aclrtSetDevice(int32_t device) {
  if (const int code = enter("aclrtSetDevice", std::to_string(device))) return code;
  Fake& state = fake();
  const std::lock_guard lock(state.mutex);
  if (!state.initialized) return violation("aclrtSetDevice before aclInit", kUninitialized);
  if (device < 0 || device >= kDevices) {
    last_error = "E10002: there is no such device";
    return kInvalidDevice;
  }
  current_device = device;
  state.any_device = true;
  return kSuccess;
}

EXPORTED int aclprofInit(const char* path, size_t length) {
  if (const int code = enter("aclprofInit", path)) return code;
  Fake& state = fake();
  const std::lock_guard lock(state.mutex);
  struct stat about{};
  if (!state.initialized) return violation("aclprofInit before aclInit");
  if (!state.any_device) return violation("aclprofInit before aclrtSetDevice");
  if (!state.path.empty()) return violation("aclprofInit twice");
  if (std::strlen(path) != length) return violation("aclprofInit with a wrong length");
  if (path[0] != '/' || ::stat(path, &about) != 0) return violation("aclprofInit with a bad path");
  state.path = path;
  return kSuccess;
}

EXPORTED int aclprofSetConfig(int setting, const char* value, size_t length) {
  if (const int code =
          enter("aclprofSetConfig", std::to_string(setting) + " " + std::string(value, length)))
    return code;
  Fake& state = fake();
  const std::lock_guard lock(state.mutex);
  if (state.path.empty()) return violation("aclprofSetConfig before aclprofInit");
  if (state.running != nullptr) return violation("aclprofSetConfig behind aclprofStart");
  if (std::strlen(value) != length) return violation("aclprofSetConfig with a wrong length");
  const int hertz = std::atoi(value);
  const bool is_frequency = setting == 3 || setting == 5 || setting == 6;
  if (is_frequency && (hertz < 1 || hertz > (setting == 6 ? 50 : 100)))
    return violation("aclprofSetConfig with a bad frequency");
  if (!is_frequency && setting != 8) return violation("aclprofSetConfig with an unknown setting");
  return kSuccess;
}

EXPORTED void* aclprofCreateConfig(const uint32_t* devices, uint32_t count, uint32_t metrics,
                                   const void* events, uint64_t types) {
  char arguments[96];
  std::snprintf(arguments, sizeof arguments, "device=%u metrics=%u types=0x%llx", devices[0],
                metrics, static_cast<unsigned long long>(types));
  if (enter("aclprofCreateConfig", arguments) != 0) return nullptr;
  Fake& state = fake();
  const std::lock_guard lock(state.mutex);
  const long highest = told("metrics", "highest");
  const auto most = static_cast<uint32_t>(highest == 0 ? 8 : highest);
  if (state.path.empty()) violation("aclprofCreateConfig before aclprofInit");
  if (count != 1 || events != nullptr) violation("aclprofCreateConfig with odd arguments");
  if ((types & ~kKnownTypes) != 0) violation("aclprofCreateConfig with unknown types");
  if (metrics != kNoMetrics && (types & 4) == 0) violation("metrics without AICORE_METRICS");
  if (state.path.empty() || devices[0] >= static_cast<uint32_t>(kDevices)) return nullptr;
  if (metrics != kNoMetrics && metrics > most) return nullptr;
  auto* const config = new Config{devices[0], types};
  state.configs.insert(config);
  return config;
}

EXPORTED int aclprofStart(const Config* config) {
  if (const int code = enter("aclprofStart")) return code;
  Fake& state = fake();
  const std::lock_guard lock(state.mutex);
  if (state.path.empty()) return violation("aclprofStart before aclprofInit");
  if (!state.configs.contains(config))
    return violation("aclprofStart with a foreign configuration");
  if (state.running != nullptr) return violation("aclprofStart twice");
  state.running = config;
  return kSuccess;
}

EXPORTED int aclprofStop(const Config* config) {
  const int code = enter("aclprofStop");
  Fake& state = fake();
  const std::lock_guard lock(state.mutex);
  if (config == nullptr || state.running != config)
    return violation("aclprofStop without its aclprofStart");
  state.running = nullptr;
  if (code == kSuccess) write_folder(state.path, config->device, ++state.folders);
  return code;
}

EXPORTED int aclprofDestroyConfig(const Config* config) {
  if (const int code = enter("aclprofDestroyConfig")) return code;
  Fake& state = fake();
  const std::lock_guard lock(state.mutex);
  if (state.configs.erase(config) == 0) return violation("aclprofDestroyConfig twice");
  if (state.running == config) return violation("aclprofDestroyConfig before aclprofStop");
  delete config;
  return kSuccess;
}

EXPORTED int aclprofFinalize() {
  if (const int code = enter("aclprofFinalize")) return code;
  Fake& state = fake();
  const std::lock_guard lock(state.mutex);
  if (state.path.empty()) return violation("aclprofFinalize before aclprofInit");
  if (state.running != nullptr) return violation("aclprofFinalize before aclprofStop");
  if (!state.configs.empty()) return violation("aclprofFinalize before aclprofDestroyConfig");
  state.path.clear();
  return kSuccess;
}

EXPORTED const char* aclGetRecentErrMsg() { return last_error.c_str(); }
