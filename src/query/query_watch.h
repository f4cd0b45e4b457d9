// QueryWatch: interrupts a connection when its time is over or the user cancels.
#ifndef STEPSCOPE_QUERY_QUERY_WATCH_H_
#define STEPSCOPE_QUERY_QUERY_WATCH_H_

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <duckdb.h>

#include "query/database.h"

namespace stepscope {

// Watches from construction to destruction, on a thread of its own; no thread without limits.
class QueryWatch {
 public:
  QueryWatch(duckdb_connection connection, const QueryLimits& limits);
  ~QueryWatch();

  bool timed_out() const { return timed_out_; }
  bool cancelled() const { return cancelled_; }

 private:
  void run(duckdb_connection connection, QueryLimits limits);

  std::atomic<bool> timed_out_{false};
  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_QUERY_QUERY_WATCH_H_
