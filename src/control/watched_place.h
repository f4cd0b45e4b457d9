// Where the ranks of a training tell of themselves and are told which steps to record: a folder
// that they watch (stepscope.DynamicProfilerMonitor), or a control socket that serves one of
// another machine.
#ifndef STEPSCOPE_CONTROL_WATCHED_PLACE_H_
#define STEPSCOPE_CONTROL_WATCHED_PLACE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stepscope {

// Steps, both included; 1 is the first.
struct StepWindow {
  int64_t first = 0;
  int64_t last = 0;
  bool operator==(const StepWindow&) const = default;
};

struct WatchingRank {
  int64_t rank = 0;
  std::string host;
  int64_t process = 0;
  std::string state;  // watching, armed, recording, finished, missed, not chosen, ended
  std::optional<StepWindow> window;
  std::string request;  // what the state is about
  std::string taken;    // the request it has read last
  int64_t step = 0;     // that ended last
  double steps_per_second = 0;
  double updated = 0;       // when it told that, by its clock, in seconds
  double age_seconds = 0;   // of what it tells
  double poll_seconds = 0;  // how long it may take to see a change; 0: at once
  std::string output;
  std::string error;
  bool late = false;  // it missed its steps as they were over: later ones may be asked for
  bool alive = false;

  bool is_busy() const { return state == "armed" || state == "recording"; }
  bool is_done() const { return !is_busy() && state != "watching"; }
};

// What to write. `level` -1 leaves the choice to the profiler; no ranks are all of them.
struct CaptureRequest {
  std::string id;
  StepWindow steps;
  int level = -1;
  bool with_stack = false;
  bool analyse = false;
  std::vector<int64_t> ranks;
};

// The configuration, from reading it to writing it: nobody else's version is lost between the two.
class ConfigEdit {
 public:
  explicit ConfigEdit(std::string text) : text_(std::move(text)) {}
  virtual ~ConfigEdit() = default;

  // What is asked for now; nothing where there is no file, a broken one, or one that asks for none.
  std::optional<StepWindow> asked() const;
  // Keeps the keys that a request does not have.
  Status write(const CaptureRequest& request);
  void set_text(std::string text) { text_ = std::move(text); }

 private:
  // Whole or not at all.
  virtual Status store(const std::string& text) = 0;
  std::string text_;
};

class WatchedPlace {
 public:
  virtual ~WatchedPlace() = default;
  // Sorted by rank. None is not an error; what is no status is left out.
  virtual Result<std::vector<WatchingRank>> ranks() const = 0;
  virtual Result<std::unique_ptr<ConfigEdit>> edit() const = 0;
  virtual std::string name() const = 0;
};

using WatchedPlaces = std::vector<std::unique_ptr<WatchedPlace>>;

// Finds what `target` names: a folder, a configuration file, a process of this machine or one of
// its ancestors, the name of a job, or control sockets (HOST:PORT, several with commas).
// `authority`: file with the certificate that theirs are checked with; "": the system's.
Result<WatchedPlaces> find_watched_places(const std::string& target, const std::string& authority);

// A step that all of the ranks can still begin after reading a configuration that is written now.
int64_t reachable_step(const std::vector<WatchingRank>& ranks);

// What a rank tells of itself, as JSON text; nothing if it is not that. `alive` is left to others.
std::optional<WatchingRank> parse_rank(std::string_view json);
void sort_ranks(std::vector<WatchingRank>& ranks);

}  // namespace stepscope

#endif  // STEPSCOPE_CONTROL_WATCHED_PLACE_H_
