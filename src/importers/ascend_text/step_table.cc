#include "importers/ascend_text/step_table.h"

#include <algorithm>
#include <map>

#include "base/decimal.h"
#include "importers/common/ascend_words.h"
#include "importers/common/csv_reader.h"

namespace stepscope {
namespace {

using StepRanges = std::map<int64_t, std::pair<int64_t, int64_t>>;  // start and end

void widen(int64_t step, int64_t start_ns, int64_t end_ns, StepRanges& steps) {
  const auto [found, added] = steps.try_emplace(step, start_ns, end_ns);
  if (added) return;
  found->second.first = std::min(found->second.first, start_ns);
  found->second.second = std::max(found->second.second, end_ns);
}

void add_steps(const StepRanges& steps, RankBuilder& rank) {
  const StringId source = rank.strings.intern("file");
  for (const auto& [number, range] : steps) {
    StepRecord step;
    step.step = number;
    step.ts_ns = range.first;
    step.dur_ns = bounded_sum(range.second, -range.first);
    step.source = source;
    rank.steps.push_back(step);
  }
}

}  // namespace

void add_steps_of_table(const AscendRecording& recording, RankBuilder& rank) {
  StepRanges steps;
  for (const std::string& path : recording.tables) {
    if (ascend_table_name(path) != "step_trace") continue;
    auto csv = CsvReader::open(path);
    if (!csv.ok()) continue;  // counted where the table is kept
    const size_t number = csv->column({"Iteration ID"});
    const size_t end = csv->column({"Iteration End(us)"});
    const size_t length = csv->column({"Iteration Time(us)"});
    QualityReport ragged;
    while (csv->next(ragged)) {
      const int64_t step = csv->integer(number, rank.quality);
      const int64_t end_ns = csv->us_as_ns(end, rank.quality);
      const int64_t dur_ns = csv->us_as_ns(length, rank.quality);
      if (step == kNull || !is_usable_time(end_ns) || !is_usable_time(dur_ns)) continue;
      widen(step, end_ns - dur_ns, end_ns, steps);
    }
  }
  add_steps(steps, rank);
}

bool is_step_lane(const TrackInfo& track, const RankBuilder& rank) {
  return rank.strings.view(track.process) == "Step Trace" ||
         rank.strings.view(track.thread).starts_with("Step Trace");
}

void add_steps_of_timeline(RankBuilder& rank) {
  constexpr std::string_view kIteration = "Iteration ";
  StepRanges steps;
  for (TrackId id = 0; id < rank.track_count(); ++id) {
    if (!is_step_lane(rank.track(id), rank)) continue;
    for (const SliceRecord& slice : rank.slices(id)) {
      const std::string_view name = rank.strings.view(slice.name);
      if (rank.strings.view(slice.cat) != "Iteration Time" || !name.starts_with(kIteration) ||
          !is_usable_time(slice.ts_ns) || !is_usable_time(slice.dur_ns) || slice.dur_ns < 0) {
        continue;
      }
      const auto step = parse_integer(name.substr(kIteration.size()));
      if (step) widen(*step, slice.ts_ns, bounded_sum(slice.ts_ns, slice.dur_ns), steps);
    }
  }
  add_steps(steps, rank);
}

void add_queue_of_table(const AscendRecording& recording, RankBuilder& rank) {
  for (const std::string& path : recording.tables) {
    if (ascend_table_name(path) != "aicpu_mi") continue;
    auto csv = CsvReader::open(path);
    if (!csv.ok()) continue;  // counted where the table is kept
    const size_t name = csv->column({"Node Name"});
    const size_t start = csv->column({"Start Time(us)"});
    const size_t end = csv->column({"End Time(us)"});
    const size_t size = csv->column({"Queue Size"});
    QualityReport ragged;
    std::map<StringId, int64_t> batches;
    while (csv->next(ragged)) {
      QueueRecord record;
      record.ts_ns = csv->us_as_ns(start, rank.quality);
      record.size = csv->integer(size, rank.quality);
      const int64_t end_ns = csv->us_as_ns(end, rank.quality);
      if (!is_usable_time(record.ts_ns) || record.size == kNull) {
        rank.quality.add(QualityCode::kUnparsableEvent,
                         path + " line " + std::to_string(csv->line()) + " has no time or no size");
        continue;
      }
      record.stage = rank.strings.intern(csv->cell(name));
      record.batch = ++batches[record.stage];
      if (is_usable_time(end_ns)) record.fetch_ns = end_ns - record.ts_ns;
      rank.queues.push_back(record);
    }
  }
}

}  // namespace stepscope
