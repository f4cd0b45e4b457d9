#include "analyses/advice/finding_rows.h"

#include "base/json_text.h"

namespace stepscope {

std::vector<FindingRow> finding_rows(const std::vector<Finding>& findings) {
  std::vector<FindingRow> rows;
  for (const Finding& finding : findings) {
    FindingRow& row = rows.emplace_back();
    row.rule = finding.rule;
    row.title = finding.title;
    row.detail = finding.detail;
    row.remedy = finding.remedy;
    row.gain_ns = finding.gain_ns;
    row.gain_share = finding.gain_share;
    row.confidence = confidence_name(finding.confidence);
    if (!finding.places.empty()) {
      const Place& place = finding.places.front();
      row.rank = place.rank;
      row.step = place.step;
      row.start_ns = place.start_ns;
      row.end_ns = place.end_ns;
    }
    JsonObject evidence;
    for (const Evidence& one : finding.evidence) evidence.add(one.name, one.value);
    row.evidence = evidence.text();
  }
  return rows;
}

}  // namespace stepscope
