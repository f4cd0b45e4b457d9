#include "bench/generate/answer_key.h"

#include <algorithm>
#include <string_view>

namespace stepscope::generate {
namespace {

constexpr size_t kTopNames = 20;

std::string Member(std::string_view key, int64_t value) {
  return std::string("\"").append(key) + "\": " + std::to_string(value);
}

std::string FlowsToJson(std::string_view kind, const FlowTally& tally) {
  return std::string("\"").append(kind) + "\": {" + Member("starts", tally.starts) + ", " +
         Member("ends", tally.ends) + ", " + Member("paired", tally.paired) + "}";
}

}  // namespace

void AnswerKey::AddEvent(const Event& event, int64_t ts_ns) {
  const auto category = static_cast<size_t>(event.category);
  by_category_[category].count += 1;
  by_category_[category].total_ns += event.dur_ns;
  AddFlow(event);
  if (event.category == Category::kMemory) {
    memory_peak_bytes_ = std::max(memory_peak_bytes_, event.total_allocated_bytes);
    return;
  }
  if (event.name >= by_name_.size()) by_name_.resize(event.name + 1);
  CountAndTime& named = by_name_[event.name][category];
  named.count += 1;
  named.total_ns += event.dur_ns;
  const int64_t end_ns = ts_ns + event.dur_ns;
  first_ts_ns_ = std::min(first_ts_ns_, ts_ns);
  last_end_ns_ = std::max(last_end_ns_, end_ns);
  if (IsDeviceWork(event.category)) batch_spans_.emplace_back(ts_ns, end_ns);
}

void AnswerKey::AddFlow(const Event& event) {
  switch (event.flow) {
    case Flow::kNone:
      break;
    case Flow::kLaunchStart:
      ++launch_flows_.starts;
      break;
    case Flow::kLaunchEnd:
      ++launch_flows_.ends;
      // Every launch of device work is in the trace; ends at CUDA calls have no start.
      if (IsDeviceWork(event.category)) ++launch_flows_.paired;
      break;
    case Flow::kForwardStart:
      ++autograd_flows_.starts;
      break;
    case Flow::kBackwardEnd:
      ++autograd_flows_.ends;
      ++autograd_flows_.paired;
      break;
  }
}

void AnswerKey::AddCollectiveWait(int64_t wait_ns) {
  collective_waits_.count += 1;
  collective_waits_.total_ns += wait_ns;
}

void AnswerKey::EndBatch() {
  std::sort(batch_spans_.begin(), batch_spans_.end());
  for (const auto& [start_ns, end_ns] : batch_spans_) {
    busy_ns_ += std::max<int64_t>(end_ns - std::max(start_ns, busy_until_ns_), 0);
    busy_until_ns_ = std::max(busy_until_ns_, end_ns);
  }
  batch_spans_.clear();
}

int64_t AnswerKey::events() const {
  int64_t total = metadata_ + uncategorised_instants_ + launch_flows_.starts + launch_flows_.ends +
                  autograd_flows_.starts + autograd_flows_.ends;
  for (const CountAndTime& category : by_category_) total += category.count;
  return total;
}

std::string AnswerKey::ToJsonMembers(const NamePool& names, const std::string& indent) const {
  std::string counts;
  std::string durations;
  int64_t slices = 0;
  for (size_t i = 0; i < kCategoryCount; ++i) {
    if (by_category_[i].count == 0) continue;
    const bool instant = static_cast<Category>(i) == Category::kMemory;
    const std::string category(kCategoryNames[i]);
    counts += Member((instant ? "i/" : "X/") + category, by_category_[i].count) + ", ";
    if (instant) continue;
    slices += by_category_[i].count;
    if (!durations.empty()) durations += ", ";
    durations += Member(category, by_category_[i].total_ns);
  }
  counts += Member("i/", uncategorised_instants_) + ", " + Member("M/", metadata_);
  counts +=
      ", " + Member("s/ac2g", launch_flows_.starts) + ", " + Member("f/ac2g", launch_flows_.ends);
  if (autograd_flows_.starts > 0) {
    counts += ", " + Member("s/fwdbwd", autograd_flows_.starts) + ", " +
              Member("f/fwdbwd", autograd_flows_.ends);
  }
  const CountAndTime& kernels = by_category_[static_cast<size_t>(Category::kKernel)];
  std::string steps;
  for (const StepSpan& step : steps_) {
    if (!steps.empty()) steps += ",";
    steps += "\n" + indent + "  {\"name\": \"" + std::string(names.Get(step.name)) + "\", " +
             Member("ts_ns", step.ts_ns) + ", " + Member("dur_ns", step.dur_ns) + "}";
  }
  const std::string next = ",\n" + indent;
  return indent + Member("events", events()) + next + Member("slices", slices) + next +
         "\"counts\": {" + counts + "}" + next + "\"duration_ns_by_cat\": {" + durations + "}" +
         next + "\"kernels\": {" + Member("count", kernels.count) + ", " +
         Member("total_ns", kernels.total_ns) + "}" + next + "\"flows\": {" +
         FlowsToJson("ac2g", launch_flows_) + ", " + FlowsToJson("fwdbwd", autograd_flows_) + "}" +
         next + "\"collectives\": {" + Member("count", collective_waits_.count) + ", " +
         Member("wait_ns", collective_waits_.total_ns) + "}" + next +
         Member("memory_peak_bytes", memory_peak_bytes_) + next +
         Member("device_busy_ns", busy_ns_) + next + Member("first_ts_ns", first_ts_ns_) + next +
         Member("last_end_ns", last_end_ns_) + next + "\"steps\": [" + steps + "]" + next +
         "\"top_names\": [" + TopNames(names, indent) + "]";
}

// By total time, then category, then name, so that the order is the same everywhere.
std::string AnswerKey::TopNames(const NamePool& names, const std::string& indent) const {
  struct Row {
    CountAndTime totals;
    std::string_view category;
    std::string_view name;
  };
  std::vector<Row> rows;
  for (NameId name = 0; name < by_name_.size(); ++name) {
    for (size_t i = 0; i < kCategoryCount; ++i) {
      if (by_name_[name][i].count == 0) continue;
      rows.push_back({by_name_[name][i], kCategoryNames[i], names.Get(name)});
    }
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    if (a.totals.total_ns != b.totals.total_ns) return a.totals.total_ns > b.totals.total_ns;
    return std::pair(a.category, a.name) < std::pair(b.category, b.name);
  });
  std::string text;
  for (size_t i = 0; i < std::min(rows.size(), kTopNames); ++i) {
    if (i > 0) text += ",";
    text += "\n" + indent + "  {\"cat\": \"" + std::string(rows[i].category) + "\", \"name\": \"" +
            std::string(rows[i].name) + "\", " + Member("count", rows[i].totals.count) + ", " +
            Member("total_ns", rows[i].totals.total_ns) + "}";
  }
  return text;
}

}  // namespace stepscope::generate
