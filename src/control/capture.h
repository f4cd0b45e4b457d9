// Asks the ranks of a running training to record some steps, and tells what each of them makes of
// it. `stepscope capture` and the server's control routes are its two callers.
//
// Safe to call from several threads: places have no state, and a folder's lock keeps writers apart.
#ifndef STEPSCOPE_CONTROL_CAPTURE_H_
#define STEPSCOPE_CONTROL_CAPTURE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/watched_place.h"

namespace stepscope {

using WatchingRanks = std::vector<WatchingRank>;

inline constexpr int64_t kMostNextSteps = 1'000'000;

// What somebody wants to have recorded.
struct CaptureWish {
  std::optional<StepWindow> steps = {};  // none: the next ones that all ranks can reach
  int64_t next = 3;                      // ... so many
  int level = -1;                        // 0 to 2; -1 leaves the choice to the profiler
  bool with_stack = false;
  bool analyse = false;
  bool replace = false;  // also when steps that were asked for before are not recorded yet
  std::vector<int64_t> ranks = {};  // none: all
};

// What the ranks were asked for, and how they are.
struct AskedCapture {
  std::string id;
  StepWindow steps;
  WatchingRanks ranks;
};

struct Following {
  bool to_the_end = false;     // until they are done, not only until they have armed
  double timeout_seconds = 0;  // at most; 0: as long as it takes
  std::function<bool()> cancelled = [] { return false; };
  // A request was written; `attempt` 2 and 3: the steps before were over before the ranks saw them.
  std::function<void(const AskedCapture&, int attempt)> on_asked = [](const auto&, int) {};
};

// Asks, and follows the ranks. Where all of them were faster than they had said, it asks again for
// later steps, unless the wish names them.
Result<AskedCapture> capture(const WatchedPlaces& places, const CaptureWish& wish,
                             const Following& following);

// What each place tells, asked at the same time; and of all of them, sorted by rank.
std::vector<Result<WatchingRanks>> told_ranks(const WatchedPlaces& places);
Result<WatchingRanks> all_ranks(const WatchedPlaces& places);

// The ranks that were asked, as they are among `all` now.
WatchingRanks same_ranks(const WatchingRanks& asked, const WatchingRanks& all);

// One rank, as the request `id` sees it: "not seen yet", "matched", "armed", "started", "finished",
// "missed", "not chosen", "gone".
std::string capture_state(const WatchingRank& rank, const std::string& id);
// ... which will not change any more.
bool is_final_state(std::string_view state);

std::string place_names(const WatchedPlaces& places);
std::string steps_text(const StepWindow& steps);

}  // namespace stepscope

#endif  // STEPSCOPE_CONTROL_CAPTURE_H_
