// One device's files of a MindInsight-era profiler folder, read in an order in which each finds
// what it needs of the others.
#ifndef STEPSCOPE_IMPORTERS_MINDINSIGHT_DEVICE_READER_H_
#define STEPSCOPE_IMPORTERS_MINDINSIGHT_DEVICE_READER_H_

#include <cstdint>

#include "importers/importer.h"
#include "importers/mindinsight/folder_files.h"
#include "store/rank_builder.h"

namespace stepscope::mindinsight {

// Returns the number of records and tables that were read. `files` are those of candidate.rank.
int64_t read_device(const ProfilerFolder& folder, const DeviceFiles& files,
                    const Candidate& candidate, const ImportContext& context, RankBuilder& rank);

}  // namespace stepscope::mindinsight

#endif  // STEPSCOPE_IMPORTERS_MINDINSIGHT_DEVICE_READER_H_
