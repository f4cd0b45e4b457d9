#include "cli/machine_checks.h"

#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <duckdb.h>
#include <fmt/format.h>
#include <isa-l.h>
#include <sqlite3.h>
#include <zstd.h>

#include "base/parallel.h"
#include "base/user_folder.h"
#include "cli/terminal.h"
#include "cli/version.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kEnoughDisk = 5'000'000'000;
constexpr uint64_t kEnoughMemory = 2'000'000'000;

// The first line of a small file, "" when it cannot be read.
std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

uint64_t memory_available() {
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word;) {
    uint64_t kilobytes = 0;
    if (word == "MemAvailable:" && file >> kilobytes) return kilobytes << 10;
  }
  return 0;
}

Check check_disk() {
  const std::string cache = cache_folder();
  const std::string wanted = cache.empty() ? temporary_user_folder() : cache;
  // The folder is made when it is first needed; what counts is the nearest one that exists.
  fs::path folder = wanted;
  std::error_code error;
  while (!fs::exists(folder, error) && folder.has_parent_path() && folder != folder.parent_path()) {
    folder = folder.parent_path();
  }
  struct statvfs info{};
  if (statvfs(folder.c_str(), &info) != 0)
    return {"machine", "disk", CheckState::kLimited, wanted + ": cannot be examined",
            "set XDG_CACHE_HOME to a folder you can write"};
  const uint64_t free_bytes = static_cast<uint64_t>(info.f_bavail) * info.f_frsize;
  if (access(folder.c_str(), W_OK) != 0)
    return {"machine", "disk", CheckState::kLimited, wanted + ": not writable",
            "set XDG_CACHE_HOME to a folder you can write"};
  Check check{"machine", "disk", CheckState::kOk,
              fmt::format("{} free for stores in {}", bytes_text(free_bytes), wanted), ""};
  if (free_bytes < kEnoughDisk) {
    check.state = CheckState::kLimited;
    check.remedy =
        "free some space or set XDG_CACHE_HOME to a larger disk; a store takes about "
        "8 % of its trace";
  }
  return check;
}

Check check_cpu() {
  const std::string detail =
      fmt::format("{} of {} cores usable", available_cpus(), sysconf(_SC_NPROCESSORS_ONLN));
#if defined(__x86_64__)
  std::string features;
  bool fast_checksums = false;
  __builtin_cpu_init();
  const auto note = [&](bool has, const char* name) {
    if (has) features += std::string(features.empty() ? "" : " ") + name;
  };
  fast_checksums = __builtin_cpu_supports("sse4.2") != 0;
  note(fast_checksums, "sse4.2");
  note(__builtin_cpu_supports("avx2") != 0, "avx2");
  note(__builtin_cpu_supports("bmi2") != 0, "bmi2");
  note(__builtin_cpu_supports("avx512bw") != 0, "avx512bw");
  const std::string clock =
      first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  Check check{"machine", "cpu", CheckState::kOk,
              fmt::format("{}; {}{}", detail, features, clock.empty() ? "" : "; clock " + clock),
              ""};
  if (!fast_checksums) {
    check.state = CheckState::kLimited;
    check.remedy = "nothing to do: import is slower without sse4.2";
  }
  return check;
#else
  return {"machine", "cpu", CheckState::kOk, detail, ""};
#endif
}

Check check_memory() {
  const uint64_t total = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                         static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE));
  const uint64_t available = memory_available();
  Check check{"machine", "memory", CheckState::kOk,
              fmt::format("{} of {} available", bytes_text(available), bytes_text(total)), ""};
  if (available < kEnoughMemory) {
    check.state = CheckState::kLimited;
    check.remedy = "import large traces with --memory-mb and --jobs 1";
  }
  return check;
}

Check check_perf_events() {
  const std::string text = first_line("/proc/sys/kernel/perf_event_paranoid");
  if (text.empty())
    return {"permissions", "perf_event_paranoid", CheckState::kLimited, "this kernel has none",
            "CPU sampling needs a kernel with perf events"};
  const int level = atoi(text.c_str());
  if (level <= 2 || geteuid() == 0)
    return {"permissions", "perf_event_paranoid", CheckState::kOk, text + ": CPU sampling works",
            ""};
  return {"permissions", "perf_event_paranoid", CheckState::kLimited,
          text + ": CPU sampling is for administrators",
          "sudo sysctl kernel.perf_event_paranoid=2"};
}

