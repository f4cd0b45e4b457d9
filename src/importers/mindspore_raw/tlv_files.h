// The binary files that MindSpore writes into FRAMEWORK/ on Ascend: host events
// (mindspore.op_range), memory events (mindspore.memory_usage) and operator shapes
// (mindspore.record_shapes).
//
// All are sequences of records: u16 type, u32 length, value (little-endian). The value begins with
// a fixed structure, then come fields of the same type-length-value form. A file that ends inside a
// record is cut there and counted.
#ifndef STEPSCOPE_IMPORTERS_MINDSPORE_RAW_TLV_FILES_H_
#define STEPSCOPE_IMPORTERS_MINDSPORE_RAW_TLV_FILES_H_

#include <cstdint>
#include <string>

#include "importers/mindspore_raw/host_clock.h"
#include "store/rank_builder.h"

namespace stepscope::mindspore_raw {

// Each returns the number of records read.
int64_t read_op_range(const std::string& path, const HostClock& clock, RankBuilder& rank);
int64_t read_memory_usage(const std::string& path, RankBuilder& rank);
int64_t read_record_shapes(const std::string& path, RankBuilder& rank);

}  // namespace stepscope::mindspore_raw

#endif  // STEPSCOPE_IMPORTERS_MINDSPORE_RAW_TLV_FILES_H_
