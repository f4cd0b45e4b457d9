// The timelines that MindInsight showed: *timeline_display_N.json, Chrome events without
// categories, whose process numbers tell what they are.
#ifndef STEPSCOPE_IMPORTERS_MINDINSIGHT_TIMELINE_H_
#define STEPSCOPE_IMPORTERS_MINDINSIGHT_TIMELINE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "importers/importer.h"
#include "importers/mindinsight/operator_files.h"
#include "store/rank_builder.h"

namespace stepscope::mindinsight {

// min_cycle_counter_N.txt: the count of 10 ns that a timeline's time 0 stands for, in ns.
std::optional<int64_t> read_first_cycle_ns(const std::string& path, RankBuilder& rank);

struct DisplayedTimeline {
  int64_t device_slices = 0;
  int64_t communication_slices = 0;
  int64_t events = 0;
};

// Must be the first file read into `rank`: the offset is added to every time in it. Names the
// tracks, and makes operators of the device kernels and communication events communications. The
// streams' tracks become known to `tracks`.
Result<DisplayedTimeline> read_timeline_display(const std::string& path, int64_t offset_ns,
                                                const OperatorInfos& infos, DeviceTracks& tracks,
                                                const ImportContext& context, RankBuilder& rank);

// Takes the device's slices out again: when the complete list of executions is in another file.
void clear_device_slices(RankBuilder& rank);

}  // namespace stepscope::mindinsight

#endif  // STEPSCOPE_IMPORTERS_MINDINSIGHT_TIMELINE_H_
