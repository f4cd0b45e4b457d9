// Findings as rows of a result table: the first place of each, evidence as JSON.
#ifndef STEPSCOPE_ANALYSES_ADVICE_FINDING_ROWS_H_
#define STEPSCOPE_ANALYSES_ADVICE_FINDING_ROWS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/advice/finding.h"
#include "analyses/common/result_table.h"

namespace stepscope {

struct FindingRow {
  std::string_view rule;
  std::string title;
  std::string detail;
  std::string_view remedy;
  int64_t gain_ns = kNull;
  double gain_share = 0;
  std::string_view confidence;
  int64_t rank = kNull;
  int64_t step = kNull;
  int64_t start_ns = kNull;
  int64_t end_ns = kNull;
  std::string evidence;
};

inline constexpr Field<FindingRow> kFindingFields[] = {
    field<&FindingRow::rule>("rule", Unit::kNone, "name of the rule that found it"),
    field<&FindingRow::title>("title", Unit::kNone, "the finding in one sentence"),
    field<&FindingRow::detail>("detail", Unit::kNone, "how it was seen"),
    field<&FindingRow::remedy>("remedy", Unit::kNone, "what to do"),
    field<&FindingRow::gain_ns>("gain_ns", Unit::kNanoseconds,
                                "what a step would gain at most; NULL: cannot be said"),
    field<&FindingRow::gain_share>("gain_share", Unit::kShare, "the same as a share of the step"),
    field<&FindingRow::confidence>("confidence", Unit::kNone, "measured, derived or hint"),
    field<&FindingRow::rank>("rank", Unit::kNone, "rank to look at"),
    field<&FindingRow::step>("step", Unit::kNone, "step to look at"),
    field<&FindingRow::start_ns>("start_ns", Unit::kTimestamp, "where to look, its beginning"),
    field<&FindingRow::end_ns>("end_ns", Unit::kTimestamp, "where to look, its end"),
    field<&FindingRow::evidence>("evidence", Unit::kNone,
                                 "the numbers that show it, a JSON object"),
};

std::vector<FindingRow> finding_rows(const std::vector<Finding>& findings);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_ADVICE_FINDING_ROWS_H_
