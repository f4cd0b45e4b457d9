// One page that needs nothing besides itself: styles and charts are in it, scripts are not.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "analyses/advice/wording.h"
#include "deliverables/report/report.h"

namespace stepscope {
namespace {

constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
:root{--page:#f6f8fb;--card:#fff;--border:#e1e6ee;--text:#172033;--muted:#5a6679;--gain:#c2410c}
@media(prefers-color-scheme:dark){:root{--page:#0f1521;--card:#161e2d;--border:#263248;--text:#e6ecf5;--muted:#9aa7ba;--gain:#ff8a5c}}
body{margin:0;background:var(--page);color:var(--text);font:14px/1.5 system-ui,sans-serif;font-variant-numeric:tabular-nums}
main{max-width:1080px;margin:0 auto;padding:24px 16px}
h1{font-size:20px;margin:0;overflow-wrap:anywhere}h2{font-size:16px;margin:0 0 12px}
section{background:var(--card);border:1px solid var(--border);border-radius:8px;padding:16px;margin-top:16px;overflow-wrap:anywhere}
.muted{color:var(--muted)}.gain{color:var(--gain)}
table{border-collapse:collapse;width:100%}td,th{padding:4px 8px;text-align:right;white-space:nowrap}
td:first-child,th:first-child{text-align:left;width:100%;white-space:normal;overflow-wrap:anywhere}
th{font-weight:600;border-bottom:1px solid var(--border)}
code{font:12px ui-monospace,monospace}
.stack{display:flex;height:32px;border-radius:4px;overflow:hidden;margin-bottom:12px}
.stack i{display:block;border-right:1px solid var(--card)}
.dot{display:inline-block;width:10px;height:10px;border-radius:3px;margin-right:8px}
article{border-top:1px solid var(--border);padding:12px 0 0;margin-top:12px}article:first-of-type{border:0;margin:0;padding:0}
h3{font-size:14px;margin:0 0 4px}p{margin:0 0 6px}ul{margin:0;padding-left:18px}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,320px),1fr));gap:0 16px}
</style>
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f%%", share * 100);
  return text;
}

void append_list(std::string& out, const char* title, const std::vector<std::string>& items,
                 const char* none) {
  out += "<section><h2>" + std::string(title) + "</h2>";
  if (items.empty()) out += "<p class=\"muted\">" + std::string(none) + "</p>";
  if (!items.empty()) out += "<ul>";
  for (const std::string& item : items) out += "<li>" + escaped(item) + "</li>";
  if (!items.empty()) out += "</ul>";
  out += "</section>\n";
}

void append_budget(std::string& out, const Report& report) {
  out += "<section><h2>Where a step goes</h2>";
  if (report.steps == 0) {
    out += "<p class=\"muted\">How long a step takes is not known: " + escaped(report.no_steps) +
           "</p></section>\n";
    return;
  }
  out += "<div class=\"stack\" role=\"img\" aria-label=\"parts of a step\">";
  for (const ReportPart& part : report.parts)
    out += "<i style=\"width:" + percent(part.share) + ";background:" + part.colour +
           "\" title=\"" + escaped(part.name + ": " + words_for_time(std::llround(part.ns))) +
           "\"></i>";
  out += "</div><table>";
  for (const ReportPart& part : report.parts)
    out += "<tr><td><span class=\"dot\" style=\"background:" + part.colour + "\"></span>" +
           escaped(part.name) + "</td><td title=\"" + std::to_string(std::llround(part.ns)) +
           " ns\">" + words_for_time(std::llround(part.ns)) + "</td><td>" +
           words_for_share(part.share) + "</td></tr>";
  out += "</table>";
  if (!report.between_steps.empty()) out += "<p>" + escaped(report.between_steps) + "</p>";
  out += "</section>\n";
}

void append_findings(std::string& out, const Report& report) {
  out += "<section><h2>What holds it up</h2>";
  if (report.findings.empty()) out += "<p class=\"muted\">" + escaped(report.no_findings) + "</p>";
  for (size_t i = 0; i < report.findings.size(); ++i) {
    const FindingRow& finding = report.findings[i];
    out += "<article><h3>" + escaped(finding.title) + "</h3>";
    if (finding.gain_ns != kNull)
      out += "<p class=\"gain\">up to " + words_for_time(finding.gain_ns) + " a step (" +
             words_for_share(finding.gain_share) + "), " + std::string(finding.confidence) + "</p>";
    out += "<p>" + escaped(finding.detail) + "</p><p class=\"muted\">" + escaped(finding.remedy) +
           "</p>";
    if (!report.places[i].empty())
      out += "<p class=\"muted\">See " + escaped(report.places[i]) + ".</p>";
    out += "</article>";
  }
  out += "</section>\n";
}

}  // namespace

std::string report_html(const Report& report) {
  std::string out(kHead);
  out += "<title>" + escaped(report.run) + " · Stepscope</title></head><body><main>\n<h1>" +
         escaped(report.run) + "</h1><p class=\"muted\">";
  for (size_t i = 0; i < report.head.size(); ++i)
    out += (i == 0 ? "" : " · ") + escaped(report.head[i]);
  if (report.steps > 0)
    out += " · a step takes " + words_for_time(std::llround(report.step_ns)) + " (" +
           report.mean_of + ")";
  out += "</p>\n";
  append_findings(out, report);
  append_budget(out, report);
  out += "<section><h2>" + escaped(report.lines_title) + "</h2>";
  if (!report.lines.empty())
    out += "<table><tr><th>name</th><th>time</th><th>share</th><th>count</th></tr>";
  for (const ReportLine& line : report.lines)
    out += "<tr><td><code>" + escaped(line.name) + "</code></td><td>" +
           words_for_time(std::llround(line.ns)) + "</td><td>" + words_for_share(line.share) +
           "</td><td>" + std::to_string(line.count) + "</td></tr>";
  out +=
      report.lines.empty() ? "<p class=\"muted\">" + escaped(report.no_lines) + "</p>" : "</table>";
  out += "</section>\n<div class=\"columns\">";
  append_list(out, "Memory", report.memory, "nothing recorded");
  append_list(out, "Data preparation", report.data, "nothing recorded");
  out += "</div>\n";
  append_list(out, "Data quality", report.quality, "nothing lost, nothing doubtful");
  return out + "</main></body></html>\n";
}

}  // namespace stepscope
