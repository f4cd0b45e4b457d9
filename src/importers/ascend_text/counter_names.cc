#include "importers/ascend_text/counter_names.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace stepscope {
namespace {

constexpr std::string_view kCounterProcesses[] = {"AI Core Freq",
                                                  "HBM",
                                                  "LLC",
                                                  "NPU MEM",
                                                  "Stars Soc Info",
                                                  "Stars Chip Trans",
                                                  "Acc PMU",
                                                  "QoS",
                                                  "PCle",
                                                  "PCIe",
                                                  "HCCS",
                                                  "SIO",
                                                  "NIC",
                                                  "RoCE",
                                                  "DDR",
                                                  "CPU Usage",
                                                  "Memory Usage",
                                                  "Network Usage",
                                                  "Disk Usage",
                                                  "NPU module memory",
                                                  "UB",
                                                  "Biu Perf"};

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * kKiB;

struct UnitRule {
  std::string_view ending;  // of the timeline's name
  std::string_view unit;
  double factor = 1;
  bool whole = false;
};
constexpr UnitRule kUnits[] = {
    {"(MB/s)", "B/s", kMiB, true}, {"(%)", "%"}, {" KB", "bytes", kKiB}, {" MHz", "MHz"}};

// "HBM 0/Read Read" -> "HBM 0/Read": the key mostly repeats the end of the event's name.
std::string_view without_repeat(std::string_view text) {
  for (size_t at = text.find(' '); at != std::string_view::npos; at = text.find(' ', at + 1)) {
    const std::string_view name = text.substr(0, at);
    const std::string_view key = text.substr(at + 1);
    if (key.empty() || !name.ends_with(key)) continue;
    const size_t before = name.size() - key.size();
    if (before == 0 || name[before - 1] == '/' || name[before - 1] == ' ') return name;
  }
  return text;
}

void replace_once(std::string& text, std::string_view from, std::string_view to) {
  if (const size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
}

}  // namespace

bool is_counter_process(std::string_view name) {
  return std::ranges::find(kCounterProcesses, name) != std::end(kCounterProcesses);
}

CounterMeaning counter_meaning(std::string_view process, std::string_view name) {
  CounterMeaning meaning;
  for (const UnitRule& rule : kUnits) {
    if (name.ends_with(" (" + std::string(rule.unit) + ")")) {
      meaning.name = name;
      return meaning;
    }
  }
  std::string_view unit;
  for (const UnitRule& rule : kUnits) {
    if (!name.ends_with(rule.ending)) continue;
    name.remove_suffix(rule.ending.size());
    unit = rule.unit;
    meaning.factor = rule.factor;
    meaning.whole = rule.whole;
    break;
  }
  if (process == "QoS" && unit.empty()) {  // MB/s, without saying so
    unit = "B/s";
    meaning.factor = kMiB;
  }
  if (process == "LLC" && unit == "%") meaning.factor = 100;
  meaning.name = without_repeat(name);
  if (process == "Acc PMU") replace_once(meaning.name, "write_band_width", "write_bandwidth");
  if (process == "NPU MEM") replace_once(meaning.name, "/MEMORY", "/Memory");
  if (!unit.empty()) meaning.name += " (" + std::string(unit) + ")";
  return meaning;
}

void name_counters(RankBuilder& rank) {
  std::vector<CounterMeaning> meanings(rank.track_count());
  for (TrackId id = 0; id < rank.track_count(); ++id) {
    TrackInfo& track = rank.track(id);
    const std::string_view process = rank.strings.view(track.process);
    if (track.kind != TrackKind::kCounter || !is_counter_process(process)) continue;
    meanings[id] = counter_meaning(process, rank.strings.view(track.thread));
    track.thread = rank.strings.intern(meanings[id].name);
  }
  for (CounterRecord& sample : rank.counters) {
    const CounterMeaning& meaning = meanings[sample.track];
    sample.value *= meaning.factor;
    if (meaning.whole) sample.value = std::trunc(sample.value);
  }
}

}  // namespace stepscope
