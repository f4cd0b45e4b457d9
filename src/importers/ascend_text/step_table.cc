#include "importers/ascend_text/step_table.h"

#include <algorithm>
#include <map>

#include "importers/common/ascend_words.h"
#include "importers/common/csv_reader.h"

namespace stepscope {

void add_steps_of_table(const AscendRecording& recording, RankBuilder& rank) {
  std::map<int64_t, std::pair<int64_t, int64_t>> steps;  // start and end
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
      const int64_t start_ns = end_ns - dur_ns;
      const auto [found, added] = steps.try_emplace(step, start_ns, end_ns);
      if (added) continue;
      found->second.first = std::min(found->second.first, start_ns);
      found->second.second = std::max(found->second.second, end_ns);
    }
  }
  const StringId source = rank.strings.intern("file");
  for (const auto& [number, range] : steps) {
    StepRecord step;
    step.step = number;
    step.ts_ns = range.first;
    step.dur_ns = range.second - range.first;
    step.source = source;
    rank.steps.push_back(step);
  }
}

}  // namespace stepscope
