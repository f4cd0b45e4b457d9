#include "server/training_control.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace stepscope {
namespace {

constexpr size_t kMostRequests = 20;
constexpr auto kFresh = std::chrono::milliseconds(300);
constexpr double kArmSeconds = 5;  // a page waits for the answer

bool was_taken(std::string_view state) {
  return state == "matched" || state == "armed" || state == "started";
}

// A rank tells of its latest request only.
void follow(TrainingControl::Request& request, const WatchingRanks& all) {
  for (TrainingControl::Part& part : request.parts) {
    if (is_final_state(part.state)) continue;
    const WatchingRank now = same_ranks({part.rank}, all).front();
    if (now.updated < part.rank.updated) continue;  // read before what is known already
    const std::string state = capture_state(now, request.id);
    if (state == "not seen yet" && was_taken(part.state)) {
      part.state = "superseded";
      continue;
    }
    // The output of another request is no news of this one.
    const bool is_about = now.request == request.id;
    part.rank = now;
    if (!is_about) part.rank.output.clear(), part.rank.error.clear();
    part.state = state;
  }
}

}  // namespace

bool TrainingControl::Request::is_over() const {
  return std::ranges::all_of(parts, [](const Part& part) { return is_final_state(part.state); });
}

Result<WatchedPlaces> TrainingControl::places() const {
  if (target_.empty())
    return Error{ErrorCode::kNotFound, "there is no training to ask", "",
                 "the server was started without one", "start it with --control TARGET"};
  return find_watched_places(target_, authority_);
}

Result<TrainingControl::State> TrainingControl::look() {
  const std::scoped_lock alone(looking_);
  if (!seen_ || Clock::now() - looked_ > kFresh) {
    seen_ = look_anew();
    looked_ = Clock::now();
  }
  auto state = *seen_;
  if (!state) return state;
  const std::scoped_lock lock(mutex_);
  for (Request& request : requests_) follow(request, state->ranks);
  state->requests.assign(requests_.begin(), requests_.end());
  return state;
}

Result<TrainingControl::State> TrainingControl::look_anew() {
  const auto found = places();
  if (!found) return found.error();
  State state;
  auto told = told_ranks(*found);
  size_t silent = 0;
  for (size_t place = 0; place < told.size(); ++place) {
    state.places.push_back({(*found)[place]->name(), std::nullopt});
    if (told[place]) {
      std::ranges::move(*told[place], std::back_inserter(state.ranks));
    } else {
      state.places.back().error = told[place].error();
      ++silent;
    }
  }
  if (silent == told.size() && silent > 0) return *state.places.front().error;
  sort_ranks(state.ranks);
  return state;
}

void TrainingControl::remember(const AskedCapture& asked, const CaptureWish& wish) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  Request request{asked.id,
                  asked.steps,
                  wish.level,
                  wish.with_stack,
                  std::chrono::duration_cast<std::chrono::nanoseconds>(now).count(),
                  {}};
  for (const WatchingRank& rank : asked.ranks) {
    request.parts.push_back({rank, "not seen yet"});
    request.parts.back().rank.output.clear();
    request.parts.back().rank.error.clear();
  }
  const std::scoped_lock lock(mutex_);
  requests_.push_front(std::move(request));
  if (requests_.size() > kMostRequests) requests_.pop_back();
}

Result<TrainingControl::Request> TrainingControl::capture(const CaptureWish& wish) {
  const std::unique_lock alone(asking_, std::try_to_lock);
  if (!alone)
    return Error{ErrorCode::kChanged, "nothing was asked for", target_,
                 "another request is being sent", "try again in a moment"};
  const auto found = places();
  if (!found) return found.error();
  Following following;
  following.timeout_seconds = kArmSeconds;
  following.cancelled = [this] { return stopping_.load(); };
  following.on_asked = [&](const AskedCapture& asked, int) { remember(asked, wish); };
  const auto asked = stepscope::capture(*found, wish, following);
  if (!asked) return asked.error();
  const std::scoped_lock lock(mutex_);
  for (Request& request : requests_) {
    if (request.id != asked->id) continue;
    follow(request, asked->ranks);
    return request;
  }
  return Error{ErrorCode::kCancelled, "the request is forgotten", asked->id, "others came after it",
               "ask again"};
}

}  // namespace stepscope
