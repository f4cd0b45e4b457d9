#include <algorithm>
#include <cmath>

#include "analyses/advice/wording.h"
#include "deliverables/report/report.h"
#include "deliverables/report/short_name.h"

namespace stepscope {
namespace {

std::string padded(std::string text, size_t width, bool right = false) {
  const size_t have = shown_width(text);
  if (have >= width) return text;
  return right ? std::string(width - have, ' ') + text : text + std::string(width - have, ' ');
}

// Breaks at spaces, with an indent on every line; the first may have another one.
void append_wrapped(std::string& out, const std::string& text, size_t indent, size_t width,
                    const std::string& first = "") {
  std::string line = first.empty() ? std::string(indent, ' ') : first;
  size_t start = 0;
  while (start < text.size()) {
    size_t end = text.find(' ', start);
    if (end == std::string::npos) end = text.size();
    const std::string word = text.substr(start, end - start);
    if (shown_width(line) + shown_width(word) > width && shown_width(line) > indent) {
      while (line.ends_with(' ')) line.pop_back();
      out += line + "\n";
      line.assign(indent, ' ');
    }
    line += word + " ";
    start = end + 1;
  }
  while (line.ends_with(' ')) line.pop_back();
  if (!line.empty()) out += line + "\n";
}

std::string bar(double share, size_t width) {
  static constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<size_t>(
      std::lround(std::clamp(share, 0.0, 1.0) * static_cast<double>(width) * 8));
  std::string text;
  for (size_t i = 0; i < eighths / 8; ++i) text += "█";
  return text + kEighths[eighths % 8];
}

class Printer {
 public:
  Printer(size_t width, bool colours) : width_(width), colours_(colours) {}

  void heading(const std::string& text) {
    out += "\n" + (colours_ ? "\x1b[1m" + text + "\x1b[0m" : text) + "\n";
  }
  void lines(const std::string& title, const std::vector<std::string>& items,
             const std::string& none) {
    heading(title);
    if (items.empty()) append_wrapped(out, none, 2, width_);
    for (const std::string& item : items) append_wrapped(out, item, 2, width_);
  }

  std::string out;

 private:
  size_t width_;
  bool colours_;
};

}  // namespace

std::string report_text(const Report& report, size_t width, bool colours) {
  if (width == 0) width = 100;
  width = std::clamp<size_t>(width, 60, 160);
  Printer printer(width, colours);
  std::string& out = printer.out;
  out = report.run + "\n";
  for (size_t i = 0; i < report.head.size(); ++i) out += (i == 0 ? "" : " · ") + report.head[i];
  out += "\n";

  if (report.steps > 0) {
    printer.heading("A step takes " + words_for_time(std::llround(report.step_ns)) + " (" +
                    report.mean_of + ")");
    size_t longest = 0;
    for (const ReportPart& part : report.parts) longest = std::max(longest, part.name.size());
    for (const ReportPart& part : report.parts) {
      out += "  " + padded(part.name, longest) + "  " +
             padded(words_for_time(std::llround(part.ns)), 9, true) + "  " +
             padded(words_for_share(part.share), 6, true) + "  " +
             bar(part.share, width - std::min(width - 10, longest + 24)) + "\n";
    }
    append_wrapped(out, report.between_steps, 2, width);
  } else {
    printer.lines("How long a step takes is not known", {}, report.no_steps);
  }

  printer.heading("What holds it up");
  if (report.findings.empty()) append_wrapped(out, report.no_findings, 2, width);
  for (size_t i = 0; i < report.findings.size(); ++i) {
    const FindingRow& finding = report.findings[i];
    append_wrapped(out, finding.title, 5, width, padded("  " + std::to_string(i + 1) + ".", 5));
    if (finding.gain_ns != kNull)
      append_wrapped(out,
                     "gain: up to " + words_for_time(finding.gain_ns) + " a step (" +
                         words_for_share(finding.gain_share) + "), " +
                         std::string(finding.confidence),
                     5, width);
    if (!finding.detail.empty()) append_wrapped(out, finding.detail, 5, width);
    append_wrapped(out, "do: " + std::string(finding.remedy), 5, width);
    if (!report.places[i].empty()) append_wrapped(out, "see: " + report.places[i], 5, width);
  }

  printer.heading(report.lines_title);
  if (report.lines.empty()) append_wrapped(out, report.no_lines, 2, width);
  const size_t name_width = width - 36;
  for (const ReportLine& line : report.lines) {
    out += "  " + padded(short_name(line.name, name_width), name_width) + "  " +
           padded(words_for_time(std::llround(line.ns)), 9, true) + "  " +
           padded(words_for_share(line.share), 6, true) + "  × " + std::to_string(line.count) +
           "\n";
  }
  printer.lines("Memory", report.memory, "nothing recorded");
  printer.lines("Data preparation", report.data, "nothing recorded");
  printer.lines("Data quality", report.quality, "nothing lost, nothing doubtful");
  return out;
}

std::string report_markdown(const Report& report) {
  std::string out = "# " + report.run + "\n\n";
  for (size_t i = 0; i < report.head.size(); ++i) out += (i == 0 ? "" : " · ") + report.head[i];
  out += "\n\n";
  if (report.steps > 0) {
    out += "## A step takes " + words_for_time(std::llround(report.step_ns)) + " (" +
           report.mean_of + ")\n\n| part | time | share |\n|---|---:|---:|\n";
    for (const ReportPart& part : report.parts)
      out += "| " + part.name + " | " + words_for_time(std::llround(part.ns)) + " | " +
             words_for_share(part.share) + " |\n";
    if (!report.between_steps.empty()) out += "\n" + report.between_steps + "\n";
  } else {
    out += "## How long a step takes is not known\n\n" + report.no_steps + "\n";
  }
  out += "\n## What holds it up\n\n";
  if (report.findings.empty()) out += report.no_findings + "\n";
  for (size_t i = 0; i < report.findings.size(); ++i) {
    const FindingRow& finding = report.findings[i];
    out += "1. **" + finding.title + "**";
    if (finding.gain_ns != kNull)
      out += " (up to " + words_for_time(finding.gain_ns) + " a step, " +
             words_for_share(finding.gain_share) + ", " + std::string(finding.confidence) + ")";
    out += "  \n   " + finding.detail + "  \n   " + std::string(finding.remedy) + "\n";
    if (!report.places[i].empty()) {
      out.insert(out.size() - 1, "  ");
      out += "   See " + report.places[i] + ".\n";
    }
  }
  out +=
      "\n## " + report.lines_title + "\n\n| name | time | share | count |\n|---|---:|---:|---:|\n";
  for (const ReportLine& line : report.lines) {
    std::string name = line.name;
    for (size_t at = 0; (at = name.find('|', at)) != std::string::npos; at += 2)
      name.insert(at, "\\");
    out += "| `" + name + "` | " + words_for_time(std::llround(line.ns)) + " | " +
           words_for_share(line.share) + " | " + std::to_string(line.count) + " |\n";
  }
  const auto list = [&](const char* title, const std::vector<std::string>& items,
                        const char* none) {
    out += "\n## " + std::string(title) + "\n\n";
    if (items.empty()) out += std::string(none) + "\n";
    for (const std::string& item : items) out += "- " + item + "\n";
  };
  list("Memory", report.memory, "nothing recorded");
  list("Data preparation", report.data, "nothing recorded");
  list("Data quality", report.quality, "nothing lost, nothing doubtful");
  return out;
}

}  // namespace stepscope
