#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <spawn.h>

#include "api/analyse.h"
#include "cli/command.h"
#include "cli/selection.h"
#include "cli/terminal.h"

extern char** environ;

namespace stepscope {
namespace {

namespace fs = std::filesystem;

constexpr int kNiceness = 10;
constexpr const char* kLogName = "/analyse.stepscope.log";

struct Options {
  std::vector<std::string> paths;
  std::string steps;
  AnalyseOptions analyse;
  bool verbose = false;
  bool in_background = false;
  bool is_background = false;  // this is the process that --async started
};

std::string rank_text(const AnalysedRank& rank, bool verbose) {
  std::string text = fmt::format("rank {}", rank.rank);
  if (rank.window > 0) text += fmt::format(", window {}", rank.window);
  if (!rank.error.empty()) return text + ": " + rank.error + "\n";
  text += fmt::format(": {}\n ", rank.folder);
  for (const std::string& file : rank.files) text += " " + file;
  text += '\n';
  if (!verbose) {
    if (!rank.omitted.empty())
      text += fmt::format("  {} files have no content in this run, --verbose says why\n",
                          rank.omitted.size());
    return text;
  }
  for (const auto& [name, why] : rank.omitted) text += fmt::format("  no {}: {}\n", name, why);
  return text;
}

// Beside the run, else in the folder for temporary files.
std::string log_path(const Options& options) {
  std::error_code error;
  std::string folder = options.analyse.output.empty() ? options.paths[0] : options.analyse.output;
  if (!options.analyse.output.empty()) fs::create_directories(folder, error);
  if (!fs::is_directory(folder, error)) folder = fs::path(folder).parent_path().string();
  if (folder.empty()) folder = ".";
  if (::access(folder.c_str(), W_OK) != 0) folder = fs::temp_directory_path(error).string();
  return folder + kLogName;
}

// The same command in a process of its own, whose output is the log.
Status start_in_background(const Options& options) {
  const std::string log = log_path(options);
  std::vector<std::string> words = {"stepscope", "analyse", "--background"};
  if (!options.steps.empty()) words.insert(words.end(), {"--step-list", options.steps});
  if (options.verbose) words.emplace_back("--verbose");
  if (options.analyse.pretty) words.emplace_back("--pretty");
  if (options.analyse.simplify) words.emplace_back("--simplify");
  if (options.analyse.jobs > 0)
    words.insert(words.end(), {"--jobs", std::to_string(options.analyse.jobs)});
  if (!options.analyse.output.empty()) words.insert(words.end(), {"-o", options.analyse.output});
  words.emplace_back("--");
  words.insert(words.end(), options.paths.begin(), options.paths.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0640);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // Not ended by Ctrl-C or by the end of this terminal's session.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  pid_t pid = 0;
  const int failed =
      posix_spawn(&pid, "/proc/self/exe", &files, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) return system_error("cannot start a process", "/proc/self/exe", failed);
  return write_out(fmt::format("analysing in process {}; progress: {}\n", pid, log));
}

Status analyse(Options& options, Program& program) {
  auto steps = parse_numbers(options.steps);
  if (!steps) return std::move(steps.error());
  options.analyse.steps = std::move(*steps);
  if (options.in_background) return start_in_background(options);
  if (options.is_background) ::setpriority(PRIO_PROCESS, 0, kNiceness);
  const auto ranks = [&] {
    const ProgressDisplay display(program.progress, "importing");
    return analyse_runs(options.paths, options.analyse, program.progress,
                        [&](const AnalysedRank& rank, const AnalyseProgress&) {
                          std::FILE* out = rank.error.empty() ? stdout : stderr;
                          std::fputs(rank_text(rank, options.verbose).c_str(), out);
                          std::fflush(out);
                        });
  }();
  if (!ranks) return ranks.error();
  size_t failed = 0;
  for (const AnalysedRank& rank : *ranks) failed += rank.error.empty() ? 0 : 1;
  if (failed > 0) program.exit_code = kExitFailure;
  if (options.is_background) return write_out(failed > 0 ? "failed\n" : "done\n");
  return {};
}

}  // namespace

void add_analyse_command(Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App* command = program.app.add_subcommand(
      "analyse", "write ASCEND_PROFILER_OUTPUT: trace_view.json, kernel_details.csv ...");
  command->add_option("PATH", options->paths, "runs, or folders of the runs of a job")->required();
  command->add_option("-o,--output", options->analyse.output,
                      "folder for the files; default: in the folder of each run");
  command->add_option("--step-list", options->steps,
                      "steps to write, by their numbers in the run, as 2,5-7; default: all");
  command->add_flag("--pretty", options->analyse.pretty,
                    "indented JSON files, a value a line; trace_view.json is then twice as long");
  command->add_flag("--simplify", options->analyse.simplify,
                    "afterwards remove what CANN's tools can make again from PROF_*/");
  command->add_option("--jobs", options->analyse.jobs, "ranks at once; default: all CPUs")
      ->check(between(1, 4096));
  command->add_flag("--verbose", options->verbose, "say why files are left out");
  command->add_flag("--async", options->in_background,
                    "do it in a process of its own, at low priority, and return at once");
  command->add_flag("--background", options->is_background, "")->group("");
  command->callback([&program, options] {
    program.work = [&program, options] { return analyse(*options, program); };
  });
}

}  // namespace stepscope
