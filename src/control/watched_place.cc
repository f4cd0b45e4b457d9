#include "control/watched_place.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <tuple>

#include <nlohmann/json.hpp>

#include "json/json_members.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kLargestNumber = 9e15;  // a double still counts one by one

double bounded_in(const Json& json, const char* key) {
  const double value = number_in(json, key, 0);
  return std::isfinite(value) ? std::clamp(value, -kLargestNumber, kLargestNumber) : 0;
}

int64_t whole_in(const Json& json, const char* key) {
  return static_cast<int64_t>(bounded_in(json, key));
}

std::optional<StepWindow> window_in(const Json& json) {
  const auto at = json.find("window");
  if (at == json.end() || !at->is_array() || at->size() != 2) return std::nullopt;
  if (!(*at)[0].is_number_integer() || !(*at)[1].is_number_integer()) return std::nullopt;
  return StepWindow{(*at)[0].get<int64_t>(), (*at)[1].get<int64_t>()};
}

// As a new file has it (docs/dynamic.md).
Json default_configuration() {
  return Json{{"start_step", -1},
              {"stop_step", -1},
              {"aicore_metrics", -1},
              {"profiler_level", -1},
              {"profile_framework", -1},
              {"analyse_mode", -1},
              {"profile_communication", false},
              {"parallel_strategy", false},
              {"with_stack", false},
              {"data_simplification", true}};
}

}  // namespace

std::optional<StepWindow> ConfigEdit::asked() const {
  const Json json = ordered_json_tree(text_);
  if (!json.is_object()) return std::nullopt;
  const StepWindow steps{whole_in(json, "start_step"), whole_in(json, "stop_step")};
  return steps.first > 0 && steps.last >= steps.first ? std::optional(steps) : std::nullopt;
}

Status ConfigEdit::write(const CaptureRequest& request) {
  Json json = ordered_json_tree(text_);
  if (!json.is_object()) json = default_configuration();
  json["start_step"] = request.steps.first;
  json["stop_step"] = request.steps.last;
  json["profiler_level"] = request.level;
  json["with_stack"] = request.with_stack;
  if (request.analyse) json["analyse_mode"] = 1;
  json.erase("ranks");
  if (!request.ranks.empty()) json["ranks"] = request.ranks;
  json["request"] = request.id;
  return store(write_json(json, 4) + "\n");
}

std::optional<WatchingRank> parse_rank(std::string_view text) {
  const Json json = ordered_json_tree(text);
  if (!json.is_object() || !json.contains("rank")) return std::nullopt;
  WatchingRank rank;
  rank.rank = whole_in(json, "rank");
  rank.host = text_in(json, "host");
  rank.process = whole_in(json, "pid");
  rank.state = text_in(json, "state");
  rank.window = window_in(json);
  rank.request = text_in(json, "request");
  rank.taken = text_in(json, "taken");
  rank.step = whole_in(json, "step");
  rank.steps_per_second = std::max(bounded_in(json, "steps_per_second"), 0.0);
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  rank.updated = bounded_in(json, "updated");
  rank.age_seconds = std::max(now.count() - rank.updated, 0.0);
  rank.poll_seconds = std::clamp(bounded_in(json, "poll_interval_s"), 0.0, 3600.0);
  rank.output = text_in(json, "output");
  rank.error = text_in(json, "error");
  rank.late = json.value("late", Json()) == true;
  if (rank.error.empty() && !text_in(json, "refused").empty())
    rank.error = "the configuration is not taken: " + text_in(json, "refused");
  return rank;
}

void sort_ranks(std::vector<WatchingRank>& ranks) {
  std::ranges::sort(ranks, {}, [](const WatchingRank& rank) {
    return std::make_tuple(rank.rank, !rank.alive, rank.process);
  });
}

int64_t reachable_step(const std::vector<WatchingRank>& ranks) {
  int64_t furthest = 0;
  double rate = 0;
  double delay = 1.0;  // to write, to be read, and what a busy machine adds
  for (const WatchingRank& rank : ranks) {
    // What clocks of other machines say about the age is not believed beyond a minute.
    const double since = rank.steps_per_second * std::min(rank.age_seconds, 60.0);
    furthest = std::max(furthest, rank.step + static_cast<int64_t>(since));
    rate = std::max(rate, rank.steps_per_second);
    delay = std::max(delay, 1.0 + rank.poll_seconds);
  }
  // The step behind the furthest has begun; the one behind that is the first to be chosen.
  return furthest + 2 + static_cast<int64_t>(std::ceil(rate * delay));
}

}  // namespace stepscope