Check check_ptrace() {
  const std::string text = first_line("/proc/sys/kernel/yama/ptrace_scope");
  if (text.empty() || text == "0" || geteuid() == 0)
    return {"permissions", "ptrace_scope", CheckState::kOk,
            text.empty() ? "not restricted" : text + ": attaching to a process works", ""};
  return {"permissions", "ptrace_scope", CheckState::kLimited,
          text + ": only children can be attached to",
          "start the job through stepscope, or sudo sysctl kernel.yama.ptrace_scope=0"};
}

Check check_gpu_counters() {
  std::ifstream file("/proc/driver/nvidia/params");
  if (!file)
    return {"permissions", "GPU counters", CheckState::kMissing, "no NVIDIA driver is loaded",
            "install the NVIDIA driver; only for hardware counters of GPUs"};
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("RmProfilingAdminOnly")) continue;
    if (line.ends_with(" 0") || geteuid() == 0)
      return {"permissions", "GPU counters", CheckState::kOk, "open to this user", ""};
    return {"permissions", "GPU counters", CheckState::kLimited, "for administrators only",
            "as root: echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' > "
            "/etc/modprobe.d/nvidia-profiling.conf, rebuild the initramfs, restart"};
  }
  return {"permissions", "GPU counters", CheckState::kLimited, "the driver does not say",
          "update the NVIDIA driver to 418.43 or newer"};
}

// The output of a short command, "" when it fails. Only fixed commands are run.
std::string output_of(const char* command) {
  FILE* pipe = popen(command, "r");
  if (pipe == nullptr) return {};
  std::string text;
  char buffer[256];
  while (fgets(buffer, sizeof buffer, pipe) != nullptr) text += buffer;
  const bool ok = pclose(pipe) == 0;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return ok ? text : std::string();
}

}  // namespace

const char* check_state_name(CheckState state) {
  switch (state) {
    case CheckState::kOk:
      return "ok";
    case CheckState::kLimited:
      return "limited";
    case CheckState::kMissing:
      return "missing";
  }
  return "";
}

std::vector<Check> check_libraries() {
  const auto ok = [](const char* name, std::string detail) {
    return Check{"libraries", name, CheckState::kOk, std::move(detail), ""};
  };
  return {ok("stepscope", kVersion), ok("duckdb", duckdb_library_version()),
          ok("zstd", ZSTD_versionString()), ok("sqlite", sqlite3_libversion()),
          ok("isa-l",
             fmt::format("{}.{}.{}", ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION, ISAL_PATCH_VERSION))};
}

std::vector<Check> check_hardware() { return {check_cpu(), check_memory(), check_disk()}; }

std::vector<Check> check_permissions() {
  return {check_perf_events(), check_ptrace(), check_gpu_counters()};
}

std::vector<Check> check_python() {
  const std::string version = output_of("python3 --version 2>/dev/null");
  if (version.empty())
    return {{"Python", "python3", CheckState::kMissing, "not in PATH",
             "apt-get install python3; only for the Python package"}};
  std::vector<Check> checks = {{"Python", "python3", CheckState::kOk, version, ""}};
  // Found without importing: importing a framework takes seconds and may start a device.
  const std::string found = output_of(
      "python3 -c \"import importlib.metadata as m\n"
      "for p in ('torch','torch_npu','mindspore','stepscope'):\n"
      "    try: print(p, m.version(p))\n"
      "    except Exception: print(p, '-')\" 2>/dev/null");
  std::istringstream lines(found);
  for (std::string name, number; lines >> name >> number;) {
    const bool there = number != "-";
    std::string remedy;
    if (!there && name == "stepscope") remedy = "pip install . in Stepscope's folder";
    if (!there && name != "stepscope")
      remedy = "pip install " + name + "; only to record its jobs on this machine";
    checks.push_back({"Python", name, there ? CheckState::kOk : CheckState::kMissing,
                      there ? number : "not installed for this python3", remedy});
  }
  return checks;
}

}  // namespace stepscope
