// Why a run was captured: what a watch of the collector wrote into it (docs/triggers.md).
#ifndef STEPSCOPE_ANALYSES_COMMON_TRIGGERS_H_
#define STEPSCOPE_ANALYSES_COMMON_TRIGGERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "store/store_reader.h"

namespace stepscope {

struct RunTrigger {
  int64_t rank = 0;
  int64_t window = 0;
  std::string kind;       // "slow_step"
  std::string what;       // a sentence without its end
  int64_t step = kNull;   // that was open, or was slow
  int64_t ts_ns = kNull;  // since 1970
};

// In the order of the ranks, and of time in each. Empty for runs that somebody started.
std::vector<RunTrigger> run_triggers(const StoreReader& store);
// "rank 3: slow_step: step 41 took 0.6 s, ..."; the rank where there are several. At most `most`
// lines, the last of which says how many there are more.
std::vector<std::string> trigger_lines(const std::vector<RunTrigger>& triggers, size_t most);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_COMMON_TRIGGERS_H_
