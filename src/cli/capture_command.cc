// stepscope capture: asks the ranks of a running training to record some steps, and tells what each
// of them makes of it.
#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/selection.h"
#include "cli/terminal.h"
#include "control/capture.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

struct Options {
  std::string target;
  std::string steps;
  std::string ranks;
  std::string authority;
  CaptureWish wish;
  Following following;
  bool status = false;
  bool json = false;
};

Result<StepWindow> parse_steps(const std::string& text) {
  auto numbers = parse_numbers(text);
  if (!numbers || numbers->empty() || numbers->front() < 1)
    return usage_error("--steps must be a step or a range of them, like 10-12, not " + text,
                       "the first step is 1");
  const StepWindow steps{numbers->front(), numbers->back()};
  if (steps.last - steps.first + 1 != static_cast<int64_t>(numbers->size()))
    return usage_error("--steps must be one range, like 10-12, not " + text);
  return steps;
}

std::string ranks_text(const WatchingRanks& ranks, const std::string& id) {
  std::string out = fmt::format("{:>5} {:<16} {:>8} {:<13} {:>8}  {}\n", "rank", "host", "process",
                                "state", "step", "output");
  for (const WatchingRank& rank : ranks) {
    const std::string state =
        !id.empty() ? capture_state(rank, id) : (rank.alive ? rank.state : std::string("gone"));
    out += fmt::format("{:>5} {:<16} {:>8} {:<13} {:>8}  {}\n", rank.rank, rank.host, rank.process,
                       state, rank.step, rank.output.empty() ? "-" : rank.output);
    if (!rank.error.empty()) out += fmt::format("{:>5} {}\n", "", rank.error);
  }
  return out;
}

std::string summary_text(const StepWindow& steps, const WatchingRanks& ranks,
                         const std::string& id) {
  std::map<std::string, int> counts;
  for (const WatchingRank& rank : ranks) ++counts[capture_state(rank, id)];
  std::string out = fmt::format("{}: {} matched", steps_text(steps), ranks.size());
  for (const auto& [state, count] : counts)
    if (state != "matched") out += fmt::format(", {} {}", count, state);
  return out + "\n";
}

nlohmann::ordered_json ranks_json(const WatchingRanks& ranks, const std::string& id) {
  auto out = nlohmann::ordered_json::array();
  for (const WatchingRank& rank : ranks) {
    out.push_back(
        {{"rank", rank.rank},
         {"host", rank.host},
         {"process", rank.process},
         {"state", id.empty() ? (rank.alive ? rank.state : "gone") : capture_state(rank, id)},
         {"step", rank.step},
         {"steps_per_second", rank.steps_per_second},
         {"output", rank.output},
         {"error", rank.error}});
  }
  return out;
}

Status print(const Options& options, const WatchedPlaces& places, const StepWindow& steps,
             const WatchingRanks& ranks, const std::string& id) {
  if (options.json) {
    nlohmann::ordered_json out{{"place", place_names(places)}, {"request", id}};
    if (!id.empty()) out["steps"] = {steps.first, steps.last};
    out["ranks"] = ranks_json(ranks, id);
    return write_out(write_json(out, 2) + "\n");
  }
  return write_out((id.empty() ? place_names(places) + "\n" : summary_text(steps, ranks, id)) +
                   ranks_text(ranks, id));
}

// --steps and --ranks.
Status read_choices(Options& options) {
  auto ranks = parse_numbers(options.ranks);
  if (!ranks) return usage_error("--ranks must be like 0,4-7, not " + options.ranks);
  options.wish.ranks = std::move(*ranks);
  if (options.steps.empty()) return {};
  auto steps = parse_steps(options.steps);
  if (!steps) return std::move(steps.error());
  options.wish.steps = *steps;
  return {};
}

Status run_capture(Options& options, Program& program) {
  if (Status status = read_choices(options); !status) return status;
  auto places = find_watched_places(options.target, options.authority);
  if (!places) return std::move(places.error());
  if (options.status) {
    auto ranks = all_ranks(*places);
    if (!ranks) return std::move(ranks.error());
    return print(options, *places, {}, *ranks, "");
  }
  Following following = options.following;
  following.cancelled = [&] { return program.progress.cancelled(); };
  following.on_asked = [&](const AskedCapture& asked, int attempt) {
    if (options.json) return;
    fmt::print(stderr, "stepscope: {}{} of {} rank{}, {}\n",
               attempt > 1 ? "these were over before the ranks saw it; now " : "",
               steps_text(asked.steps), asked.ranks.size(), asked.ranks.size() == 1 ? "" : "s",
               place_names(*places));
  };
  const auto asked = capture(*places, options.wish, following);
  if (!asked) return asked.error();
  for (const WatchingRank& rank : asked->ranks) {
    const std::string state = capture_state(rank, asked->id);
    // A window that ended early, at a limit or a full disk, is finished with an error.
    if (state == "missed" || state == "gone" || (following.to_the_end && state != "finished") ||
        (state == "finished" && !rank.error.empty()))
      program.exit_code = kExitFailure;
  }
  return print(options, *places, asked->steps, asked->ranks, asked->id);
}

}  // namespace

void add_capture_command(Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App* command = program.app.add_subcommand(
      "capture", "record some steps of a training that runs: stepscope capture dyn_cfg --next 3");
  command
      ->add_option("TARGET", options->target,
                   "the folder that the ranks watch (cfg_path), a process of theirs, a job's name, "
                   "or control sockets: HOST:PORT,...")
      ->required();
  auto* const steps = command->add_option("--steps", options->steps, "which, like 10-12");
  command
      ->add_option("--next", options->wish.next,
                   "this many, from a step on that all ranks can reach; default: 3")
      ->check(between(int64_t{1}, kMostNextSteps))
      ->excludes(steps);
  command->add_option("--level", options->wish.level, "what of the device: 0, 1 or 2")
      ->check(between(0, 2));
  command->add_flag("--with-stack", options->wish.with_stack, "and Python's call stacks");
  command->add_option("--ranks", options->ranks, "which ranks, like 0,4-7; default: all");
  command->add_flag("--analyse", options->wish.analyse,
                    "the ranks also write ASCEND_PROFILER_OUTPUT, while they train on");
  command->add_flag("--wait", options->following.to_the_end, "until all of them are done");
  command->add_option("--timeout", options->following.timeout_seconds,
                      "with --wait: at most, in seconds");
  command->add_flag("--replace", options->wish.replace,
                    "also when steps that were asked for before are not recorded yet");
  command->add_flag("--status", options->status, "only tell how the ranks are");
  command->add_option("--ca", options->authority,
                      "certificate, PEM, that those of control sockets are checked with");
  command->add_flag("--json", options->json, "for programs");
  command->callback([&program, options] {
    program.work = [&program, options] { return run_capture(*options, program); };
  });
}

}  // namespace stepscope
