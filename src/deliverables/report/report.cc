#include "deliverables/report/report.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "analyses/advice/wording.h"
#include "analyses/common/executions.h"
#include "analyses/common/triggers.h"
#include "analyses/operators/user_ranges.h"
#include "analyses/overlap/idle.h"
#include "analyses/step_budget/host_activity.h"
#include "analyses/step_budget/step_budget.h"
#include "analyses/steps/steps.h"
#include "base/utf8.h"

namespace stepscope {
namespace {

constexpr size_t kLinesShown = 10;
constexpr size_t kTriggersShown = 3;
constexpr size_t kVerdictsShown = 4;
constexpr size_t kRanksNamed = 8;

struct PartOfBudget {
  const char* name;
  const char* name_on_host;  // for runs without a device, where operators are the work
  const char* colour;
  int64_t StepBudgetRow::* field;
};
constexpr PartOfBudget kParts[] = {
    {"computing", "operators", "#2F6FDE", &StepBudgetRow::compute_ns},
    {"communication, not overlapped", "communication, not overlapped", "#C2410C",
     &StepBudgetRow::exposed_communication_ns},
    {"copies", "copies", "#7C4DDB", &StepBudgetRow::exposed_copy_ns},
    {"idle: waiting for data", "waiting for data", "#0E8F7E", &StepBudgetRow::input_ns},
    {"idle: after a synchronisation", "after a synchronisation", "#C81E3A",
     &StepBudgetRow::sync_ns},
    {"idle: garbage collection", "garbage collection", "#B7791F", &StepBudgetRow::gc_ns},
    {"idle: next work already launched", "already launched", "#8A9BB0", &StepBudgetRow::queued_ns},
    {"idle: host launches too late", "between operators", "#5B6B82", &StepBudgetRow::host_ns},
    {"idle: nothing recorded", "nothing recorded", "#D5DCE6", &StepBudgetRow::other_ns},
};

std::string counted(size_t count, const std::string& word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

void add_head(RunAnalyses& run, Report& report) {
  const StoreReader& store = run.store();
  std::set<int64_t> ranks;
  std::set<std::string> devices;
  for (const RankId& rank : run.ranks()) {
    ranks.insert(rank.rank);
    const std::string_view name = text_at(store, Table::kRanks, "device_name", rank.position);
    const std::string_view kind = text_at(store, Table::kRanks, "device_kind", rank.position);
    if (!name.empty() || !kind.empty()) devices.emplace(name.empty() ? kind : name);
  }
  report.head.push_back(counted(ranks.size(), "rank"));
  std::string names;
  for (const std::string& device : devices) names += (names.empty() ? "" : ", ") + device;
  if (!names.empty()) report.head.push_back(names);
  std::set<std::pair<int64_t, int64_t>>
      steps;  // inferred ones have the same numbers in all windows
  bool inferred = false;
  for (const StepRow& step : run.steps()) {
    steps.insert({step.window, step.step});
    inferred |= step.source == "inferred";
  }
  report.head.push_back(steps.empty() ? "no steps"
                                      : counted(steps.size(), "step") +
                                            (inferred ? " (inferred from repetition)" : ""));
  if (std::string line = executions_line(store); !line.empty()) report.head.push_back(line);
  for (const std::string& line : trigger_lines(run_triggers(store), kTriggersShown))
    report.head.push_back("captured because of " + line);
}

// What a mean is made of: a step of two devices has two rows, and is one step.
class StepCount {
 public:
  void add(const StepBudgetRow& row) {
    steps_.insert({row.rank, row.window, row.start_ns});
    ranks_.insert(row.rank);
    windows_.insert(row.window);
    devices_.insert({row.rank, row.device});
  }
  size_t steps() const { return steps_.size(); }
  std::string words() const {
    std::string words = "mean of " + counted(steps_.size(), "step");
    if (windows_.size() > 1) words += " of " + counted(windows_.size(), "window");
    if (ranks_.size() > 1) words += " of " + counted(ranks_.size(), "rank");
    if (devices_.size() > ranks_.size()) words += " on " + counted(devices_.size(), "device");
    return words;
  }

 private:
  std::set<std::tuple<int64_t, int64_t, int64_t>> steps_;
  std::set<int64_t> ranks_;
  std::set<int64_t> windows_;
  std::set<std::pair<int64_t, int64_t>> devices_;
};

struct BudgetSum {
  int64_t rows = 0;
  double total = 0;
  double parts[std::size(kParts)] = {};

  void add(const StepBudgetRow& row) {
    ++rows;
    total += static_cast<double>(row.step_ns);
    for (size_t i = 0; i < std::size(kParts); ++i)
      parts[i] += static_cast<double>(row.*kParts[i].field);
  }
};

const char* part_name(const PartOfBudget& part, bool on_host) {
  return on_host ? part.name_on_host : part.name;
}

// The time before each step that no step has, as if it were a step.
std::vector<StepRow> gaps_before(std::span<const StepRow> steps) {
  std::vector<StepRow> gaps;
  for (const StepRow& step : steps) {
    if (!step.averaged || step.between_ns == kNull || step.between_ns == 0) continue;
    StepRow gap = step;
    gap.complete = true;
    gap.work_start_ns = step.work_start_ns - step.between_ns;
    gap.work_dur_ns = step.between_ns;
    gaps.push_back(gap);
  }
  return gaps;
}

// How long the program needs beside its steps, and what most of that is.
void add_between_steps(RunAnalyses& run, bool on_host, Report& report) {
  const TimeBetweenSteps between = time_between_steps(run.steps());
  if (between.count == 0) return;
  BudgetSum sum;
  for (const RankId& rank : run.ranks()) {
    const std::vector<StepRow> gaps = gaps_before(run.steps(rank.position));
    const HostActivity host = host_activity(run.store(), rank.position);
    const auto& devices = run.device_intervals()[rank.position];
    const auto launched = launched_gaps(run.store(), rank, run.overlap_lanes()[rank.position]);
    for (size_t i = 0; i < devices.size(); ++i) {
      for (const StepBudgetRow& row : step_budget(rank, devices[i], launched[i], host, gaps))
        sum.add(row);
    }
  }
  const double mean_ns = between.mean_ns();
  report.between_steps = words_for_time(std::llround(mean_ns)) +
                         " between two steps belong to none of them: an iteration takes " +
                         words_for_time(std::llround(report.step_ns + mean_ns)) + ".";
  const size_t most = static_cast<size_t>(std::ranges::max_element(sum.parts) - sum.parts);
  if (sum.total > 0)
    report.between_steps += " Most of them: " + std::string(part_name(kParts[most], on_host)) +
                            ", " + words_for_share(sum.parts[most] / sum.total) + ".";
}

// Mean over the steps of all ranks and devices that averages are made of.
void add_budget(RunAnalyses& run, Report& report) {
  const auto& rows = run.step_budget();
  StepCount counted_steps;
  BudgetSum sum;
  for (const StepBudgetRow& row : rows) {
    if (!row.averaged) continue;
    counted_steps.add(row);
    sum.add(row);
  }
  report.steps = static_cast<int64_t>(counted_steps.steps());
  if (report.steps == 0) {
    const char* table = run.steps().empty() ? "steps" : "step_budget";
    for (const Reason& reason : run.reasons(table)) report.no_steps = reason.why;
    return;
  }
  report.mean_of = counted_steps.words();
  const bool on_host = std::all_of(rows.begin(), rows.end(),
                                   [](const StepBudgetRow& row) { return row.device < 0; });
  const auto count = static_cast<double>(sum.rows);
  report.step_ns = sum.total / count;
  for (size_t i = 0; i < std::size(kParts); ++i) {
    if (sum.parts[i] <= 0) continue;
    report.parts.push_back({part_name(kParts[i], on_host), kParts[i].colour, sum.parts[i] / count,
                            sum.total > 0 ? sum.parts[i] / sum.total : 0});
  }
  add_between_steps(run, on_host, report);
}

// Totals of the whole run: work outside of steps (initialisation, what steps that were found do not
// reach) is in them, so they are not divided by steps.
void add_lines(RunAnalyses& run, Report& report) {
  std::map<std::string_view, ReportLine> by_name;
  double total = 0;
  const auto add = [&](std::string_view name, int64_t ns, int64_t count) {
    ReportLine& line = by_name[name];
    line.name = name;
    line.ns += static_cast<double>(ns);
    line.count += count;
    total += static_cast<double>(ns);
  };
  for (const KernelTotalRow& row : run.kernels().kernels) add(row.name, row.total_ns, row.count);
  report.lines_title = "Most device time";
  if (by_name.empty()) {
    report.lines_title = "Operators with most time of their own";
    for (const OperatorTypeRow& row : run.operators().types) add(row.type, row.self_ns, row.count);
  }
  if (by_name.empty()) {
    for (const RankId& rank : run.ranks()) {
      for (const UserRangeRow& row : user_ranges(run.store(), rank))
        add(row.name, row.self_ns, row.calls);
    }
    if (!by_name.empty()) report.lines_title = "Ranges with most time of their own";
  }
  const auto is_other = [&](const RankId& rank) { return rank.rank != run.ranks()[0].rank; };
  report.lines_title += ", whole run";
  if (std::ranges::any_of(run.ranks(), is_other)) report.lines_title += ", all ranks";
  for (auto& [name, line] : by_name) {
    line.share = total > 0 ? line.ns / total : 0;
    report.lines.push_back(line);
  }
  std::sort(report.lines.begin(), report.lines.end(),
            [](const ReportLine& a, const ReportLine& b) { return a.ns > b.ns; });
  if (report.lines.empty()) {
    for (const Reason& reason : run.reasons("operator_types")) report.no_lines = reason.why;
  }
  if (report.lines.size() > kLinesShown) report.lines.resize(kLinesShown);
}

void add_memory(RunAnalyses& run, Report& report) {
  // The largest pool of each kind stands for its like on other ranks.
  std::map<std::string, const MemoryRow*> largest;
  for (const MemoryRow& row : run.memory().overview) {
    if (row.peak_bytes == kNull) continue;
    const std::string kind = std::string(row.device_kind) +
                             (row.component.empty() ? "" : " " + std::string(row.component));
    const MemoryRow*& best = largest[kind];
    if (best == nullptr || row.peak_bytes > best->peak_bytes) best = &row;
  }
  for (const auto& [kind, row] : largest) {
    std::string line = kind + ": peak " + words_for_bytes(static_cast<double>(row->peak_bytes));
    if (row->capacity_bytes != kNull)
      line += " of " + words_for_bytes(static_cast<double>(row->capacity_bytes));
    if (row->peak_reserved_bytes != kNull)
      line += ", reserved " + words_for_bytes(static_cast<double>(row->peak_reserved_bytes));
    line += " (rank " + std::to_string(row->rank) + ")";
    report.memory.push_back(std::move(line));
  }
}

// A line for all ranks of one verdict.
void add_data(RunAnalyses& run, Report& report) {
  struct Verdict {
    std::string text;
    std::set<int64_t> ranks;
    double least = std::numeric_limits<double>::quiet_NaN();
    double most = std::numeric_limits<double>::quiet_NaN();
    bool is_before = false;  // waits lie before their steps, too
  };
  std::vector<Verdict> verdicts;
  for (const PipelineRow& row : run.pipeline().verdicts) {
    const bool keeps_up = row.slow_stage == "none" || row.slow_stage.empty();
    std::string text =
        keeps_up ? "data preparation keeps up" : "held up in " + std::string(row.slow_stage);
    if (!keeps_up && !row.bottleneck.empty()) text += " by " + row.bottleneck;
    auto found = std::ranges::find(verdicts, text, &Verdict::text);
    if (found == verdicts.end()) found = verdicts.insert(found, Verdict{text, {}});
    found->ranks.insert(row.rank);
    found->least = std::fmin(found->least, row.wait_share);  // not a number: no wait was measured
    found->most = std::fmax(found->most, row.wait_share);
    found->is_before |= row.before_steps_ns > 0;
  }
  for (const Verdict& verdict : verdicts) {
    if (report.data.size() == kVerdictsShown) {
      report.data.push_back(counted(verdicts.size() - kVerdictsShown, "other verdict") +
                            ": see the table pipeline");
      break;
    }
    std::string line = verdict.ranks.size() == 1 ? "rank " : "ranks ";
    size_t named = 0;
    for (const int64_t rank : verdict.ranks) {
      if (named == kRanksNamed) {
        line += " and " + std::to_string(verdict.ranks.size() - named) + " more";
        break;
      }
      line += (named++ == 0 ? "" : ", ") + std::to_string(rank);
    }
    line += ": " + verdict.text;
    if (!std::isnan(verdict.most)) {
      const std::string most = words_for_share(verdict.most);
      const std::string least = words_for_share(verdict.least);
      line += ", waits " + (least == most ? most : least + " to " + most) +
              (report.steps == 0   ? " of the time"
               : verdict.is_before ? " of an iteration"
                                   : " of a step");
    }
    report.data.push_back(std::move(line));
  }
}

// Notes are in the JSON form; those that decide which steps the numbers are made of are here too,
// and that there will be more of them.
bool is_told(const QualityRow& row) {
  return row.severity != "note" || row.code == kIncompleteSteps || row.code == kProfilerOverhead ||
         row.code == kBetweenSteps || row.code == "window_cut" || row.code == "still_recording";
}

void add_quality(RunAnalyses& run, Report& report) {
  struct Told {
    int64_t count = 0;
    const QualityRow* first = nullptr;
  };
  std::map<std::pair<int, std::string_view>, Told> conditions;
  for (const QualityRow& row : run.quality()) {
    if (!is_told(row)) continue;
    const int order = row.severity == "loss" ? 0 : row.severity == "suspect" ? 1 : 2;
    Told& told = conditions[{order, row.code}];
    told.count += row.count;
    if (told.first == nullptr) told.first = &row;
  }
  constexpr const char* kWords[] = {"lost: ", "doubtful: ", "note: "};
  for (const auto& [key, told] : conditions) {
    std::string line = kWords[key.first] + std::string(key.second);
    // These are numbers, and not counted.
    if (key.second == kProfilerOverhead || key.second == kBetweenSteps) {
      line += ": " + told.first->example;
    } else {
      line += told.count == 1 ? ", once: " : ", " + std::to_string(told.count) + " times: ";
      line += told.first->meaning;
      const std::string& example = told.first->example;
      if (!example.empty()) line += ", as " + example.substr(0, example.find("; "));
    }
    report.quality.push_back(std::move(line));
  }
}

void explain_if_empty(RunAnalyses& run, const char* table, std::vector<std::string>& lines) {
  if (!lines.empty()) return;
  for (const Reason& reason : run.reasons(table)) lines.push_back(reason.why);
}

// Names come from the input and may have line breaks and worse in them.
void make_visible(Report& report) {
  const auto all = [](auto&... texts) { ((texts = visible_text(texts)), ...); };
  all(report.run, report.mean_of, report.no_steps, report.no_findings, report.no_lines);
  for (auto* texts : {&report.head, &report.memory, &report.data, &report.quality})
    for (std::string& text : *texts) all(text);
  for (FindingRow& finding : report.findings) all(finding.title, finding.detail);
  for (ReportLine& line : report.lines) all(line.name);
}

// Where to look, by what the pages and the other commands call it.
void add_places(RunAnalyses& run, Report& report) {
  int64_t first_ns = std::numeric_limits<int64_t>::max();
  std::set<int64_t> ranks;
  for (const RankId& rank : run.ranks()) {
    ranks.insert(rank.rank);
    const int64_t ns = number_at(run.store(), Table::kRanks, "first_ns", rank.position);
    if (ns != kNull) first_ns = std::min(first_ns, ns);
  }
  for (const FindingRow& finding : report.findings) {
    std::string words;
    const auto add = [&](const std::string& more) { words += (words.empty() ? "" : ", ") + more; };
    if (finding.rank != kNull && ranks.size() > 1) add("rank " + std::to_string(finding.rank));
    if (finding.step != kNull) add("step " + std::to_string(finding.step));
    if (finding.start_ns != kNull && finding.start_ns >= first_ns) {
      add(finding.start_ns == first_ns
              ? "when the run began"
              : words_for_time(finding.start_ns - first_ns) + " after the run began");
      if (finding.end_ns > finding.start_ns)
        add("for " + words_for_time(finding.end_ns - finding.start_ns));
    }
    report.places.push_back(std::move(words));
  }
}

}  // namespace

Report make_report(RunAnalyses& run, const std::string& name) {
  Report report;
  report.run = name;
  add_head(run, report);
  add_budget(run, report);
  report.findings = run.findings();
  add_places(run, report);
  for (const Reason& reason : run.reasons("findings")) report.no_findings = reason.why;
  add_lines(run, report);
  add_memory(run, report);
  explain_if_empty(run, "memory", report.memory);
  add_data(run, report);
  explain_if_empty(run, "pipeline", report.data);
  add_quality(run, report);
  make_visible(report);
  return report;
}

}  // namespace stepscope
