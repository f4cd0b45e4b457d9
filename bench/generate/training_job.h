// Runs all ranks together, batch by batch, so that collectives match: the last rank to arrive
// decides when a collective ends, the others wait inside theirs. Writes every rank's file and the
// answer key.

#ifndef STEPSCOPE_BENCH_GENERATE_TRAINING_JOB_H_
#define STEPSCOPE_BENCH_GENERATE_TRAINING_JOB_H_

#include <cstdint>
#include <string>

#include "bench/generate/options.h"

namespace stepscope::generate {

struct JobSummary {
  std::string error;  // Empty on success.
  int64_t files = 0;
  int64_t events = 0;
  int64_t text_bytes = 0;  // Before compression.
  std::string answer_key_path;
};

[[nodiscard]] JobSummary RunTrainingJob(const Options& options);

}  // namespace stepscope::generate

#endif  // STEPSCOPE_BENCH_GENERATE_TRAINING_JOB_H_
