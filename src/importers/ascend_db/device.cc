// Device side of an Ascend database: TASK and the tables that say what a task is.
//
// A task is a kernel when COMPUTE_TASK_INFO names it, a copy by its type; notifies, events and the
// transfers of collectives stay slices of their stream. A collective (COMMUNICATION_OP) is a kernel
// of class communication on its group's lane; its transfers and waits are also on plane lanes.
#include <array>
#include <charconv>

#include "importers/ascend_db/db_reader.h"
#include "importers/common/ascend_words.h"

namespace stepscope {
namespace {

constexpr int64_t kInvalid32 = 0xFFFFFFFF;

std::string number_text(double value) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof(text), value);
  return error == std::errc() ? std::string(text, end) : "null";
}

}  // namespace

void DbReader::read_pmu() {
  known_tables_.insert("TASK_PMU_INFO");
  TableScan row(file_, "TASK_PMU_INFO", {"globalTaskId", "name", "value"}, rank_.quality);
  while (row.next()) {
    const int64_t task = row.integer(0);
    const auto value = row.number(2);
    const std::string_view name = rank_.strings.view(string(row.integer(1)));
    if (task == kNull || !value || name.empty()) continue;
    std::string& members = pmu_[task];
    members += members.empty() ? "\"" : ",\"";
    append_json_text(name, members);
    members += "\":" + number_text(*value);
  }
  rows_ += row.rows();
}

void DbReader::read_compute_info() {
  known_tables_.insert("COMPUTE_TASK_INFO");
  // In 1.0.0 blockDim is what 1.2.0 calls blockNum; there blockDim is the SIMT block.
  const bool renamed = file_.has_column("COMPUTE_TASK_INFO", "blockNum");
  TableScan row(file_, "COMPUTE_TASK_INFO",
                {"globalTaskId", "name", "taskType", "opType", "inputShapes", "inputDataTypes",
                 "outputShapes", renamed ? "blockNum" : "blockDim",
                 renamed ? "mixBlockNum" : "mixBlockDim", "opState", renamed ? "blockDim" : ""},
                rank_.quality);
  while (row.next()) {
    const int64_t task = row.integer(0);
    if (task == kNull) continue;
    KernelDetail detail;
    detail.type = known_string(row.integer(2));
    detail.op_type = known_string(row.integer(3));
    detail.input_shapes = without_quotes(row.integer(4));
    detail.input_types = known_string(row.integer(5));
    detail.output_shapes = without_quotes(row.integer(6));
    if (!row.is_null(7)) detail.grid = rank_.strings.intern(row.text(7));
    if (!row.is_null(10)) detail.block = rank_.strings.intern(row.text(10));
    std::string counters;
    if (const auto found = pmu_.find(task); found != pmu_.end()) counters = found->second;
    if (const StringId state = known_string(row.integer(9)); state != kNoString) {
      counters += counters.empty() ? "\"op_state\":\"" : ",\"op_state\":\"";
      append_json_text(rank_.strings.view(state), counters);
      counters += '"';
    }
    if (!counters.empty()) detail.counters = rank_.strings.intern("{" + counters + "}");
    compute_[task] = {string(row.integer(1)), rank_.add_kernel(detail)};
  }
  rows_ += row.rows();
  pmu_.clear();
}

void DbReader::read_copies() {
  known_tables_.insert("MEMCPY_INFO");
  TableScan row(file_, "MEMCPY_INFO", {"globalTaskId", "size", "memcpyOperation"}, rank_.quality);
  while (row.next()) {
    copies_[row.integer(0)] = {row.integer(1), enumerated("ENUM_MEMCPY_OPERATION", row.integer(2))};
  }
  rows_ += row.rows();
}

