// stepscope record -- COMMAND: records a program without touching it.
//
// The program's processes record themselves: CUDA loads our injected library into each one that
// uses a GPU, those that use record.h start with the library, and Python puts our profiler in the
// place of MindSpore's and, if asked to, records the NPU that MindSpore or torch_npu uses. All this
// command does is to set the environment, wait, and say what came of it.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/recorded_run.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string output = "stepscope_runs";
  std::string tier = "kernels";
  std::string npu_level;
  // Of what is not given the program's own Stepscope has the default.
  std::optional<int> system_interval_ms;
  std::optional<double> max_host_mb;
  std::optional<double> max_disk_gb;
  std::optional<double> min_free_gb;
  bool watch = false;
  double slow_factor = 1.5;
  int slow_steps = 3;
  double no_progress_s = 60;
  double keep_seconds = 10;
  int capture_steps = 5;
  double capture_seconds = 30;
  int at_most = 3;
  std::vector<std::string> command;
};

fs::path this_program() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error);
}

Result<std::string> injected_library() {
  std::error_code error;
  const fs::path program = this_program();
  for (const char* const place : {"lib", "../lib", ".", "../stepscope/lib"}) {
    const fs::path library = program.parent_path() / place / "libstepscope_injection.so";
    if (fs::exists(library, error)) return fs::weakly_canonical(library, error).string();
  }
  return Error{ErrorCode::kNotFound, "cannot record", "libstepscope_injection.so",
               "it is not beside the program " + program.string(),
               "install Stepscope completely, or build the target stepscope_injection"};
}

// What Python runs before the program (sitecustomize.py): in a checkout, or beside a package. Empty
// where this program stands alone; MindSpore's profiler is not replaced then.
std::string injected_python() {
  std::error_code error;
  for (const char* const place : {"../python/stepscope", "../stepscope"}) {
    const fs::path folder = this_program().parent_path() / place / "mindspore" / "inject";
    if (fs::exists(folder / "sitecustomize.py", error))
      return fs::weakly_canonical(folder, error).string();
  }
  return "";
}

void put_first_on_python_path(const std::string& folder) {
  if (folder.empty()) return;
  const char* const others = ::getenv("PYTHONPATH");
  const bool alone = others == nullptr || *others == '\0';
  ::setenv("PYTHONPATH", alone ? folder.c_str() : (folder + ":" + others).c_str(), 1);
}

std::atomic<pid_t> recorded_program = 0;

// A terminal sends its signals (Ctrl-C) to the program as well. Supervisors and batch systems send
// theirs to this process alone.
extern "C" void stepscope_pass_on(int signal, siginfo_t* info, void*) {
  const pid_t program = recorded_program.load();
  const int before = errno;
  if (program > 0 && info->si_code <= 0) ::kill(program, signal);
  errno = before;
}

// While it lives, signals that end programs or tell them something are the recorded program's.
class PassedOnSignals {
 public:
  PassedOnSignals() {
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int signal : kSignals) ::sigaddset(&signals, signal);
    ::sigprocmask(SIG_BLOCK, &signals, &mask_before_);
  }
  ~PassedOnSignals() {
    if (recorded_program.exchange(0) == 0) {
      ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
      return;
    }
    for (size_t at = 0; at < std::size(kSignals); ++at)
      ::sigaction(kSignals[at], &before_[at], nullptr);
  }
  PassedOnSignals(const PassedOnSignals&) = delete;
  PassedOnSignals& operator=(const PassedOnSignals&) = delete;

  // In the child, until it has become the program: this one's own handlers are none of its.
  void in_program() const {
    for (const int signal : kSignals) {
      struct sigaction own = {};
      ::sigaction(signal, nullptr, &own);
      if (own.sa_handler != SIG_IGN) ::signal(signal, SIG_DFL);
    }
    ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
  }
  void pass_on_to(pid_t program) {
    recorded_program = program;
    struct sigaction action = {};
    action.sa_sigaction = stepscope_pass_on;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    for (size_t at = 0; at < std::size(kSignals); ++at) {
      ::sigaction(kSignals[at], &action, &before_[at]);
      if (before_[at].sa_handler == SIG_IGN)  // nohup: of the program, too
        ::sigaction(kSignals[at], &before_[at], nullptr);
    }
    ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
  }

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
  sigset_t mask_before_;
  struct sigaction before_[std::size(kSignals)] = {};
};

struct Ended {
  int code = 0;  // as a shell would give it
  bool started = true;
};

