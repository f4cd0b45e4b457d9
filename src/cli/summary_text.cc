#include "cli/summary_text.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/utf8.h"
#include "cli/terminal.h"
#include "query/result_writer.h"
#include "store/schema.h"

namespace stepscope {
namespace {

constexpr size_t kRanksListed = 8;
constexpr size_t kCategoriesListed = 12;
constexpr size_t kNamesListed = 6;
constexpr size_t kQualityListed = 10;
constexpr size_t kTriggersListed = 5;
constexpr size_t kUsualWidth = 160;

std::string cut(const std::string& text, size_t columns) {
  if (display_width(text) <= columns || columns < 4) return text;
  // By characters, not bytes: a cut inside of one would be no text any more.
  std::string out = text;
  while (!out.empty() && display_width(out) > columns - 3) {
    do {
      const auto last = static_cast<unsigned char>(out.back());
      out.pop_back();
      if ((last & 0xC0) != 0x80) break;
    } while (!out.empty());
  }
  return out + "...";
}

std::string padded(const std::string& text, size_t columns) {
  const size_t used = display_width(text);
  return used < columns ? text + std::string(columns - used, ' ') : text;
}

// "0-3, 8" for 0 1 2 3 8.
std::string ranges_text(const std::set<int64_t>& numbers) {
  std::string out;
  for (auto at = numbers.begin(); at != numbers.end();) {
    const int64_t first = *at;
    int64_t last = first;
    for (++at; at != numbers.end() && *at == last + 1; ++at) last = *at;
    if (!out.empty()) out += ", ";
    out += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
  }
  return out;
}

// "NVIDIA H200 (8), CPU (1)": the values of a field and how many ranks have each.
std::string counted(const std::vector<RankSummary>& ranks, std::string RankSummary::* field,
                    size_t most) {
  std::map<std::string, size_t> counts;
  for (const RankSummary& rank : ranks) {
    if (!(rank.*field).empty()) ++counts[rank.*field];
  }
  std::string out;
  size_t shown = 0;
  for (const auto& [value, count] : counts) {
    if (shown++ == most) {
      out += fmt::format(" and {} more", counts.size() - most);
      break;
    }
    if (!out.empty()) out += ", ";
    out += value;
    if (counts.size() > 1) out += fmt::format(" ({})", count);
  }
  return out;
}

class Page {
 public:
  explicit Page(size_t width) : width_(width == 0 ? kUsualWidth : width) {}

  void field(const char* name, const std::string& value) {
    if (!value.empty()) line(fmt::format("{:<11}{}", name, value));
  }
  void line(const std::string& text) {
    out_ += cut(visible_text(text), width_);
    out_ += '\n';
  }
  void head(const std::string& text) {
    out_ += '\n';
    line(text);
  }
  size_t width() const { return width_; }
  std::string text() { return std::move(out_); }