void DbReader::read_communication_operations() {
  known_tables_.insert("COMMUNICATION_OP");
  TableScan row(file_, "COMMUNICATION_OP",
                {"opName", "startNs", "endNs", "connectionId", "groupName", "opId", "dataType",
                 "algType", "count", "opType", "deviceId", "rankSize"},
                rank_.quality);
  while (row.next()) {
    SliceRecord slice;
    const StringId group = group_name(row.integer(4));
    slice.name = string(row.integer(0));
    operations_[row.integer(5)] = {slice.name, group};
    if (!span(row, 1, 2, slice, "COMMUNICATION_OP")) continue;
    CommunicationDetail detail;
    detail.level = rank_.strings.intern("op");
    detail.group = group;
    detail.data_type = enumerated("ENUM_HCCL_DATA_TYPE", row.integer(6));
    detail.algorithm = known_string(row.integer(7));
    detail.elements = row.integer(8);
    detail.group_size = row.integer(11);
    describe_collective(slice.name, detail, rank_);
    KernelDetail kernel;
    kernel.type = rank_.strings.intern("COMMUNICATION");
    kernel.op_type = known_string(row.integer(9));
    kernel.work_class = WorkClass::kCommunication;
    kernel.communication = rank_.add_communication(detail);
    slice.kind = SliceKind::kKernel;
    slice.cat = rank_.strings.intern("communication");
    slice.detail = rank_.add_kernel(kernel);
    const int64_t connection = row.integer(3);
    if (connection != kNull) {
      slice.correlation = rank_.pack_id(connection);
      if (const auto call = framework_of_launch_.find(connection);
          call != framework_of_launch_.end()) {
        slice.external_id = rank_.pack_id(call->second);
      }
    }
    const int number =
        group_numbers_.try_emplace(group, static_cast<int>(group_numbers_.size())).first->second;
    const TrackId track =
        lane("Communication", "Group " + std::to_string(number) + " Communication",
             TrackKind::kCommunication, row.integer_or(10, only_device_));
    rank_.add_slice(track, slice);
    add_arrow("HostToDevice", connection, track, slice.ts_ns);
    add_arrow("async_npu", connection, track, slice.ts_ns);
  }
  rows_ += row.rows();
}

void DbReader::read_communication_info() {
  known_tables_.insert("COMMUNICATION_TASK_INFO");
  TableScan row(file_, "COMMUNICATION_TASK_INFO",
                {"globalTaskId", "name", "taskType", "planeId", "groupName", "srcRank", "dstRank",
                 "transportType", "size", "dataType", "linkType", "opId", "bandwidth", "rdmaType"},
                rank_.quality);
  const StringId level = rank_.strings.intern("task");
  while (row.next()) {
    const int64_t task = row.integer(0);
    if (task == kNull) continue;
    CommunicationDetail detail;
    detail.level = level;
    detail.op = detail.algorithm = known_string(row.integer(2));
    detail.group = group_name(row.integer(4));
    detail.src_rank = row.integer(5);
    detail.dst_rank = row.integer(6);
    if (detail.dst_rank == kInvalid32) detail.dst_rank = detail.src_rank;
    if (detail.src_rank == kInvalid32) detail.src_rank = kNull;
    detail.transport = enumerated("ENUM_HCCL_TRANSPORT_TYPE", row.integer(7));
    detail.bytes = row.integer(8);
    detail.data_type = valid_type(enumerated("ENUM_HCCL_DATA_TYPE", row.integer(9)), rank_);
    detail.link = valid_type(enumerated("ENUM_HCCL_LINK_TYPE", row.integer(10)), rank_);
    detail.of_name = known_string(row.integer(1));
    if (const auto found = operations_.find(row.integer(11)); found != operations_.end()) {
      detail.of_name = found->second.first;
    }
    if (const auto bytes_per_second = row.number(12)) detail.bandwidth = *bytes_per_second / 1e9;
    const StringId rdma = valid_type(enumerated("ENUM_HCCL_RDMA_TYPE", row.integer(13)), rank_);
    if (rdma != kNoString) detail.algorithm = rdma;  // tells payloads from notifications
    communication_[task] = {detail.op == kNoString ? kEmptyString : detail.op, row.integer(3),
                            rank_.add_communication(detail)};
  }
  rows_ += row.rows();
}

void DbReader::read_tasks() {
  known_tables_.insert("TASK");
  TableScan row(file_, "TASK",
                {"startNs", "endNs", "deviceId", "connectionId", "globalTaskId", "taskType",
                 "contextId", "streamId", "taskId", "modelId"},
                rank_.quality);
  while (row.next()) {
    add_task(row);
    if (row.rows() % 65536 == 0 && progress_.cancelled()) break;
  }
  rows_ += row.rows();
}