Result<Ended> run_command(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  int ends[2];  // through which the child says why it did not become the program
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("cannot start the command", "pipe", errno);
  PassedOnSignals signals;
  const pid_t child = ::fork();
  if (child < 0) return system_error("cannot start the command", command[0], errno);
  if (child == 0) {
    signals.in_program();
    ::execvp(words[0], words.data());
    const int failed = errno;
    (void)!::write(ends[1], &failed, sizeof failed);
    ::_exit(failed == ENOENT ? 127 : 126);
  }
  ::close(ends[1]);
  signals.pass_on_to(child);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  int failed = 0;
  const bool started = ::read(ends[0], &failed, sizeof failed) != sizeof failed;
  ::close(ends[0]);
  if (!started) {
    fmt::print(stderr, "stepscope: {}\n",
               system_error("cannot start the command", command[0], failed).message());
  }
  return Ended{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), started};
}

// What a tier takes from the program, as measured in docs/performance.md; said before it starts.
std::string estimate(const Options& options) {
  const char* kernels = "1 to 2 µs of the launching thread for each kernel";
  if (options.tier == "pulse") kernels = "nothing for a kernel";
  if (options.tier == "full") kernels = "3 to 5 µs of the launching thread for each kernel";
  return fmt::format(
      "estimated cost {}, 25 ns and at most 10 bytes for each range; at most {:g} MB of memory and "
      "{:g} GB of disk for each process",
      kernels, options.max_host_mb.value_or(256), options.max_disk_gb.value_or(10));
}

// What the environment of a program says so that its Python watches it (docs/triggers.md).
Status ask_for_watch(const Options& options, const std::string& output) {
  for (const char* const name : {"STEPSCOPE_OPTIONS", "MS_PROFILER_OPTIONS"}) {
    if (::getenv(name) != nullptr)
      return usage_error(fmt::format("--watch, and {} is set: a process is recorded once", name),
                         fmt::format("unset {}, or leave --watch out", name));
  }
  const std::string python = injected_python();
  if (python.empty())
    return Error{ErrorCode::kNotFound, "cannot watch", "sitecustomize.py",
                 "it is not beside the program " + this_program().string(),
                 "install Stepscope completely"};
  nlohmann::json rules = {{"slow_step", nullptr},
                          {"no_progress_s", nullptr},
                          {"keep_seconds", options.keep_seconds},
                          {"capture_steps", options.capture_steps},
                          {"capture_seconds", options.capture_seconds},
                          {"at_most", options.at_most}};
  if (options.slow_factor > 0)
    rules["slow_step"] = {{"factor", options.slow_factor}, {"steps", options.slow_steps}};
  if (options.no_progress_s > 0) rules["no_progress_s"] = options.no_progress_s;
  nlohmann::json asked = {{"start", true}, {"output_path", output}, {"watch", rules}};
  const auto ask = [&](const char* name, const auto& value) {
    if (value) asked[name] = *value;
  };
  ask("system_interval_ms", options.system_interval_ms);
  ask("max_host_mb", options.max_host_mb);
  ask("max_disk_gb", options.max_disk_gb);
  ask("min_free_gb", options.min_free_gb);
  ::setenv("STEPSCOPE_OPTIONS", write_json(asked).c_str(), 1);
  ::setenv("STEPSCOPE_WATCH", "1", 1);
  put_first_on_python_path(python);
  return {};
}

Status ask_for_recording(const Options& options, const std::string& output) {
  auto library = injected_library();
  if (!library) return std::move(library.error());
  ::setenv("STEPSCOPE_OUTPUT", output.c_str(), 1);
  ::setenv("STEPSCOPE_TIER", options.tier.c_str(), 1);
  if (!options.npu_level.empty()) ::setenv("STEPSCOPE_NPU", options.npu_level.c_str(), 1);
  const auto ask = [](const char* name, const auto& value) {
    if (value) ::setenv(name, fmt::format("{}", *value).c_str(), 1);
  };
  ask("STEPSCOPE_SYSTEM_INTERVAL_MS", options.system_interval_ms);
  ask("STEPSCOPE_MAX_HOST_MB", options.max_host_mb);
  ask("STEPSCOPE_MAX_DISK_GB", options.max_disk_gb);
  ask("STEPSCOPE_MIN_FREE_GB", options.min_free_gb);
  ::setenv("CUDA_INJECTION64_PATH", library->c_str(), 1);
  ::setenv("NVTX_INJECTION64_PATH", library->c_str(), 0);  // another tool's is left alone
  put_first_on_python_path(injected_python());
  return {};
}

// The variable that asks for a profiler in the program; "" where none does.
std::string profiler_options() {
  for (const char* const name : {"STEPSCOPE_OPTIONS", "MS_PROFILER_OPTIONS"}) {
    const char* const value = ::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const auto start = json_tree(value);
    if (start.is_object() && start.value("start", nlohmann::json()) == true) return name;
  }
  return "";
}

