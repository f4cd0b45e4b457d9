// The CSV and small JSON files beside a trace or database, kept as source tables (source.<name> in
// SQL): op_statistic, step_trace_time, communication ... Parts of one table (_slice_0, _slice_1)
// become one.
#ifndef STEPSCOPE_IMPORTERS_ASCEND_TEXT_SIDE_TABLES_H_
#define STEPSCOPE_IMPORTERS_ASCEND_TEXT_SIDE_TABLES_H_

#include <string>
#include <string_view>

#include "importers/common/ascend_recording.h"
#include "store/rank_builder.h"

namespace stepscope {

// Files that cannot be read are counted and left out.
void keep_side_tables(const AscendRecording& recording, RankBuilder& rank);

// communication.json and communication_matrix.json, one row per operation and transport or link.
Status keep_communication_json(const std::string& path, RankBuilder& rank);
Status keep_communication_matrix_json(const std::string& path, RankBuilder& rank);

// Adds the rows of `table` to the source table of the same name, or adds it. Columns of either
// that the other lacks are NULL there.
void add_source_table(SourceTable table, RankBuilder& rank);
const SourceTable* find_source_table(const RankBuilder& rank, std::string_view name);

// Wait and transit time of collectives, and the group of them and their transfers, where the
// communication summary (JSON or database) names the operation.
void apply_communication_times(RankBuilder& rank);

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_ASCEND_TEXT_SIDE_TABLES_H_
