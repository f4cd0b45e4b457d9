// Processor use of the machine, the process, its data operators, workers and threads: averages over
// the recording or a range of steps, and what to do about the number of threads.
#ifndef STEPSCOPE_ANALYSES_CPU_CPU_H_
#define STEPSCOPE_ANALYSES_CPU_CPU_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/common/result_table.h"
#include "analyses/cpu/cpu_series.h"

namespace stepscope {

// MindInsight's limit: the machine is busy when more than this share is not idle.
inline constexpr double kMachineBusy = 0.8;
// MindSpore's limits for the workers of a data operator, in shares of a processor.
inline constexpr double kWorkerBusy = 0.75;
inline constexpr double kWorkerIdle = 0.2;
// The guide says "low" and "high" without figures; these are ours.
inline constexpr double kLowUser = 0.3;
inline constexpr double kHighSystem = 0.3;
// Processors that others take, as a share of all.
inline constexpr double kOthersBusy = 0.5;

struct CpuRow {
  int64_t rank = 0;
  int64_t window = 0;
  std::string_view scope;
  std::string name;
  int64_t id = kNull;
  int64_t workers = kNull;
  int64_t processors = kNull;
  int64_t samples = 0;
  int64_t first_step = kNull;
  int64_t last_step = kNull;
  int64_t interval_ns = kNull;
  double user = CpuSample::kNone;
  double system = CpuSample::kNone;
  double io_wait = CpuSample::kNone;
  double idle = CpuSample::kNone;
  double busy = CpuSample::kNone;
  double most_busy = CpuSample::kNone;
  double per_worker = CpuSample::kNone;
  double others = CpuSample::kNone;
  double runnable = CpuSample::kNone;
  double context_switches = CpuSample::kNone;
  double context_switches_per_second = CpuSample::kNone;
  std::string_view verdict;
  std::string_view advice;
};

inline constexpr Field<CpuRow> kCpuFields[] = {
    field<&CpuRow::rank>("rank", Unit::kNone, "rank"),
    field<&CpuRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&CpuRow::scope>("scope", Unit::kNone, "machine, process, operator, worker or thread"),
    field<&CpuRow::name>("name", Unit::kNone, "data operator, or name of the process or thread"),
    field<&CpuRow::id>("id", Unit::kNone, "id of the data operator, process or thread"),
    field<&CpuRow::workers>("workers", Unit::kCount, "threads of the data operator"),
    field<&CpuRow::processors>("processors", Unit::kCount, "processors of the machine"),
    field<&CpuRow::samples>("samples", Unit::kCount, "samples in the averages"),
    field<&CpuRow::first_step>("first_step", Unit::kNone, "step of the first sample"),
    field<&CpuRow::last_step>("last_step", Unit::kNone, "step of the last sample"),
    field<&CpuRow::interval_ns>("interval_ns", Unit::kNanoseconds, "mean time between samples"),
    field<&CpuRow::user>("user", Unit::kShare,
                         "mean user time; machine: of all processors; others: of one processor"),
    field<&CpuRow::system>("system", Unit::kShare, "mean system time, likewise"),
    field<&CpuRow::io_wait>("io_wait", Unit::kShare, "mean time idle with input or output pending"),
    field<&CpuRow::idle>("idle", Unit::kShare, "mean idle time"),
    field<&CpuRow::busy>("busy", Unit::kShare, "mean time that is neither idle nor io_wait"),
    field<&CpuRow::most_busy>("most_busy", Unit::kShare, "largest busy of a sample"),
    field<&CpuRow::per_worker>("per_worker", Unit::kShare,
                               "busy of a data operator, divided by its threads"),
    field<&CpuRow::others>("others", Unit::kShare,
                           "machine: busy that is not this process, of all processors"),
    field<&CpuRow::runnable>("runnable", Unit::kCount, "mean processes that run or could run"),
    field<&CpuRow::context_switches>("context_switches", Unit::kCount,
                                     "mean context switches between two samples"),
    field<&CpuRow::context_switches_per_second>("context_switches_per_second", Unit::kNone,
                                                "context switches per second"),
    field<&CpuRow::verdict>("verdict", Unit::kNone,
                            "busy, others, lower_threads, raise_threads, or empty"),
    field<&CpuRow::advice>("advice", Unit::kNone, "what to do about it"),
};

struct CpuSampleRow {
  int64_t rank = 0;
  int64_t window = 0;
  std::string_view scope;
  int64_t id = kNull;
  CpuSample sample;
};

template <auto Member>
constexpr Field<CpuSampleRow> sample_field(std::string_view name, Unit unit, std::string_view doc) {
  using T = typename result_table_internal::MemberOf<decltype(Member)>::ValueType;
  return {name, unit, result_table_internal::kind_of<T>(), doc,
          [](const CpuSampleRow& row) { return to_value(row.sample.*Member); }};
}
inline constexpr Field<CpuSampleRow> kCpuSampleFields[] = {
    field<&CpuSampleRow::rank>("rank", Unit::kNone, "rank"),
    field<&CpuSampleRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&CpuSampleRow::scope>("scope", Unit::kNone, "as in cpu"),
    field<&CpuSampleRow::id>("id", Unit::kNone, "as in cpu"),
    sample_field<&CpuSample::ts_ns>("ts", Unit::kTimestamp, "time of the sample"),
    sample_field<&CpuSample::step>("step", Unit::kNone, "step that it belongs to"),
    sample_field<&CpuSample::user>("user", Unit::kShare, "user time"),
    sample_field<&CpuSample::system>("system", Unit::kShare, "system time"),
    sample_field<&CpuSample::io_wait>("io_wait", Unit::kShare, "idle, input or output pending"),
    sample_field<&CpuSample::idle>("idle", Unit::kShare, "idle time"),
    sample_field<&CpuSample::busy>("busy", Unit::kShare, "neither idle nor io_wait"),
    sample_field<&CpuSample::runnable>("runnable", Unit::kCount, "processes that run or could run"),
    sample_field<&CpuSample::context_switches>("context_switches", Unit::kCount,
                                               "context switches since the sample before"),
};

// Inclusive. The default takes every sample, also those whose step is not known.
struct StepRange {
  int64_t first = std::numeric_limits<int64_t>::min();
  int64_t last = std::numeric_limits<int64_t>::max();
  bool holds(int64_t step) const { return step >= first && step <= last; }
};

// One row for each series that has a sample in the range: machine, process, operators, workers,
// threads.
std::vector<CpuRow> cpu_rows(const RankId& rank, const std::vector<CpuSeries>& series,
                             const std::vector<CpuOperator>& operators, int64_t processors,
                             const StepRange& steps = {});

std::vector<CpuSampleRow> cpu_sample_rows(const RankId& rank, const std::vector<CpuSeries>& series);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_CPU_CPU_H_
