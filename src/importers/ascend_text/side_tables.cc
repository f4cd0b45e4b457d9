#include "importers/ascend_text/side_tables.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "importers/common/csv_reader.h"
#include "importers/common/table_builder.h"

namespace stepscope {
namespace {

// Tables whose columns this version knows; others are kept and counted.
constexpr std::string_view kKnownTables[] = {"aicpu",
                                             "aicpu_mi",
                                             "ai_core_utilization",
                                             "ai_vector_core_utilization",
                                             "api_statistic",
                                             "ccu_channel",
                                             "ccu_mission",
                                             "communication_statistic",
                                             "cpu_usage",
                                             "data_preprocess",
                                             "dataset",
                                             "ddr",
                                             "dp",
                                             "dvpp",
                                             "fusion_op",
                                             "hbm",
                                             "hccs",
                                             "host_cpu_usage",
                                             "host_disk_usage",
                                             "host_mem_usage",
                                             "host_network_usage",
                                             "kernel_details",
                                             "l2_cache",
                                             "llc_read_write",
                                             "memory_record",
                                             "minddata_pipeline_raw",
                                             "minddata_pipeline_summary",
                                             "msprof_tx",
                                             "nic",
                                             "npu_mem",
                                             "npu_module_mem",
                                             "op_statistic",
                                             "op_summary",
                                             "operator_details",
                                             "operator_memory",
                                             "os_runtime_statistic",
                                             "pcie",
                                             "process_cpu_usage",
                                             "process_mem",
                                             "roce",
                                             "soc_pmu",
                                             "static_op_mem",
                                             "step_trace",
                                             "step_trace_time",
                                             "sys_mem",
                                             "task_time",
                                             "ub"};

bool is_known(std::string_view table) {
  return std::find(std::begin(kKnownTables), std::end(kKnownTables), table) !=
             std::end(kKnownTables) ||
         table.ends_with("_top_function") || table.ends_with("_pmu_events");
}

void keep_table(const std::string& path, RankBuilder& rank) {
  const std::string name = ascend_table_name(path);
  const auto status = keep_csv(path, name, rank);
  if (!status.ok()) {
    rank.quality.add(QualityCode::kUnreadableFile, status.error().message());
    return;
  }
  SourceTable table = std::move(rank.source_tables.back());
  rank.source_tables.pop_back();
  if (!is_known(name)) {
    rank.quality.add(QualityCode::kUnknownColumn, path + ": kept as source." + name,
                     static_cast<int64_t>(table.columns.size()));
  }
  add_source_table(std::move(table), rank);
}

// A value of one type as a value of a wider one.
int64_t widen(int64_t value, Type from, Type to, RankBuilder& rank) {
  if (value == kNull || from == to) return value;
  const double number =
      from == Type::kFloat64 ? std::bit_cast<double>(value) : static_cast<double>(value);
  if (to == Type::kFloat64) return float_bits(number);
  const std::string text = from == Type::kFloat64 ? std::to_string(number) : std::to_string(value);
  return rank.strings.intern(text);
}

Type wider(Type a, Type b) {
  if (a == b) return a;
  return a == Type::kText || b == Type::kText ? Type::kText : Type::kFloat64;
}

}  // namespace

const SourceTable* find_source_table(const RankBuilder& rank, std::string_view name) {
  for (const SourceTable& table : rank.source_tables) {
    if (table.name == name) return &table;
  }
  return nullptr;
}

void add_source_table(SourceTable table, RankBuilder& rank) {
  const auto same =
      std::find_if(rank.source_tables.begin(), rank.source_tables.end(),
                   [&](const SourceTable& other) { return other.name == table.name; });
  if (same == rank.source_tables.end()) {
    rank.source_tables.push_back(std::move(table));
    return;
  }
  const size_t before = same->rows();
  const size_t added = table.rows();
  for (SourceColumn& column : table.columns) {
    auto into = std::find_if(same->columns.begin(), same->columns.end(),
                             [&](const SourceColumn& other) { return other.name == column.name; });
    if (into == same->columns.end()) {
      same->columns.push_back({column.name, column.type, std::vector<int64_t>(before, kNull)});
      into = std::prev(same->columns.end());
    }
    const Type type = wider(into->type, column.type);
    for (int64_t& value : into->values) value = widen(value, into->type, type, rank);
    into->type = type;
    for (const int64_t value : column.values) {
      into->values.push_back(widen(value, column.type, type, rank));
    }
  }
  for (SourceColumn& column : same->columns) column.values.resize(before + added, kNull);
  same->doc += ", " + table.doc;
}

void keep_side_tables(const AscendRecording& recording, RankBuilder& rank) {
  for (const std::string& path : recording.tables) keep_table(path, rank);
  for (const std::string& path : recording.summaries) {
    const std::string name = ascend_table_name(path);
    Status status;
    if (name == "communication") {
      status = keep_communication_json(path, rank);
    } else if (name == "communication_matrix") {
      status = keep_communication_matrix_json(path, rank);
    } else if (name == "minddata_pipeline_summary") {
      status = keep_json(path, name + "_json", rank);
    } else if (is_partial_timeline(path)) {
      rank.quality.add(QualityCode::kIgnoredFile, path + ": the whole timeline was read instead");
      continue;
    } else {
      rank.quality.add(QualityCode::kIgnoredFile, path);
      continue;
    }
    if (!status.ok()) rank.quality.add(QualityCode::kUnreadableFile, status.error().message());
  }
  for (const std::string& path : recording.others) {
    rank.quality.add(QualityCode::kIgnoredFile, path);
  }
}

void apply_communication_times(RankBuilder& rank) {
  struct Summary {
    int64_t wait_ns = kNull;
    int64_t transit_ns = kNull;
    StringId group = kNoString;
  };
  std::unordered_map<StringId, Summary> summaries;
  static constexpr std::array<std::array<std::string_view, 5>, 2> kForms = {
      {{"communication", "Op", "Group", "Wait Time(ms)", "Transit Time(ms)"},
       {"comm_analyzer_time", "hccl_op_name", "group_name", "wait_time", "transit_time"}}};
  for (const auto& form : kForms) {
    const SourceTable* table = find_source_table(rank, form[0]);
    if (table == nullptr) continue;
    const auto column = [&](std::string_view name) -> const SourceColumn* {
      for (const SourceColumn& one : table->columns) {
        if (one.name == name) return &one;
      }
      return nullptr;
    };
    const SourceColumn* op = column(form[1]);
    const SourceColumn* group = column(form[2]);
    const auto ms_as_ns = [](const SourceColumn* from, size_t row) {
      if (from == nullptr || from->type == Type::kText || from->values[row] == kNull) return kNull;
      const double ms = from->type == Type::kFloat64 ? std::bit_cast<double>(from->values[row])
                                                     : static_cast<double>(from->values[row]);
      return std::abs(ms) < 1e12 ? static_cast<int64_t>(std::llround(ms * 1e6)) : kNull;
    };
    if (op == nullptr || op->type != Type::kText) continue;
    for (size_t row = 0; row < table->rows(); ++row) {
      if (op->values[row] == kNull) continue;
      Summary& summary = summaries[static_cast<StringId>(op->values[row])];
      summary.wait_ns = ms_as_ns(column(form[3]), row);
      summary.transit_ns = ms_as_ns(column(form[4]), row);
      if (group != nullptr && group->type == Type::kText && group->values[row] != kNull) {
        summary.group = static_cast<StringId>(group->values[row]);
      }
    }
  }
  if (summaries.empty()) return;
  for (TrackId track = 0; track < rank.track_count(); ++track) {
    for (const SliceRecord& slice : rank.slices(track)) {
      uint32_t index = kNoDetail;
      if (slice.kind == SliceKind::kCommunication) index = slice.detail;
      if (slice.kind == SliceKind::kKernel && slice.detail != kNoDetail) {
        index = rank.kernel(slice.detail).communication;
      }
      if (index == kNoDetail) continue;
      CommunicationDetail& detail = rank.communication(index);
      const bool is_task = detail.of_name != kNoString;
      const auto found = summaries.find(is_task ? detail.of_name : slice.name);
      if (found == summaries.end()) continue;
      if (found->second.group != kNoString) detail.group = found->second.group;
      if (is_task) continue;
      detail.wait_ns = found->second.wait_ns;
      detail.transit_ns = found->second.transit_ns;
    }
  }
}

}  // namespace stepscope