 private:
  size_t width_;
  std::string out_;
};

void add_overview(const RunSummary& summary, Page& page) {
  const auto& ranks = summary.ranks;
  std::set<int64_t> numbers;
  int64_t first_ns = kNull;
  int64_t last_ns = kNull;
  int64_t world = kNull;
  size_t inferred = 0;
  for (const RankSummary& rank : ranks) {
    numbers.insert(rank.rank);
    inferred += rank.rank_inferred ? 1 : 0;
    world = std::max(world, rank.world_size);
    if (rank.first_ns != kNull && (first_ns == kNull || rank.first_ns < first_ns))
      first_ns = rank.first_ns;
    last_ns = std::max(last_ns, rank.last_ns);
  }
  page.field("store", fmt::format("{} ({})", summary.store_path, bytes_text(summary.store_bytes)));
  page.field("note", summary.executions);
  std::string text = fmt::format("{} ({})", numbers.size(), ranges_text(numbers));
  if (ranks.size() > numbers.size()) text += fmt::format(", {} recording windows", ranks.size());
  if (world != kNull) text += fmt::format(" of {}", world);
  if (inferred > 0) text += fmt::format("; {} not said by the input but inferred", inferred);
  page.field("ranks", text);
  page.field("read from", counted(ranks, &RankSummary::format, 4));
  page.field("hosts", counted(ranks, &RankSummary::host, 4));
  const std::string names = counted(ranks, &RankSummary::device_name, 3);
  page.field("devices", names.empty() ? counted(ranks, &RankSummary::device_kind, 3) : names);
  if (first_ns != kNull && last_ns != kNull) {
    page.field("time", fmt::format("{} to {}, {}", time_text(first_ns), time_text(last_ns),
                                   duration_text(last_ns - first_ns)));
  }
  for (const std::string& line : trigger_lines(summary.triggers, kTriggersListed))
    page.field("captured", line);
  const StepsSummary& steps = summary.steps;
  if (steps.count == 0) {
    page.field("steps", "none marked");
    return;
  }
  text = steps.count == 1 ? fmt::format("1 ({})", steps.first)
                          : fmt::format("{} ({} to {})", steps.count, steps.first, steps.last);
  if (steps.median_ns != kNull) {
    text += fmt::format(", marked {} median, {} to {}", duration_text(steps.median_ns),
                        duration_text(steps.min_ns), duration_text(steps.max_ns));
  }
  if (steps.incomplete > 0) text += fmt::format(", {} cut by the window", steps.incomplete);
  page.field("steps", text);
}

std::string mean_text(int64_t ns) { return ns == kNull ? "-" : duration_text(ns); }

void add_ranks(const RunSummary& summary, Page& page) {
  const auto& ranks = summary.ranks;
  if (ranks.size() < 2) return;
  page.head(fmt::format("{:>6}  {:>12}  {:>12}  {:>5}  {:>11}  {}", "rank", "slices", "kernels",
                        "steps", "mean mark", "host, device"));
  const auto add = [&](const RankSummary& rank) {
    std::string where = rank.host;
    const std::string& device = rank.device_name.empty() ? rank.device_kind : rank.device_name;
    if (!where.empty() && !device.empty()) where += ", ";
    where += device;
    page.line(fmt::format("{:>6}  {:>12}  {:>12}  {:>5}  {:>11}  {}", rank.rank,
                          count_text(rank.slices), count_text(rank.kernels), rank.steps,
                          mean_text(rank.mean_step_ns), where));
  };
  if (ranks.size() <= kRanksListed) {
    for (const RankSummary& rank : ranks) add(rank);
    return;
  }
  // Too many to list: those with the longest and the shortest steps.
  std::vector<const RankSummary*> order;
  for (const RankSummary& rank : ranks) order.push_back(&rank);
  std::stable_sort(order.begin(), order.end(), [](const RankSummary* a, const RankSummary* b) {
    return a->mean_step_ns > b->mean_step_ns;
  });
  for (size_t i = 0; i < 3; ++i) add(*order[i]);
  page.line(fmt::format("{:>6}  ({} ranks between: select * from ranks)", "...", ranks.size() - 6));
  for (size_t i = ranks.size() - 3; i < ranks.size(); ++i) add(*order[i]);
}

void add_names(const char* what, const std::vector<NameSummary>& names, Page& page) {
  if (names.empty()) return;
  page.head(fmt::format("{:>12}  {:>11}  {}", "calls", "time", what));
  for (size_t i = 0; i < std::min(names.size(), kNamesListed); ++i) {
    page.line(fmt::format("{:>12}  {:>11}  {}", count_text(names[i].count),
                          duration_text(names[i].total_ns), names[i].name));
  }
}

void add_categories(const RunSummary& summary, Page& page) {
  if (summary.categories.empty()) return;
  page.head(fmt::format("{:>12}  {:>11}  {}", "slices", "time", "category"));
  for (size_t i = 0; i < std::min(summary.categories.size(), kCategoriesListed); ++i) {
    const CategorySummary& category = summary.categories[i];
    page.line(fmt::format("{:>12}  {:>11}  {}", count_text(category.slices),
                          duration_text(category.total_ns),
                          category.category.empty() ? "(none)" : category.category));
  }
  if (summary.categories.size() > kCategoriesListed)
    page.line(
        fmt::format("{:>27}  and {} more", "", summary.categories.size() - kCategoriesListed));
}

void add_quality(const RunSummary& summary, Page& page) {
  if (summary.quality.empty()) {
    page.head("data quality: nothing found");
    return;
  }
  page.head("data quality (losses first; complete: select * from quality)");
  for (size_t i = 0; i < std::min(summary.quality.size(), kQualityListed); ++i) {
    const QualitySummary& entry = summary.quality[i];
    std::string text = fmt::format("  {} {} {:>10}  ", padded(entry.severity, 7),
                                   padded(entry.code, 22), count_text(entry.count));
    if (summary.ranks.size() > 1)
      text += fmt::format("({} rank{}) ", entry.ranks, entry.ranks == 1 ? "" : "s");
    text += entry.meaning;
    if (!entry.example.empty()) text += "; e.g. " + entry.example;
    page.line(text);
  }
  if (summary.quality.size() > kQualityListed)
    page.line(fmt::format("  and {} more", summary.quality.size() - kQualityListed));
}

}  // namespace

std::string summary_text(const RunSummary& summary, size_t width) {
  Page page(width);
  add_overview(summary, page);
  add_ranks(summary, page);
  add_categories(summary, page);
  add_names("device work", summary.device_names, page);
  add_names("operator (with what it calls)", summary.op_names, page);
  add_quality(summary, page);
  return page.text();
}

}  // namespace stepscope
