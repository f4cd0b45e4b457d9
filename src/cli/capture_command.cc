// stepscope capture: asks the ranks of a running training to record some steps, and tells what each
// of them makes of it.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/selection.h"
#include "cli/terminal.h"
#include "cli/watched_folder.h"

namespace stepscope {
namespace {

using Clock = std::chrono::steady_clock;
using Ranks = std::vector<WatchingRank>;

constexpr auto kLook = std::chrono::milliseconds(100);
constexpr double kAnswerSeconds = 3;  // for ranks that see changes at once
constexpr int kAttempts = 3;          // with --next, when ranks were faster than they had said

struct Options {
  std::string target;
  std::string steps;
  int64_t next = 0;
  int level = -1;
  std::string ranks;
  bool with_stack = false;
  bool analyse = false;
  bool wait = false;
  bool replace = false;
  bool status = false;
  bool json = false;
  double timeout_seconds = 0;
};

std::string steps_text(const StepWindow& steps) {
  return steps.first == steps.last ? fmt::format("step {}", steps.first)
                                   : fmt::format("steps {} to {}", steps.first, steps.last);
}

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

// Why no rank can be asked.
Error none_matched(const WatchedFolder& folder, const Ranks& all, const std::string& chosen) {
  Error none{ErrorCode::kNotFound, "0 ranks matched", folder.folder(), "", ""};
  if (all.empty()) {
    none.why = "no rank watches this folder";
    none.remedy =
        "the training makes a stepscope.DynamicProfilerMonitor with this folder as cfg_path; a "
        "relative one counts from where the training was started";
    return none;
  }
  Ranks alive;
  std::ranges::copy_if(all, std::back_inserter(alive), &WatchingRank::alive);
  if (alive.empty()) {
    const auto last = std::ranges::min_element(all, {}, &WatchingRank::age_seconds);
    none.why = fmt::format(
        "{} rank{} watched it and {} gone; the last, rank {} on {} (process {}), "
        "told of itself {:.0f} s ago, after step {}",
        all.size(), all.size() == 1 ? "" : "s", all.size() == 1 ? "is" : "all are", last->rank,
        last->host, last->process, last->age_seconds, last->step);
    none.remedy = "start the training again";
    return none;
  }
  none.why = fmt::format("{} ranks watch it, from {} to {}, but not {}", alive.size(),
                         alive.front().rank, alive.back().rank, chosen);
  none.remedy = "choose others with --ranks, or leave it out";
  return none;
}

// Those that are alive and chosen.
Result<Ranks> matched_ranks(const WatchedFolder& folder, const std::vector<int64_t>& chosen,
                            const std::string& chosen_text) {
  auto all = folder.ranks();
  if (!all) return std::move(all.error());
  Ranks matched;
  std::ranges::copy_if(*all, std::back_inserter(matched), [&](const WatchingRank& rank) {
    return rank.alive && (chosen.empty() || std::ranges::binary_search(chosen, rank.rank));
  });
  if (matched.empty()) return none_matched(folder, *all, chosen_text);
  return matched;
}

// Steps that somebody else has asked for and not got yet.
std::optional<StepWindow> pending(const WatchedFolder& folder, const Ranks& ranks) {
  const auto asked = folder.asked();
  for (const WatchingRank& rank : ranks) {
    if (rank.is_busy() && rank.window) return rank.window;
    const bool has_done = rank.is_done() && rank.window == asked;
    if (asked && !has_done && rank.step < asked->first) return asked;
  }
  return std::nullopt;
}

std::string unique_id() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return fmt::format("capture-{}-{}", ::getpid(),
                     std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

// One rank, as this request sees it.
std::string outcome(const WatchingRank& rank, const std::string& id) {
  if (!rank.alive) return rank.request == id && rank.state == "finished" ? "finished" : "gone";
  if (rank.request == id && rank.state != "watching")
    return rank.state == "recording" ? "started" : rank.state;
  return rank.taken == id ? "matched" : "not seen yet";
}

bool is_final(const std::string& outcome) {
  return outcome != "matched" && outcome != "not seen yet" && outcome != "armed" &&
         outcome != "started";
}

std::string ranks_text(const Ranks& ranks, const std::string& id) {
  std::string out = fmt::format("{:>5} {:<16} {:>8} {:<13} {:>8}  {}\n", "rank", "host", "process",
                                "state", "step", "output");
  for (const WatchingRank& rank : ranks) {
    const std::string state =
        !id.empty() ? outcome(rank, id) : (rank.alive ? rank.state : std::string("gone"));
    out += fmt::format("{:>5} {:<16} {:>8} {:<13} {:>8}  {}\n", rank.rank, rank.host, rank.process,
                       state, rank.step, rank.output.empty() ? "-" : rank.output);
    if (!rank.error.empty()) out += fmt::format("{:>5} {}\n", "", rank.error);
  }
  return out;
}

std::string summary_text(const StepWindow& steps, const Ranks& ranks, const std::string& id) {
  std::map<std::string, int> counts;
  for (const WatchingRank& rank : ranks) ++counts[outcome(rank, id)];
  std::string out = fmt::format("{}: {} matched", steps_text(steps), ranks.size());
  for (const auto& [state, count] : counts)
    if (state != "matched") out += fmt::format(", {} {}", count, state);
  return out + "\n";
}

nlohmann::ordered_json ranks_json(const Ranks& ranks, const std::string& id) {
  auto out = nlohmann::ordered_json::array();
  for (const WatchingRank& rank : ranks) {
    out.push_back({{"rank", rank.rank},
                   {"host", rank.host},
                   {"process", rank.process},
                   {"state", id.empty() ? (rank.alive ? rank.state : "gone") : outcome(rank, id)},
                   {"step", rank.step},
                   {"steps_per_second", rank.steps_per_second},
                   {"output", rank.output},
                   {"error", rank.error}});
  }
  return out;
}

Status print(const Options& options, const WatchedFolder& folder, const StepWindow& steps,
             const Ranks& ranks, const std::string& id) {
  if (options.json) {
    nlohmann::ordered_json out{{"folder", folder.folder()}, {"request", id}};
    if (!id.empty()) out["steps"] = {steps.first, steps.last};
    out["ranks"] = ranks_json(ranks, id);
    return write_out(out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
                     "\n");
  }
  return write_out((id.empty() ? folder.folder() + "\n" : summary_text(steps, ranks, id)) +
                   ranks_text(ranks, id));
}

// The ranks that were asked, as they are now.
Result<Ranks> look_again(const WatchedFolder& folder, const Ranks& asked) {
  auto all = folder.ranks();
  if (!all) return std::move(all.error());
  Ranks now;
  for (const WatchingRank& rank : asked) {
    const auto same = std::ranges::find_if(*all, [&](const WatchingRank& other) {
      return other.rank == rank.rank && other.host == rank.host && other.process == rank.process;
    });
    now.push_back(same != all->end() ? *same : rank);
    if (same == all->end()) now.back().alive = false;
  }
  return now;
}

// Waits until the ranks have armed, or, with --wait, until they are done.
Result<Ranks> follow(const Options& options, const WatchedFolder& folder, Ranks ranks,
                     const std::string& id, const Progress& progress) {
  double patience = kAnswerSeconds;
  for (const WatchingRank& rank : ranks) patience = std::max(patience, rank.poll_seconds + 2);
  if (options.wait) patience = options.timeout_seconds;  // 0: as long as it takes
  const auto start = Clock::now();
  while (!progress.cancelled()) {
    auto now = look_again(folder, ranks);
    if (!now) return std::move(now.error());
    ranks = std::move(*now);
    const bool done = std::ranges::all_of(ranks, [&](const WatchingRank& rank) {
      const std::string state = outcome(rank, id);
      return is_final(state) || (!options.wait && (state == "armed" || state == "started"));
    });
    const std::chrono::duration<double> waited = Clock::now() - start;
    if (done || (patience > 0 && waited.count() > patience)) break;
    std::this_thread::sleep_for(kLook);
  }
  return ranks;
}

struct Asked {
  StepWindow steps;
  std::string id;
  Ranks ranks;
};

Result<Asked> ask(const Options& options, const WatchedFolder& folder, bool again) {
  auto chosen = parse_numbers(options.ranks);
  if (!chosen) return usage_error("--ranks must be like 0,4-7, not " + options.ranks);
  std::ranges::sort(*chosen);
  // Before the lock, which needs the folder that they make.
  auto matched = matched_ranks(folder, *chosen, options.ranks);
  if (!matched) return std::move(matched.error());
  auto lock = folder.lock();
  if (!lock) return std::move(lock.error());
  matched = matched_ranks(folder, *chosen, options.ranks);
  if (!matched) return std::move(matched.error());
  if (const auto other = pending(folder, *matched); other && !options.replace && !again)
    return Error{ErrorCode::kLimit, "nothing was asked for", folder.file(),
                 steps_text(*other) + " have been asked for and are not recorded yet",
                 "wait for them, or take their place with --replace"};
  Asked asked{{}, unique_id(), std::move(*matched)};
  if (options.steps.empty()) {
    const int64_t first = reachable_step(asked.ranks);
    asked.steps = {first, first + std::max<int64_t>(options.next, 1) - 1};
  } else {
    auto steps = parse_steps(options.steps);
    if (!steps) return std::move(steps.error());
    asked.steps = *steps;
  }
  const CaptureRequest request{asked.id,           asked.steps,     options.level,
                               options.with_stack, options.analyse, std::move(*chosen)};
  if (Status written = folder.write(request); !written) return std::move(written.error());
  return asked;
}

Status capture(const Options& options, Program& program) {
  auto folder = find_watched_folder(options.target);
  if (!folder) return std::move(folder.error());
  if (options.status) {
    auto ranks = folder->ranks();
    if (!ranks) return std::move(ranks.error());
    return print(options, *folder, {}, *ranks, "");
  }
  for (int attempt = 1;; ++attempt) {
    auto asked = ask(options, *folder, attempt > 1);
    if (!asked) return std::move(asked.error());
    if (!options.json)
      fmt::print(stderr, "stepscope: {}{} of {} rank{}, {}\n",
                 attempt > 1 ? "these were over before the ranks saw it; now " : "",
                 steps_text(asked->steps), asked->ranks.size(), asked->ranks.size() == 1 ? "" : "s",
                 folder->file());
    auto ranks = follow(options, *folder, asked->ranks, asked->id, program.progress);
    if (!ranks) return std::move(ranks.error());
    const auto is = [&](const char* state) {
      return [&, state](const WatchingRank& rank) { return outcome(rank, asked->id) == state; };
    };
    // All were faster than they had said: later steps may be asked for, as nothing is recorded yet.
    if (options.steps.empty() && attempt < kAttempts && std::ranges::all_of(*ranks, is("missed")))
      continue;
    if (std::ranges::any_of(*ranks, is("missed")) || std::ranges::any_of(*ranks, is("gone")) ||
        (options.wait && !std::ranges::all_of(*ranks, is("finished"))))
      program.exit_code = kExitFailure;
    return print(options, *folder, asked->steps, *ranks, asked->id);
  }
}

}  // namespace

void add_capture_command(Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App* command = program.app.add_subcommand(
      "capture", "record some steps of a training that runs: stepscope capture dyn_cfg --next 3");
  command
      ->add_option("TARGET", options->target,
                   "the folder that the ranks watch (cfg_path), a process of it, or a job's name")
      ->required();
  auto* const steps = command->add_option("--steps", options->steps, "which, like 10-12");
  command
      ->add_option("--next", options->next,
                   "this many, from a step on that all ranks can reach; default: 3")
      ->check(CLI::Range(int64_t{1}, int64_t{1000000}))
      ->excludes(steps);
  command->add_option("--level", options->level, "what of the device: 0, 1 or 2")
      ->check(CLI::Range(0, 2));
  command->add_flag("--with-stack", options->with_stack, "and Python's call stacks");
  command->add_option("--ranks", options->ranks, "which ranks, like 0,4-7; default: all");
  command->add_flag("--analyse", options->analyse,
                    "the ranks also write ASCEND_PROFILER_OUTPUT, while they train on");
  command->add_flag("--wait", options->wait, "until all of them are done");
  command->add_option("--timeout", options->timeout_seconds, "with --wait: at most, in seconds");
  command->add_flag("--replace", options->replace,
                    "also when steps that were asked for before are not recorded yet");
  command->add_flag("--status", options->status, "only tell how the ranks are");
  command->add_flag("--json", options->json, "for programs");
  command->callback([&program, options] {
    if (options->next == 0) options->next = 3;
    program.work = [&program, options] { return capture(*options, program); };
  });
}

}  // namespace stepscope
