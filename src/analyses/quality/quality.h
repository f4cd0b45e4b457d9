// The data-quality report of a run: what the importers counted, and what only the analyses see:
// steps that turn out to be incomplete or were marked twice, time that no step has, and what
// recording cost.
#ifndef STEPSCOPE_ANALYSES_QUALITY_QUALITY_H_
#define STEPSCOPE_ANALYSES_QUALITY_QUALITY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/common/result_table.h"
#include "analyses/steps/step_row.h"
#include "store/store_reader.h"

namespace stepscope {

struct QualityRow {
  int64_t rank = 0;
  int64_t window = 0;
  std::string_view code;
  std::string_view severity;
  int64_t count = 0;
  std::string example;
  std::string_view meaning;
  bool excluded = false;
};

inline constexpr Field<QualityRow> kQualityFields[] = {
    field<&QualityRow::rank>("rank", Unit::kNone, "rank"),
    field<&QualityRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&QualityRow::code>("code", Unit::kNone,
                             "name of the condition; incomplete_steps, repeated_marks, "
                             "between_steps and profiler_overhead are of the analyses, the others "
                             "of the importer"),
    field<&QualityRow::severity>("severity", Unit::kNone,
                                 "loss (data is missing), suspect (data is doubtful) or note"),
    field<&QualityRow::count>("count", Unit::kCount, "how often"),
    field<&QualityRow::example>("example", Unit::kNone, "first places where it was found"),
    field<&QualityRow::meaning>("meaning", Unit::kNone, "what it means"),
    field<&QualityRow::excluded>("excluded", Unit::kNone, "totals leave these events out"),
};

inline constexpr std::string_view kIncompleteSteps = "incomplete_steps";
inline constexpr std::string_view kRepeatedMarks = "repeated_marks";
inline constexpr std::string_view kBetweenSteps = "between_steps";
inline constexpr std::string_view kProfilerOverhead = "profiler_overhead";

// Of one rank. `overhead`: how much longer steps were while they were recorded, where that is
// known.
std::vector<QualityRow> quality_rows(const StoreReader& store, const RankId& rank,
                                     std::span<const StepRow> steps,
                                     std::optional<double> overhead);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_QUALITY_QUALITY_H_