void DbReader::add_task(const TableScan& row) {
  SliceRecord slice;
  if (!span(row, 0, 1, slice, "TASK")) return;
  const int64_t device = row.integer(2);
  const int64_t connection = row.integer(3);
  const int64_t task = row.integer(4);
  const int64_t stream = row.integer(7);
  const StringId type = string(row.integer(5));
  slice.name = slice.cat = type;
  if (connection != kNull) {
    slice.correlation = rank_.pack_id(connection);
    if (const auto call = framework_of_launch_.find(connection);
        call != framework_of_launch_.end()) {
      slice.external_id = rank_.pack_id(call->second);
    }
  }
  const TrackId track = lane("Ascend Hardware", "Stream " + std::to_string(stream),
                             TrackKind::kDevice, device, stream);
  const auto compute = compute_.find(task);
  const bool copy = is_copy_task(rank_.strings.view(type));
  bool arrow = copy;
  if (compute != compute_.end()) {
    slice.kind = SliceKind::kKernel;
    slice.detail = compute->second.kernel;
    slice.name = compute->second.name;
    arrow = true;
  } else if (copy || copies_.contains(task)) {
    KernelDetail detail;
    detail.work_class = WorkClass::kMemory;
    detail.type = type;
    if (const auto found = copies_.find(task); found != copies_.end()) {
      detail.bytes = found->second.bytes;
      detail.op_type = found->second.operation;
    }
    slice.kind = SliceKind::kKernel;
    slice.detail = rank_.add_kernel(detail);
  }
  std::string args = "{\"Task Type\":\"";
  append_json_text(rank_.strings.view(type), args);
  args += '"';
  static constexpr std::array<std::pair<int, std::string_view>, 3> kNumbers = {
      {{8, "Task Id"}, {6, "Context Id"}, {9, "Model Id"}}};
  for (const auto& [column, name] : kNumbers) {
    const int64_t value = row.integer(column);
    if (value == kNull || value == kInvalid32) continue;
    args += ",\"" + std::string(name) + "\":" + std::to_string(value);
  }
  slice.args = rank_.add_args(args + "}");
  rank_.add_slice(track, slice);
  if (arrow) {
    add_arrow("HostToDevice", connection, track, slice.ts_ns);
    add_arrow("async_npu", connection, track, slice.ts_ns);
  }

  const auto found = communication_.find(task);
  if (found == communication_.end()) return;
  SliceRecord transfer = slice;
  transfer.name = found->second.type;
  transfer.kind = SliceKind::kCommunication;
  transfer.detail = found->second.communication;
  CommunicationDetail& detail = rank_.communication(transfer.detail);
  time_transfer(transfer.dur_ns, rank_, detail);
  const int number =
      group_numbers_.try_emplace(detail.group, static_cast<int>(group_numbers_.size()))
          .first->second;
  const std::string plane =
      "Group " + std::to_string(number) + " Plane " + std::to_string(found->second.plane);
  rank_.add_slice(lane("Communication", plane, TrackKind::kCommunication, device), transfer);
}

void DbReader::add_arrow(std::string_view kind, int64_t connection, TrackId track, int64_t ts_ns) {
  if (connection == kNull) return;
  std::pair<TrackId, int64_t> from;
  if (kind == "HostToDevice") {
    const auto launch = launches_.find(connection);
    if (launch == launches_.end()) return;
    from = launch->second;
  } else {
    const auto call = framework_of_launch_.find(connection);
    if (call == framework_of_launch_.end()) return;
    const auto op = framework_calls_.find(call->second);
    if (op == framework_calls_.end()) return;
    from = op->second;
  }
  // One arrow of its own for every end: calls that launch several tasks have several.
  FlowRecord arrow;
  arrow.kind = rank_.strings.intern(kind);
  arrow.id = next_arrow_++;
  arrow.track = from.first;
  arrow.ts_ns = from.second;
  arrow.phase = FlowPhase::kStart;
  rank_.flows.push_back(arrow);
  arrow.track = track;
  arrow.ts_ns = ts_ns;
  arrow.phase = FlowPhase::kEnd;
  rank_.flows.push_back(arrow);
}

}  // namespace stepscope
