// A running training that the server may ask for recordings: the one that was named when the server
// was started, and no other. Remembers what it asked for.
//
// Safe from all threads. The training is looked for again each time: it may start after the server,
// and a job's name may lead elsewhere when it is started again.
#ifndef STEPSCOPE_SERVER_TRAINING_CONTROL_H_
#define STEPSCOPE_SERVER_TRAINING_CONTROL_H_

#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/capture.h"

namespace stepscope {

class TrainingControl {
 public:
  // One rank of a request: what was seen of it last while it was about this request.
  struct Part {
    WatchingRank rank;
    std::string state;  // capture_state, or "superseded": it has taken a later request since
  };
  struct Request {
    std::string id;
    StepWindow steps;
    int level = -1;
    bool with_stack = false;
    int64_t asked_ns = 0;  // unix
    std::vector<Part> parts;
    bool is_over() const;
  };
  struct Place {
    std::string name;
    std::optional<Error> error;  // it does not answer
  };
  struct State {
    std::vector<Place> places;
    WatchingRanks ranks;
    std::vector<Request> requests;  // the latest first
  };

  // `target` "": none. See find_watched_places.
  TrainingControl(std::string target, std::string authority)
      : target_(std::move(target)), authority_(std::move(authority)) {}

  const std::string& target() const { return target_; }

  // An error where no place answers. Costs a look at the folder, or a call of every socket, but for
  // callers that come at the same time one for all of them.
  Result<State> look();

  // Returns when the ranks have armed, or after some seconds. One at a time.
  Result<Request> capture(const CaptureWish& wish);

  // Ends what is going on.
  void stop() { stopping_ = true; }

 private:
  using Clock = std::chrono::steady_clock;

  Result<WatchedPlaces> places() const;
  Result<State> look_anew();
  void remember(const AskedCapture& asked, const CaptureWish& wish);

  std::string target_;
  std::string authority_;
  std::atomic<bool> stopping_ = false;
  std::mutex asking_;
  std::mutex looking_;
  Clock::time_point looked_;           // guarded by looking_, as is the next
  std::optional<Result<State>> seen_;  // a moment ago
  std::mutex mutex_;
  std::deque<Request> requests_;  // guarded by mutex_; the latest first
};

}  // namespace stepscope

#endif  // STEPSCOPE_SERVER_TRAINING_CONTROL_H_
