// Processor use over time, one series for the machine, the process and each data operator, worker
// process and thread that was sampled. From MindSpore's minddata files and from the system source
// of our own recordings, which end in the same counters.
#ifndef STEPSCOPE_ANALYSES_CPU_CPU_SERIES_H_
#define STEPSCOPE_ANALYSES_CPU_CPU_SERIES_H_

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/steps/step_row.h"
#include "store/store_reader.h"

namespace stepscope {

enum class CpuScope : uint8_t { kMachine, kProcess, kOperator, kWorker, kThread };
std::string_view cpu_scope_name(CpuScope scope);

// NaN where it was not sampled.
struct CpuSample {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  int64_t ts_ns = 0;
  int64_t step;  // kNull: not known
  // The machine's are shares of all processors, the others' of one processor (4: four were busy).
  double user = kNone;
  double system = kNone;
  double io_wait = kNone;
  double idle = kNone;
  double busy = kNone;              // user + system, where the source does not tell them apart
  double runnable = kNone;          // processes that run or could run
  double context_switches = kNone;  // since the sample before
};

struct CpuSeries {
  CpuScope scope = CpuScope::kMachine;
  std::string name;  // "" for the machine and the process
  int64_t id;        // of the operator, process or thread; kNull for the machine and the process
  std::vector<CpuSample> samples;  // by rising time
};

// The first sample of minddata's series is left out: utilisation is a difference, so it is 0.
//
// Samples are given steps as MindInsight does: by the batches of the host queue, numbered from 1,
// where there are any (0: before the first), else by the steps of the rank; between two steps it is
// the earlier one. Costs 80 bytes a sample.
std::vector<CpuSeries> cpu_series(const StoreReader& store, size_t rank,
                                  std::span<const StepRow> steps);

// What is known of a data operator beside its samples.
struct CpuOperator {
  int64_t id = 0;
  std::string name;
  int64_t workers = kNull;
};
std::vector<CpuOperator> cpu_operators(const StoreReader& store, size_t rank);

// Processors of the machine, kNull when the input does not say.
int64_t processor_count(const StoreReader& store, size_t rank);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_CPU_CPU_SERIES_H_
