#include "control/capture.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/parallel.h"

namespace stepscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kLook = std::chrono::milliseconds(100);
constexpr double kAnswerSeconds = 3;  // for ranks that see changes at once
constexpr int kAttempts = 3;       // for the next steps, when ranks were faster than they had said
constexpr unsigned kCalls = 16;    // sockets that are asked at a time
constexpr size_t kMostTold = 100;  // of the chosen ranks

// "0,4-7" of sorted numbers.
std::string numbers_text(const std::vector<int64_t>& numbers) {
  std::string out;
  for (size_t from = 0, to = 0; from < numbers.size(); from = to) {
    if (from > kMostTold) return out + ",...";
    for (to = from + 1; to < numbers.size() && numbers[to] <= numbers[to - 1] + 1;) ++to;
    out += fmt::format("{}{}", out.empty() ? "" : ",", numbers[from]);
    if (numbers[to - 1] > numbers[from]) out += fmt::format("-{}", numbers[to - 1]);
  }
  return out;
}

// Why no rank can be asked.
Error none_matched(const WatchedPlaces& places, const WatchingRanks& all,
                   const std::vector<int64_t>& chosen) {
  Error none{ErrorCode::kNotFound, "0 ranks matched", place_names(places), "", ""};
  if (all.empty()) {
    none.why = "no rank watches this folder";
    none.remedy =
        "the training makes a stepscope.DynamicProfilerMonitor with this folder as cfg_path; a "
        "relative one counts from where the training was started";
    return none;
  }
  WatchingRanks alive;
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
                         alive.front().rank, alive.back().rank, numbers_text(chosen));
  none.remedy = "choose others with --ranks, or leave it out";
  return none;
}

// Those that are alive and chosen.
Result<WatchingRanks> matched_ranks(const WatchedPlaces& places, const WatchingRanks& all,
                                    const std::vector<int64_t>& chosen) {
  WatchingRanks matched;
  std::ranges::copy_if(all, std::back_inserter(matched), [&](const WatchingRank& rank) {
    return rank.alive && (chosen.empty() || std::ranges::binary_search(chosen, rank.rank));
  });
  if (matched.empty()) return none_matched(places, all, chosen);
  return matched;
}

// Steps that somebody else has asked for and not got yet, on whichever ranks.
std::optional<StepWindow> pending(const std::optional<StepWindow>& asked,
                                  const WatchingRanks& all) {
  for (const WatchingRank& rank : all) {
    if (!rank.alive) continue;
    if (rank.is_busy() && rank.window) return rank.window;
    const bool has_done = rank.is_done() && rank.window == asked;
    if (asked && !has_done && rank.step < asked->first) return asked;
  }
  return std::nullopt;
}

std::string unique_id() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return fmt::format("capture-{}-{}", ::getpid(),
                     std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// Some places have the request and one has not: ranks of the former will record.
Error half_asked(const WatchedPlaces& places, size_t failed, const StepWindow& steps, Error error) {
  if (failed == 0) return error;
  std::string reached;
  for (size_t place = 0; place < failed; ++place)
    reached += (place == 0 ? "" : ", ") + places[place]->name();
  std::string not_asked;
  for (size_t place = failed + 1; place < places.size(); ++place)
    not_asked += (not_asked.empty() ? "; not asked any more: " : ", ") + places[place]->name();
  error.why =
      fmt::format("{}: {}; {} {} asked for at {}{}", error.what, error.why, steps_text(steps),
                  steps.first == steps.last ? "is" : "are", reached, not_asked);
  error.what = "only some of the ranks were asked";
  error.remedy = fmt::format(
      "{}--replace asks all of them again, or takes the request back by asking for other steps",
      error.remedy.empty() ? "" : error.remedy + "; ");
  return error;
}

Result<AskedCapture> ask(const WatchedPlaces& places, const CaptureWish& wish,
                         std::vector<int64_t> chosen, bool again) {
  // Before the edits, whose lock needs the folder that ranks make.
  auto all = all_ranks(places);
  if (!all) return std::move(all.error());
  auto matched = matched_ranks(places, *all, chosen);
  if (!matched) return std::move(matched.error());
  std::vector<std::unique_ptr<ConfigEdit>> edits;
  for (const auto& place : places) {
    auto edit = place->edit();
    if (!edit) return std::move(edit.error());
    edits.push_back(std::move(*edit));
  }
  all = all_ranks(places);
  if (!all) return std::move(all.error());
  matched = matched_ranks(places, *all, chosen);
  if (!matched) return std::move(matched.error());
  for (const auto& edit : edits) {
    if (const auto other = pending(edit->asked(), *all); other && !wish.replace && !again)
      return Error{ErrorCode::kChanged, "nothing was asked for", place_names(places),
                   "what was asked for before is not recorded yet: " + steps_text(*other),
                   "wait for them, or replace them (--replace)"};
  }
  AskedCapture asked{unique_id(), {}, std::move(*matched)};
  if (wish.steps) {
    asked.steps = *wish.steps;
  } else {
    const int64_t first = reachable_step(asked.ranks);
    asked.steps = {first, first + std::clamp<int64_t>(wish.next, 1, kMostNextSteps) - 1};
  }
  const CaptureRequest request{asked.id,        asked.steps,  wish.level,
                               wish.with_stack, wish.analyse, std::move(chosen)};
  for (size_t place = 0; place < edits.size(); ++place) {
    if (Status written = edits[place]->write(request); !written)
      return half_asked(places, place, asked.steps, std::move(written.error()));
  }
  return asked;
}

// Waits until the ranks have armed, or until they are done.
Status follow(const WatchedPlaces& places, const Following& following, AskedCapture& asked) {
  double patience = kAnswerSeconds;
  for (const WatchingRank& rank : asked.ranks) patience = std::max(patience, rank.poll_seconds + 2);
  if (following.to_the_end) patience = following.timeout_seconds;
  if (following.timeout_seconds > 0) patience = std::min(patience, following.timeout_seconds);
  const auto start = Clock::now();
  while (!following.cancelled()) {
    const auto all = all_ranks(places);
    if (!all) return all.error();
    asked.ranks = same_ranks(asked.ranks, *all);
    const bool done = std::ranges::all_of(asked.ranks, [&](const WatchingRank& rank) {
      const std::string state = capture_state(rank, asked.id);
      return is_final_state(state) ||
             (!following.to_the_end && (state == "armed" || state == "started"));
    });
    const std::chrono::duration<double> waited = Clock::now() - start;
    if (done || (patience > 0 && waited.count() > patience)) break;
    std::this_thread::sleep_for(kLook);
  }
  return {};
}

}  // namespace

