// Launches: how long device work waits between the call that launches it and its start, and how
// much is queued, for each stream. And copies: how fast they are, by kind.
#ifndef STEPSCOPE_ANALYSES_OPERATORS_LAUNCHES_H_
#define STEPSCOPE_ANALYSES_OPERATORS_LAUNCHES_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/common/result_table.h"
#include "store/store_reader.h"

namespace stepscope {

struct LaunchLimits {
  int64_t long_call_ns = 50'000;    // a launching call longer than this is an outlier
  int64_t long_delay_ns = 100'000;  // so is a longer wait in the queue
  int64_t full_queue = 1024;        // CUDA's limit: the next launch blocks the host
};

struct LaunchRow {
  int64_t rank = 0;
  int64_t window = 0;
  int64_t device = 0;
  int64_t stream = kNull;
  int64_t tasks = 0;
  int64_t launched = 0;
  int64_t task_ns = 0;
  int64_t call_ns = 0;
  int64_t delay_ns = 0;
  double mean_delay_ns = 0;
  int64_t median_delay_ns = 0;
  int64_t p90_delay_ns = 0;
  int64_t p99_delay_ns = 0;
  int64_t max_delay_ns = 0;
  int64_t short_tasks = 0;
  int64_t long_calls = 0;
  int64_t long_delays = 0;
  int64_t before_launch = 0;
  double mean_queue = 0;
  int64_t max_queue = 0;
  int64_t full_queue_ns = 0;
  double empty_queue_share = 0;
};
inline constexpr Field<LaunchRow> kLaunchFields[] = {
    field<&LaunchRow::rank>("rank", Unit::kNone, "rank"),
    field<&LaunchRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&LaunchRow::device>("device", Unit::kNone, "device number"),
    field<&LaunchRow::stream>("stream", Unit::kNone, "stream number"),
    field<&LaunchRow::tasks>("tasks", Unit::kCount, "pieces of device work"),
    field<&LaunchRow::launched>("launched", Unit::kCount, "those whose launching call is known"),
    field<&LaunchRow::task_ns>("task_ns", Unit::kNanoseconds, "sum of their lengths"),
    field<&LaunchRow::call_ns>(
        "call_ns", Unit::kNanoseconds,
        "sum of the launching calls; a call that launches several counts once"),
    field<&LaunchRow::delay_ns>("delay_ns", Unit::kNanoseconds,
                                "sum of delays: end of the call to start of the work, at least 0"),
    field<&LaunchRow::mean_delay_ns>("mean_delay_ns", Unit::kNanoseconds, "mean delay"),
    field<&LaunchRow::median_delay_ns>("median_delay_ns", Unit::kNanoseconds, "median delay"),
    field<&LaunchRow::p90_delay_ns>("p90_delay_ns", Unit::kNanoseconds, "90 % are not longer"),
    field<&LaunchRow::p99_delay_ns>("p99_delay_ns", Unit::kNanoseconds, "99 % are not longer"),
    field<&LaunchRow::max_delay_ns>("max_delay_ns", Unit::kNanoseconds, "longest delay"),
    field<&LaunchRow::short_tasks>(
        "short_tasks", Unit::kCount,
        "work that is shorter than its launching call, where that call is not an outlier"),
    field<&LaunchRow::long_calls>("long_calls", Unit::kCount,
                                  "pieces of work whose launching call takes > 50 us"),
    field<&LaunchRow::long_delays>("long_delays", Unit::kCount,
                                   "pieces of work with a delay > 100 us"),
    field<&LaunchRow::before_launch>(
        "before_launch", Unit::kCount,
        "pieces of work that start before their call: clocks disagree"),
    field<&LaunchRow::mean_queue>("mean_queue", Unit::kCount,
                                  "launched and not started, mean over time"),
    field<&LaunchRow::max_queue>("max_queue", Unit::kCount, "most that was queued"),
    field<&LaunchRow::full_queue_ns>(
        "full_queue_ns", Unit::kNanoseconds,
        "time with 1024 or more queued, where a launch blocks the host"),
    field<&LaunchRow::empty_queue_share>(
        "empty_queue_share", Unit::kShare,
        "of the time from first launch to last start: nothing queued"),
};
// By device and stream. 16 bytes a launched task.
std::vector<LaunchRow> launches(const StoreReader& store, const RankId& rank,
                                const LaunchLimits& limits = {});

struct CopyRow {
  int64_t rank = 0;
  int64_t window = 0;
  int64_t device = 0;
  std::string_view kind;
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t bytes = 0;
  int64_t without_size = 0;
  std::optional<double> bandwidth;
  std::optional<double> min_bandwidth;
  std::optional<double> max_bandwidth;
};
inline constexpr Field<CopyRow> kCopyFields[] = {
    field<&CopyRow::rank>("rank", Unit::kNone, "rank"),
    field<&CopyRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&CopyRow::device>("device", Unit::kNone, "device number"),
    field<&CopyRow::kind>("kind", Unit::kNone, "copy or set, with direction and kind of memory"),
    field<&CopyRow::count>("count", Unit::kCount, "how many"),
    field<&CopyRow::total_ns>("total_ns", Unit::kNanoseconds, "sum of their lengths"),
    field<&CopyRow::bytes>("bytes", Unit::kBytes, "bytes moved, where the input says"),
    field<&CopyRow::without_size>("without_size", Unit::kCount, "those without a size"),
    field<&CopyRow::bandwidth>("bandwidth", Unit::kBytesPerSecond,
                               "bytes over the time of those with a size"),
    field<&CopyRow::min_bandwidth>("min_bandwidth", Unit::kBytesPerSecond, "slowest copy"),
    field<&CopyRow::max_bandwidth>("max_bandwidth", Unit::kBytesPerSecond, "fastest copy"),
};
// By device, then time.
std::vector<CopyRow> copies(const StoreReader& store, const RankId& rank);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_OPERATORS_LAUNCHES_H_
