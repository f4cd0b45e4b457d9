// Raw files of the Ascend profiler before msprof (JOB*/, container/N/data): task and graph
// descriptions as text, task start and end records, AI CPU records.
#ifndef STEPSCOPE_IMPORTERS_MINDINSIGHT_JOB_FILES_H_
#define STEPSCOPE_IMPORTERS_MINDINSIGHT_JOB_FILES_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "importers/mindinsight/operator_files.h"
#include "store/rank_builder.h"

namespace stepscope::mindinsight {

// Full operator names by stream and task.
using TaskNames = std::map<std::pair<int64_t, int64_t>, std::string>;

// Each keeps a source table and returns the number of records.
int64_t read_job_tasks(const std::string& path, TaskNames& names, RankBuilder& rank);
// A row may continue in the next slice, so all slices at once.
int64_t keep_job_graph(const std::vector<std::string>& paths, RankBuilder& rank);
int64_t keep_job_points(const std::string& path, RankBuilder& rank);

// hwts: 64-byte records; a task is what lies between its start and its end record.
int64_t read_job_task_track(const std::vector<std::string>& paths, const TaskNames& names,
                            const OperatorInfos& infos, DeviceTracks& tracks, RankBuilder& rank);
// DATA_PREPROCESS.dev.AICPU, text (NUL-separated) or binary (0x5A5A, 128 bytes each).
int64_t read_job_aicpu(const std::string& path, const OperatorInfos& infos, DeviceTracks& tracks,
                       RankBuilder& rank);
// DATA_PREPROCESS.dev.AICPUMI: the data queue.
int64_t read_job_dequeue(const std::string& path, RankBuilder& rank);

}  // namespace stepscope::mindinsight

#endif  // STEPSCOPE_IMPORTERS_MINDINSIGHT_JOB_FILES_H_
