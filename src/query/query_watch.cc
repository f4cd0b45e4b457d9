#include "query/query_watch.h"

#include <algorithm>
#include <chrono>

namespace stepscope {

using Clock = std::chrono::steady_clock;

QueryWatch::QueryWatch(duckdb_connection connection, const QueryLimits& limits) {
  if (limits.seconds <= 0 && limits.progress == nullptr) return;
  thread_ = std::thread([this, connection, limits] { run(connection, limits); });
}

QueryWatch::~QueryWatch() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void QueryWatch::run(duckdb_connection connection, QueryLimits limits) {
  constexpr auto kPoll = std::chrono::milliseconds(20);  // a signal handler can only set a flag
  // A limit of years is no limit, and must not overflow the clock.
  const double seconds = limits.seconds > 0 ? std::min(limits.seconds, 1e9) : 1e9;
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(seconds));
  std::unique_lock lock(mutex_);
  while (!over_) {
    if (Clock::now() >= deadline) timed_out_ = true;
    if (limits.progress != nullptr && limits.progress->cancelled()) cancelled_ = true;
    // Again and again: an interrupt before the query really runs is forgotten by DuckDB.
    if (timed_out_ || cancelled_) duckdb_interrupt(connection);
    changed_.wait_for(lock, kPoll);
  }
}

}  // namespace stepscope
