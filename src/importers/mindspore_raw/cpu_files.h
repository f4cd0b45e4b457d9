// The text files of MindSpore's CPU profiler: operators with their input shapes, and memory totals.
#ifndef STEPSCOPE_IMPORTERS_MINDSPORE_RAW_CPU_FILES_H_
#define STEPSCOPE_IMPORTERS_MINDSPORE_RAW_CPU_FILES_H_

#include <cstdint>

#include "importers/mindspore_raw/raw_folder.h"
#include "store/rank_builder.h"

namespace stepscope::mindspore_raw {

// Operators as slices of the process "CPU OP"; the CSV summaries and the list of launches as source
// tables. Returns the number of operators; first_start_ns gets the start of the earliest.
int64_t read_cpu_operators(const RankFiles& files, RankBuilder& rank, int64_t& first_start_ns);

// Memory totals after every allocation and release. MindSpore never clears these records, so the
// file of window n repeats those of windows 1 to n-1; they are left out and counted.
// `window_start_ns` is the time in the window's folder name, kNull when it has none: then the
// window is taken to begin at the last pause before the first operator that is longer than any
// pause after it. Returns the number of records kept.
int64_t read_cpu_memory(const std::string& path, int64_t window_start_ns, int64_t first_operator_ns,
                        RankBuilder& rank);

}  // namespace stepscope::mindspore_raw

#endif  // STEPSCOPE_IMPORTERS_MINDSPORE_RAW_CPU_FILES_H_