Status record(const Options& options, int& exit_code) {
  std::error_code error;
  fs::create_directories(options.output, error);
  if (error) return system_error("cannot create", options.output, error.value());
  const std::string output = fs::absolute(options.output, error).string();
  const std::set<std::string> before = runs_in(output);
  if (Status asked =
          options.watch ? ask_for_watch(options, output) : ask_for_recording(options, output);
      !asked)
    return asked;
  if (options.watch)
    fmt::print(stderr, "stepscope: watching; what happens is captured into {}\n", output);
  else
    fmt::print(stderr, "stepscope: recording into {}: {}\n", output, estimate(options));
  auto ended = run_command(options.command);
  if (!ended) return std::move(ended.error());
  exit_code = ended->code;
  if (!ended->started) return {};

  std::vector<std::string> runs;
  std::ranges::set_difference(runs_in(output), before, std::back_inserter(runs));
  // On stderr: the program's own output may be going into a pipe.
  if (runs.empty() && options.watch) {
    fmt::print(stderr,
               "stepscope: nothing was captured: nothing happened, or the program imports neither "
               "PyTorch nor MindSpore nor stepscope\n");
  } else if (runs.empty()) {
    fmt::print(stderr,
               "stepscope: nothing was recorded: the program used neither a CUDA device nor "
               "Stepscope's own functions{}\n",
               profiler_options().empty()
                   ? ". For a program with PyTorch or MindSpore on processors alone, put "
                     "STEPSCOPE_OPTIONS='{\"start\": true}' in front of the command"
                   : "");
  }
  bool options_are_read = options.watch || profiler_options().empty();
  for (const std::string& path : runs) {
    auto run = read_recorded_run(path);
    fmt::print(stderr, "stepscope: {}: {}\n", path, run ? describe(*run) : run.error().message());
    if (!run) continue;
    options_are_read |= run->has_profiler;
    if (Status written = write_profiler_info(*run); !written)
      fmt::print(stderr, "stepscope: {}\n", written.error().message());
  }
  if (!options_are_read)
    fmt::print(stderr,
               "stepscope: {} had no effect: it is read when a Python program imports PyTorch, "
               "MindSpore or stepscope\n",
               profiler_options());
  return {};
}

}  // namespace

void add_record_command(Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App* command = program.app.add_subcommand(
      "record", "run a program and record it: stepscope record -- python train.py");
  command->add_option("-o,--output", options->output,
                      "folder for the runs; default: stepscope_runs");
  auto* const tier =
      command
          ->add_option(
              "--tier", options->tier,
              "what of the GPU: pulse (memory, collectives), kernels (and copies), full (and "
              "runtime calls); default: kernels")
          ->check(CLI::IsMember({"pulse", "kernels", "full"}));
  auto* const npu =
      command
          ->add_option(
              "--npu", options->npu_level,
              "also the Ascend NPU, from the import of MindSpore or torch_npu to the end: "
              "level0 (kernels), level1 (and counters, AscendCL), level2 (and the runtime); "
              "default: in the windows of the program's own profiler only")
          ->check(CLI::IsMember({"level0", "level1", "level2"}));
  command
      ->add_option("--system-interval-ms", options->system_interval_ms,
                   "milliseconds between samples of processor, memory, disk, network and NVML; "
                   "default: 1000")
      ->check(between(1, 60'000));
  const auto bound = [&](const char* name, auto& value, const char* text) {
    command->add_option(name, value, text)->check(between(1e-3, double{1 << 21}));
  };
  bound("--max-host-mb", options->max_host_mb, "memory of a recording; default: 256");
  bound("--max-disk-gb", options->max_disk_gb, "disk of a recording; default: 10");
  bound("--min-free-gb", options->min_free_gb, "disk that stays free; default: 1");
  auto* const watch = command->add_flag(
      "--watch", options->watch,
      "write nothing until a step is slow, nothing goes on, an allocation fails or a signal comes; "
      "for Python programs with PyTorch, MindSpore or stepscope (docs/triggers.md)");
  watch->excludes(tier)->excludes(npu);  // Profiler's defaults; CANN writes all the time
  const auto rule = [&](const char* name, auto& value, const char* text) {
    command->add_option(name, value, text)
        ->check(CLI::NonNegativeNumber)
        ->needs(watch)
        ->capture_default_str();
  };
  rule("--slow-factor", options->slow_factor, "a step is slow above this many medians; 0: never");
  rule("--slow-steps", options->slow_steps, "... so many in a row");
  rule("--no-progress", options->no_progress_s, "seconds without a step; 0: never");
  rule("--keep", options->keep_seconds, "seconds before the last step");
  rule("--capture-steps", options->capture_steps, "steps behind the trigger");
  rule("--capture-seconds", options->capture_seconds, "... or seconds, whichever comes first");
  rule("--at-most", options->at_most, "captures within an hour");
  command->add_option("COMMAND", options->command, "the program and its arguments, behind --")
      ->required();
  command->callback([&program, options] {
    program.work = [&program, options] { return record(*options, program.exit_code); };
  });
}

}  // namespace stepscope
