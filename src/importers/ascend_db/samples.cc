// Who recorded and memory of an Ascend database.
#include <nlohmann/json.hpp>

#include "base/decimal.h"
#include "importers/ascend_db/db_reader.h"
#include "importers/common/ascend_words.h"
#include "json/json_members.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

using nlohmann::json;

int32_t device_number(int64_t device) {
  return device >= 0 && device < (1 << 20) ? static_cast<int32_t>(device) : -1;
}

}  // namespace

void DbReader::read_info() {
  known_tables_.insert(
      {"NPU_INFO", "HOST_INFO", "RANK_DEVICE_MAP", "META_DATA", "SESSION_TIME_INFO"});
  RankInfo& info = rank_.info;
  TableScan npu(file_, "NPU_INFO", {"id", "name"}, rank_.quality);
  while (npu.next()) {
    only_device_ = npu.rows() == 1 ? npu.integer(0) : kNull;
    info.device_name = npu.text(1);
  }
  TableScan host(file_, "HOST_INFO", {"hostName"}, rank_.quality);
  if (host.next()) info.host = host.text(0);
  TableScan map(file_, "RANK_DEVICE_MAP", {"rankId", "deviceId"}, rank_.quality);
  while (map.next()) {
    const int64_t number = map.integer(0);
    if (map.rows() == 1 && number != kNull && number >= 0) {
      if (info.rank_inferred) info.rank = number;
      info.rank_inferred = false;
    }
    if (map.rows() == 1 && only_device_ == kNull) only_device_ = map.integer(1);
  }
  json versions = json::object();
  json parallel = json::object();
  if (auto known = parse_json(info.versions_json, file_.path()); known.ok() && known->is_object())
    versions = std::move(*known);
  if (auto known = parse_json(info.parallel_json, file_.path()); known.ok() && known->is_object())
    parallel = std::move(*known);
  TableScan meta(file_, "META_DATA", {"name", "value"}, rank_.quality);
  while (meta.next()) {
    const std::string name(meta.text(0));
    auto value = parse_json(meta.text(1), file_.path());
    const json text(std::string(meta.text(1)));
    const bool tree = value.ok() && value->is_structured();
    const bool layout =
        name == "distributed_args" || name == "parallel_group_info" || name == "pp_info";
    (layout ? parallel : versions)[name] = tree ? *value : text;
  }
  info.versions_json = versions.empty() ? "" : write_json(versions);
  info.parallel_json = parallel.empty() ? "" : write_json(parallel);
  if (const auto args = parallel.find("distributed_args");
      args != parallel.end() && info.world_size == kNull) {
    info.world_size = integer_in(*args, "world_size", kNull);
  }
}

void DbReader::read_memory() {
  known_tables_.insert({"MEMORY_RECORD", "OP_MEMORY", "NPU_OP_MEM"});
  const StringId npu = rank_.strings.intern("NPU");
  TableScan row(
      file_, "MEMORY_RECORD",
      {"component", "timestamp", "totalAllocated", "totalReserved", "totalActive", "deviceId"},
      rank_.quality);
  while (row.next()) {
    MemoryRecord record;
    record.component = known_string(row.integer(0));
    record.ts_ns = row.integer(1);
    if (record.ts_ns == kNull) {
      rank_.quality.add(QualityCode::kUnparsableEvent, "MEMORY_RECORD without a time");
      continue;
    }
    record.total_allocated = row.integer(2);
    record.total_reserved = row.integer(3);
    record.total_active = row.integer(4);
    record.device = device_number(row.integer(5));
    record.device_kind = npu;
    rank_.memory.push_back(record);
  }
  // The text form has these samples among its memory records, as component APP.
  TableScan app(file_, "NPU_MEM", {"type", "ddr", "hbm", "timestampNs", "deviceId"}, rank_.quality);
  while (app.next()) {
    const std::string_view type = rank_.strings.view(string(app.integer(0)));
    if ((type != "app" && type != "APP") || app.is_null(3)) continue;
    MemoryRecord record;
    record.component = rank_.strings.intern("APP");
    record.ts_ns = app.integer(3);
    record.total_reserved = bounded_sum(app.integer_or(1, 0), app.integer_or(2, 0));
    record.device = device_number(app.integer(4));
    record.device_kind = npu;
    rank_.memory.push_back(record);
  }
  rows_ += row.rows();
  read_operator_memory();
}

void DbReader::read_operator_memory() {
  const StringId npu = rank_.strings.intern("NPU");
  TableScan row(file_, "OP_MEMORY",
                {"name", "size", "allocationTime", "releaseTime", "duration",
                 "allocationTotalAllocated", "allocationTotalReserved", "allocationTotalActive",
                 "releaseTotalAllocated", "releaseTotalReserved", "releaseTotalActive", "deviceId"},
                rank_.quality);
  const StringId framework = rank_.strings.intern(is_mindspore_ ? "MindSpore" : "PTA");
  const StringId graph_engine = rank_.strings.intern("GE");
  while (row.next()) {
    MemoryRecord record;
    record.name = known_string(row.integer(0));
    record.device = device_number(row.integer(11));
    record.device_kind = npu;
    const bool cann =
        record.name != kNoString && rank_.strings.view(record.name).starts_with("cann::");
    record.component = cann ? graph_engine : framework;
    const int64_t size = row.integer(1);
    record.duration_ns = row.integer(4);
    record.ts_ns = row.integer(2);
    if (record.ts_ns != kNull && size != kNull && size >= 0) {
      record.bytes = size;
      record.total_allocated = row.integer(5);
      record.total_reserved = row.integer(6);
      record.total_active = row.integer(7);
      rank_.memory.push_back(record);
    }
    record.ts_ns = row.integer(3);
    if (record.ts_ns == kNull || size == kNull) continue;
    record.bytes = size < 0 ? size : -size;
    record.total_allocated = row.integer(8);
    record.total_reserved = row.integer(9);
    record.total_active = row.integer(10);
    rank_.memory.push_back(record);
  }
  rows_ += row.rows();
  if (row.rows() > 0) return;  // OP_MEMORY has these allocations too
  TableScan raw(file_, "NPU_OP_MEM",
                {"operatorName", "addr", "type", "size", "timestampNs", "totalAllocate",
                 "totalReserve", "component", "deviceId"},
                rank_.quality);
  while (raw.next()) {
    MemoryRecord record;
    record.ts_ns = raw.integer(4);
    if (record.ts_ns == kNull) continue;
    record.name = known_string(raw.integer(0));
    record.address = raw.integer(1);
    const int64_t size = raw.integer_or(3, 0);
    const bool release = rank_.strings.view(string(raw.integer(2))) == "release";
    record.bytes = release && size > 0 ? -size : size;
    record.total_allocated = raw.integer(5);
    record.total_reserved = raw.integer(6);
    record.component = known_string(raw.integer(7));
    record.device = device_number(raw.integer(8));
    record.device_kind = npu;
    rank_.memory.push_back(record);
  }
  rows_ += raw.rows();
}

}  // namespace stepscope