Result<AskedCapture> capture(const WatchedPlaces& places, const CaptureWish& wish,
                             const Following& following) {
  std::vector<int64_t> chosen = wish.ranks;
  std::ranges::sort(chosen);
  for (int attempt = 1;; ++attempt) {
    auto asked = ask(places, wish, chosen, attempt > 1);
    if (!asked) return asked;
    following.on_asked(*asked, attempt);
    if (Status status = follow(places, following, *asked); !status)
      return std::move(status.error());
    const bool too_late = std::ranges::all_of(asked->ranks, [&](const WatchingRank& rank) {
      return capture_state(rank, asked->id) == "missed" && rank.late;
    });
    // Later steps may be asked for, as nothing is recorded yet.
    if (wish.steps || !too_late || attempt == kAttempts || following.cancelled()) return asked;
  }
}

std::vector<Result<WatchingRanks>> told_ranks(const WatchedPlaces& places) {
  std::vector<Result<WatchingRanks>> told(places.size(), WatchingRanks());
  parallel_for(places.size(), kCalls, [&](size_t place) { told[place] = places[place]->ranks(); });
  return told;
}

Result<WatchingRanks> all_ranks(const WatchedPlaces& places) {
  WatchingRanks all;
  for (auto& ranks : told_ranks(places)) {
    if (!ranks) return std::move(ranks.error());
    std::ranges::move(*ranks, std::back_inserter(all));
  }
  sort_ranks(all);
  return all;
}

WatchingRanks same_ranks(const WatchingRanks& asked, const WatchingRanks& all) {
  WatchingRanks now;
  for (const WatchingRank& rank : asked) {
    const auto same = std::ranges::find_if(all, [&](const WatchingRank& other) {
      return other.rank == rank.rank && other.host == rank.host && other.process == rank.process;
    });
    now.push_back(same != all.end() ? *same : rank);
    if (same == all.end()) now.back().alive = false;
  }
  return now;
}

std::string capture_state(const WatchingRank& rank, const std::string& id) {
  if (!rank.alive) return rank.request == id && rank.state == "finished" ? "finished" : "gone";
  if (rank.request == id && rank.state != "watching")
    return rank.state == "recording" ? "started" : rank.state;
  return rank.taken == id ? "matched" : "not seen yet";
}

bool is_final_state(std::string_view state) {
  return state != "matched" && state != "not seen yet" && state != "armed" && state != "started";
}

std::string place_names(const WatchedPlaces& places) {
  std::string out;
  for (const auto& place : places) out += (out.empty() ? "" : ", ") + place->name();
  return out;
}

std::string steps_text(const StepWindow& steps) {
  return steps.first == steps.last ? fmt::format("step {}", steps.first)
                                   : fmt::format("steps {} to {}", steps.first, steps.last);
}

}  // namespace stepscope
