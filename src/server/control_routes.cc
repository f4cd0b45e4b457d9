// GET  control           the training that may be asked for recordings
// GET  control/ranks     its ranks, and what they made of the last requests
// POST control/capture   asks for steps
//
// Which training that is was said when the server was started; a request cannot name another, nor a
// path.
#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "json/json_tree.h"
#include "server/http_reply.h"
#include "server/routes.h"
#include "server/training_control.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr size_t kLargestBody = 64 << 10;
constexpr size_t kMostRanks = 10'000;
constexpr int64_t kLastStep = int64_t{1} << 53;  // as the configuration has it

void reply(httplib::Response& response, const Json& json) {
  reply_json(response, write_json(json));
}

Error bad(const std::string& where, const char* why) {
  return {ErrorCode::kBadInput, "bad request", where, why,
          "{\"next\": 3} or {\"steps\": [10, 12]}; see docs/api.md"};
}

bool is_step(const Json& value) {
  return value.is_number_integer() && value >= 1 && value < kLastStep;
}

Status read_key(const std::string& key, const Json& value, CaptureWish& wish) {
  if (key == "next") {
    if (!value.is_number_integer() || value < 1 || value > kMostNextSteps)
      return bad(key, "it must be a number from 1 to 1000000");
    wish.next = value.get<int64_t>();
  } else if (key == "steps") {
    if (!value.is_array() || value.size() != 2 || !is_step(value[0]) || !is_step(value[1]) ||
        value[1] < value[0])
      return bad(key, "it must be the first and the last step; 1 is the first of the training");
    wish.steps = StepWindow{value[0].get<int64_t>(), value[1].get<int64_t>()};
  } else if (key == "level") {
    if (!value.is_number_integer() || value < -1 || value > 2)
      return bad(key, "it must be 0, 1 or 2, or -1 for the profiler's default");
    wish.level = value.get<int>();
  } else if (key == "ranks") {
    if (!value.is_array() || value.size() > kMostRanks) return bad(key, "it must be a list");
    for (const Json& rank : value) {
      if (!rank.is_number_integer() || rank < 0 || rank > INT32_MAX)
        return bad(key, "it must be a list of ranks");
      wish.ranks.push_back(rank.get<int64_t>());
    }
  } else if (key == "with_stack" || key == "replace") {
    if (!value.is_boolean()) return bad(key, "it must be true or false");
    (key == "replace" ? wish.replace : wish.with_stack) = value.get<bool>();
  } else {
    return bad(key.substr(0, 80), "there is no such key");
  }
  return {};
}

Result<CaptureWish> read_wish(const httplib::Request& request) {
  // What a page of another site could send without asking is not this.
  const std::string type = request.get_header_value("Content-Type");
  if (type.substr(0, type.find(';')) != "application/json")
    return Error{ErrorCode::kUnsupported, "bad request", "Content-Type: " + type.substr(0, 80),
                 "the body must be application/json", ""};
  if (request.body.size() > kLargestBody)
    return Error{ErrorCode::kLimit, "the request is too large", "", "", "see docs/api.md"};
  const Json body = ordered_json_tree(request.body);
  if (!body.is_object()) return bad("body", "it is no JSON object");
  CaptureWish wish;
  for (const auto& [key, value] : body.items()) {
    if (Status status = read_key(key, value, wish); !status) return std::move(status.error());
  }
  if (body.contains("next") == body.contains("steps"))
    return bad("body", "it must have one of \"next\" and \"steps\"");
  return wish;
}

// The run that a recording has become, or is a part of. What ranks of other machines name is not
// here; nothing is opened.
class RunsOfOutputs {
 public:
  explicit RunsOfOutputs(const RunCatalog& catalog) : runs_(catalog.entries()) {}

  const RunEntry* of(const std::string& output) const {
    if (output.empty()) return nullptr;
    std::error_code problem;
    const std::string path = fs::weakly_canonical(output, problem).string();
    if (problem) return nullptr;
    const auto is_it = [&](const std::string& run) {
      return path == run || path.starts_with(run + "/") || run.starts_with(path + "/");
    };
    for (const RunEntry& run : runs_) {
      if (is_it(run.path) || std::ranges::any_of(run.more_paths, is_it)) return &run;
    }
    return nullptr;
  }

 private:
  std::vector<RunEntry> runs_;
};

Json steps_json(const std::optional<StepWindow>& steps) {
  return steps ? Json{steps->first, steps->last} : Json();
}

Json rank_json(const WatchingRank& rank, const std::string& state, const RunsOfOutputs& runs) {
  const RunEntry* const run = runs.of(rank.output);
  return {{"rank", rank.rank},
          {"host", rank.host},
          {"process", rank.process},
          {"state", state},
          {"steps", steps_json(rank.window)},
          {"step", rank.step},
          {"steps_per_second", rank.steps_per_second},
          {"output", rank.output},
          {"error", rank.error},
          {"run", run == nullptr ? "" : run->id},
          {"run_state", run == nullptr ? "" : run_state_name(run->state)}};
}

Json request_json(const TrainingControl::Request& request, const RunsOfOutputs& runs) {
  Json ranks = Json::array();
  for (const TrainingControl::Part& part : request.parts)
    ranks.push_back(rank_json(part.rank, part.state, runs));
  return {{"id", request.id},
          {"steps", steps_json(request.steps)},
          {"level", request.level},
          {"with_stack", request.with_stack},
          {"asked_ns", std::to_string(request.asked_ns)},
          {"over", request.is_over()},
          {"ranks", std::move(ranks)}};
}

Json state_json(const TrainingControl::State& state, const std::string& target,
                const RunsOfOutputs& runs) {
  Json json{{"target", target},
            {"places", Json::array()},
            {"ranks", Json::array()},
            {"requests", Json::array()}};
  for (const TrainingControl::Place& place : state.places)
    json["places"].push_back(
        {{"name", place.name}, {"error", place.error ? place.error->message() : ""}});
  for (const WatchingRank& rank : state.ranks)
    json["ranks"].push_back(rank_json(rank, rank.alive ? rank.state : "gone", runs));
  for (const TrainingControl::Request& request : state.requests)
    json["requests"].push_back(request_json(request, runs));
  return json;
}

}  // namespace

void add_control_routes(httplib::Server& http, const std::string& prefix, TrainingControl& control,
                        const RunCatalog& catalog) {
  http.Get(prefix + "/control", [&](const httplib::Request&, httplib::Response& response) {
    reply(response, {{"target", control.target()}});
  });
  http.Get(prefix + "/control/ranks", [&](const httplib::Request&, httplib::Response& response) {
    const auto state = control.look();
    if (!state) return reply_error(response, state.error());
    reply(response, state_json(*state, control.target(), RunsOfOutputs(catalog)));
  });
  http.Post(prefix + "/control/capture",
            [&](const httplib::Request& request, httplib::Response& response) {
              const auto wish = read_wish(request);
              if (!wish) return reply_error(response, wish.error());
              const auto asked = control.capture(*wish);
              if (!asked) return reply_error(response, asked.error());
              reply(response, request_json(*asked, RunsOfOutputs(catalog)));
            });
}

}  // namespace stepscope
