// What the length of a step would be if parts of it took more or less time, as a user asks for it.
#ifndef STEPSCOPE_ANALYSES_CRITICAL_PATH_WHAT_IF_H_
#define STEPSCOPE_ANALYSES_CRITICAL_PATH_WHAT_IF_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "analyses/common/result_table.h"
#include "analyses/critical_path/critical_path.h"
#include "base/result.h"

namespace stepscope {

// Which steps to look at.
struct StepChoice {
  std::optional<int64_t> rank = {};  // else every rank
  std::optional<int64_t> step = {};  // else the one of middle length of each rank and window
};

struct WhatIfRow {
  int64_t rank = 0;
  int64_t window = 0;
  int64_t step = 0;
  int64_t events = 0;
  int64_t events_ns = 0;
  int64_t before_ns = 0;
  int64_t after_ns = 0;
  int64_t gain_ns = 0;
};

inline constexpr Field<WhatIfRow> kWhatIfFields[] = {
    field<&WhatIfRow::rank>("rank", Unit::kNone, "rank"),
    field<&WhatIfRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&WhatIfRow::step>("step", Unit::kNone, "step"),
    field<&WhatIfRow::events>("events", Unit::kCount,
                              "device events that change; 0 for kinds that are no device work"),
    field<&WhatIfRow::events_ns>("events_ns", Unit::kNanoseconds, "their recorded time"),
    field<&WhatIfRow::before_ns>("before_ns", Unit::kNanoseconds, "length of the step"),
    field<&WhatIfRow::after_ns>("after_ns", Unit::kNanoseconds, "length of the changed step"),
    field<&WhatIfRow::gain_ns>("gain_ns", Unit::kNanoseconds,
                               "before_ns - after_ns; below zero where it becomes longer"),
};

// "gemm" and 0.5: all device work that has gemm in its name, or gemm for its kind in the table
// kernels, takes half as long. A kind of the critical path ("communication", "launch"...) is
// everything of that kind. Fails on an empty name and on a factor that is no number from 0 to 1000.
Result<WhatIf> make_what_if(std::string_view what, double factor);
// The same as one text, "gemm*0.5": the factor comes after the last star.
Result<WhatIf> parse_what_if(std::string_view text);

WhatIfRow what_if_row(const CriticalPath& path, const WhatIf& change);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_CRITICAL_PATH_WHAT_IF_H_
