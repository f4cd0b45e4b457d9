// What the counters of an Ascend timeline are called and measured in. The timeline gives them in
// KB, MB/s (both of 1,024) and, for hit rates, fractions named "%"; the database form in bytes, B/s
// and percent. Both forms become the latter, with the timeline's words: "HBM 0/Read (B/s)".
#ifndef STEPSCOPE_IMPORTERS_ASCEND_TEXT_COUNTER_NAMES_H_
#define STEPSCOPE_IMPORTERS_ASCEND_TEXT_COUNTER_NAMES_H_

#include <string>
#include <string_view>

#include "store/rank_builder.h"

namespace stepscope {

struct CounterMeaning {
  std::string name;
  double factor = 1;
  bool whole = false;  // the database cuts the fraction off
};

bool is_counter_process(std::string_view name);

// `name` is the event's name and its key, joined by a blank. A timeline that we exported has the
// names already: they stay.
CounterMeaning counter_meaning(std::string_view process, std::string_view name);

// Renames and rescales the counters of all such processes.
void name_counters(RankBuilder& rank);

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_ASCEND_TEXT_COUNTER_NAMES_H_
