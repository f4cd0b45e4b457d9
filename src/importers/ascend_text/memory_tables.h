// memory_record.csv, operator_memory.csv and npu_module_mem.csv in their spellings (MB or KB, with
// or without device, stream and release columns), as exact bytes.
#ifndef STEPSCOPE_IMPORTERS_ASCEND_TEXT_MEMORY_TABLES_H_
#define STEPSCOPE_IMPORTERS_ASCEND_TEXT_MEMORY_TABLES_H_

#include "importers/common/ascend_recording.h"
#include "store/rank_builder.h"

namespace stepscope {

// Totals per allocator become rows of `memory` without bytes, allocations and releases rows with
// bytes, module totals counters. Returns the device that the files name, or kNull.
int64_t read_memory_tables(const AscendRecording& recording, RankBuilder& rank);

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_ASCEND_TEXT_MEMORY_TABLES_H_
