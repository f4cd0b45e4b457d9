// MindSpore's data pipeline ("minddata") files, the same from MindInsight's time to 2.10:
// pipeline_profiling_R.json (queue lengths of every dataset operator), dataset_iterator_profiling_R
// or device_queue_profiling_R.txt (four records per batch) and minddata_cpu_utilization_R.json.
//
// Their clock is CLOCK_MONOTONIC in whole milliseconds, while operators and memory of the same
// process are CLOCK_REALTIME nanoseconds. Only a pair of both clocks, sampled by whoever recorded,
// can join them: see find_clock_offset_ns(). Files are small (a sample every 20 ms at most).
#ifndef STEPSCOPE_IMPORTERS_COMMON_MINDDATA_H_
#define STEPSCOPE_IMPORTERS_COMMON_MINDDATA_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "store/rank_builder.h"

namespace stepscope {

struct MinddataFiles {
  std::string pipeline;  // empty: there is none
  std::string cpu;
  std::string iterator;      // dataset_iterator_profiling
  std::string device_queue;  // device_queue_profiling

  bool any() const {
    return !pipeline.empty() || !cpu.empty() || !iterator.empty() || !device_queue.empty();
  }
  // Puts a file name of a folder in its place; false when it is none of these.
  bool take(std::string_view name, const std::string& path);
};

// The rank number in a minddata file name; nullopt for other names.
std::optional<int64_t> minddata_rank(std::string_view name);

// CLOCK_REALTIME minus CLOCK_MONOTONIC from a clock.json or truth.json of the folder: an object
// `clock` (or the document itself) with realtime_minus_monotonic_ns, or with time_ns_start and
// monotonic_ns_start.
std::optional<int64_t> find_clock_offset_ns(const std::string& folder);

enum class MinddataCpu : uint8_t {
  kAll,
  // The processor time of operators alone. minddata's lists of the machine and of the process are
  // rounded to percents, and those of the machine are half written; a recording of ours has its own
  // samples of both, and two kinds of them in one series would count twice.
  kOperators,
};

// Reads the files of one pipeline after the other, in the order in which they were recorded, into
// queues, counters and source tables (minddata_pipeline: the operator tree; minddata_batches: the
// iterator's records). A pipeline like an earlier one goes on with its stages, any other has
// numbers of its own; batches are numbered on. Without an offset the times stay on the monotonic
// axis and the report says so (clock_coarse). Returns the number of records read.
int64_t read_minddata(std::span<const MinddataFiles> pipelines, std::optional<int64_t> offset_ns,
                      MinddataCpu cpu, RankBuilder& rank);

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_COMMON_MINDDATA_H_
