// The answer to "why is my step slow" on one screen: where a step goes, what holds it up, the
// operators with most time, memory, data preparation, and what is wrong with the data.
//
// The content is collected once (make_report) and printed as text, Markdown or one self-contained
// HTML page; the JSON form has the complete result tables instead.
#ifndef STEPSCOPE_DELIVERABLES_REPORT_REPORT_H_
#define STEPSCOPE_DELIVERABLES_REPORT_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analyses/run_analyses.h"

namespace stepscope {

struct ReportPart {
  std::string name;    // "computing"
  std::string colour;  // of the web pages, "#2F6FDE"
  double ns = 0;       // mean of a step
  double share = 0;
};

struct ReportLine {
  std::string name;
  double ns = 0;
  double share = 0;
  int64_t count = 0;
};

struct Report {
  std::string run;                // name of what was opened
  std::vector<std::string> head;  // ranks, device, steps, a phrase each
  int64_t steps = 0;              // that the means are made of, of all ranks
  std::string mean_of;            // in words
  std::string no_steps;           // why there are none
  double step_ns = 0;
  std::vector<ReportPart> parts;  // add up to step_ns
  std::string between_steps;      // time that no step has; "" when there is none
  std::vector<FindingRow> findings;
  std::vector<std::string> places;  // of each finding, where to look; "" when it has none
  std::string no_findings;          // why there are none
  std::string lines_title;
  std::vector<ReportLine> lines;  // kernels, operators where there are none, else ranges
  std::string no_lines;           // why there are none
  std::vector<std::string> memory;
  std::vector<std::string> data;
  std::vector<std::string> quality;
};

Report make_report(RunAnalyses& run, const std::string& name);

// `width`: columns of the terminal, 0: 100.
std::string report_text(const Report& report, size_t width, bool colours);
std::string report_markdown(const Report& report);
std::string report_html(const Report& report);
// Version 1, docs/report.md: result tables as arrays of objects.
std::string report_json(RunAnalyses& run, const std::string& name);

}  // namespace stepscope

#endif  // STEPSCOPE_DELIVERABLES_REPORT_REPORT_H_
