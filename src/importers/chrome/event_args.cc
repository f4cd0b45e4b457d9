// The part of EventMapper that reads args: what each kind of event has, into detail records.
#include "importers/chrome/arg_keys.h"
#include "importers/chrome/event_mapper.h"
#include "importers/chrome/fast_number.h"
#include "importers/chrome/json_text.h"

namespace stepscope {
namespace {

int32_t small_number(std::string_view value) {
  const auto number = fast_integer(value);
  return number && *number >= 0 && *number <= INT32_MAX ? static_cast<int32_t>(*number) : -1;
}

// Elements times their size; kNull when either is unknown or the product is beyond any message.
int64_t message_bytes(int64_t elements, int64_t element_bytes) {
  int64_t bytes = 0;
  if (elements == kNull || element_bytes == 0) return kNull;
  return __builtin_mul_overflow(elements, element_bytes, &bytes) ? kNull : bytes;
}

// Element sizes by the names that torch and HCCL use.
int64_t element_bytes(std::string_view type) {
  for (const std::string_view name :
       {"Double", "Long", "Int64", "int64", "UInt64", "INT64", "UINT64", "FP64"}) {
    if (type == name) return 8;
  }
  for (const std::string_view name : {"Float", "Int", "Int32", "INT32", "UINT32", "FP32"}) {
    if (type == name) return 4;
  }
  for (const std::string_view name : {"Half", "BFloat16", "Short", "FP16", "BFP16", "INT16"}) {
    if (type == name) return 2;
  }
  for (const std::string_view name :
       {"Byte", "Char", "Bool", "INT8", "UINT8", "Float8_e4m3fn", "Float8_e5m2"}) {
    if (type == name) return 1;
  }
  return 0;
}

}  // namespace

void EventMapper::read_links(ObjectWalker args, SliceRecord& slice) {
  std::string_view key;
  std::string_view value;
  while (args.next(key, value) == ObjectWalker::Step::kPair) {
    switch (kArgKeys.find(key)) {
      case ArgKey::kCorrelation:
        slice.correlation = pack(number_or_null(value));
        break;
      case ArgKey::kExternalId:
        slice.external_id = pack(number_or_null(value));
        break;
      case ArgKey::kFinished:
        if (value == "false") slice.flags |= kFlagUnfinished;
        break;
      default:
        break;
    }
  }
}

bool EventMapper::read_collective(int key, std::string_view value, CommunicationDetail& detail) {
  switch (static_cast<ArgKey>(key)) {
    case ArgKey::kCollectiveName:
      detail.op = text_value(value);
      return true;
    case ArgKey::kInElements:
      detail.elements = number_or_null(value);
      return true;
    case ArgKey::kOutElements:
      if (detail.elements == kNull || detail.elements == 0) detail.elements = number_or_null(value);
      return true;
    case ArgKey::kGroupSize:
      detail.group_size = number_or_null(value);
      return true;
    case ArgKey::kDataType:
      detail.data_type = text_value(value);
      return true;
    case ArgKey::kGroupName:
      detail.group = text_value(value);
      return true;
    case ArgKey::kSequence:
      detail.sequence = number_or_null(value);
      return true;
    case ArgKey::kSrcRank:
      detail.src_rank = number_or_null(value);
      return true;
    case ArgKey::kDstRank:
      detail.dst_rank = number_or_null(value);
      return true;
    default:
      return false;
  }
}

uint32_t EventMapper::add_collective(CommunicationDetail& collective, std::string_view level) {
  collective.level = strings.intern(level);
  const int64_t size =
      collective.data_type == kNoString ? 0 : element_bytes(strings.view(collective.data_type));
  collective.bytes = message_bytes(collective.elements, size);
  chunk_->communications.push_back(collective);
  return static_cast<uint32_t>(chunk_->communications.size() - 1);
}

void EventMapper::read_op(ObjectWalker args, SliceRecord& slice) {
  OpDetail detail;
  CommunicationDetail collective;
  bool any = false;
  std::string_view key;
  std::string_view value;
  while (args.next(key, value) == ObjectWalker::Step::kPair) {
    const ArgKey known = kArgKeys.find(key);
    switch (known) {
      case ArgKey::kUnknown:
        continue;
      case ArgKey::kExternalId:
        slice.external_id = pack(number_or_null(value));
        continue;
      case ArgKey::kCorrelation:
        slice.correlation = pack(number_or_null(value));
        continue;
      case ArgKey::kSequenceNumber:
        detail.sequence = number_or_null(value);
        break;
      case ArgKey::kForwardThread:
        detail.forward_thread = number_or_null(value);
        break;
      case ArgKey::kInputDims:
        detail.input_shapes = text_value(value);
        break;
      case ArgKey::kInputTypes:
        detail.input_types = text_value(value);
        break;
      case ArgKey::kCallStack:
        detail.stack = text_value(value);
        break;
      case ArgKey::kModule:
        detail.module = text_value(value);
        break;
      case ArgKey::kFinished:
        if (value == "false") slice.flags |= kFlagUnfinished;
        continue;
      default:
        read_collective(static_cast<int>(known), value, collective);
        continue;
    }
    any = true;
  }
  if (collective.op != kNoString) {
    detail.communication = add_collective(collective, "host");
    any = true;
  }
  if (!any) return;
  slice.detail = static_cast<uint32_t>(chunk_->ops.size());
  chunk_->ops.push_back(detail);
}

void EventMapper::read_device(ObjectWalker args, SliceRecord& slice, const Category& cat) {
  KernelDetail detail;
  CommunicationDetail collective;
  detail.type = cat.kernel_type;
  detail.work_class = cat.rule->work_class;
  std::string_view key;
  std::string_view value;
  while (args.next(key, value) == ObjectWalker::Step::kPair) {
    const ArgKey known = kArgKeys.find(key);
    switch (known) {
      case ArgKey::kUnknown:
        break;
      case ArgKey::kExternalId:
        slice.external_id = pack(number_or_null(value));
        break;
      case ArgKey::kCorrelation:
        slice.correlation = pack(number_or_null(value));
        break;
      case ArgKey::kGrid:
        detail.grid = text_value(value);
        break;
      case ArgKey::kBlock:
        detail.block = text_value(value);
        break;
      case ArgKey::kRegisters:
        detail.registers = small_number(value);
        break;
      case ArgKey::kSharedMemory:
        detail.shared_memory = small_number(value);
        break;
      case ArgKey::kOccupancy:
        detail.occupancy = small_number(value);
        break;
      case ArgKey::kBytes:
        detail.bytes = number_or_null(value);
        break;
      default:
        read_collective(static_cast<int>(known), value, collective);
    }
  }
  if (name_classes_.size() <= slice.name) name_classes_.resize(strings.size(), kUnknownClass);
  NameClass& name_class = name_classes_[slice.name];
  if (name_class == kUnknownClass) {
    const std::string_view name = strings.view(slice.name);
    name_class = is_communication_name(name) ? kCommunicationName
                 : is_memory_name(name)      ? EventMapper::kMemoryName
                                             : kComputeName;
  }
  if (detail.work_class == WorkClass::kCompute && name_class == kCommunicationName) {
    detail.work_class = WorkClass::kCommunication;
  } else if (detail.work_class == WorkClass::kCompute && name_class == EventMapper::kMemoryName) {
    detail.work_class = WorkClass::kMemory;
  }
  if (collective.op != kNoString || detail.work_class == WorkClass::kCommunication) {
    detail.work_class = WorkClass::kCommunication;
    detail.communication = add_collective(collective, "op");
  }
  slice.detail = static_cast<uint32_t>(chunk_->kernels.size());
  chunk_->kernels.push_back(detail);
}

// Ascend's device and communication events: details are kept on the slice as a kernel; ascend_text
// decides from the process name what each slice really is.
void EventMapper::read_ascend(ObjectWalker args, SliceRecord& slice) {
  KernelDetail detail;
  CommunicationDetail transfer;
  StringId core = kNoString;
  bool is_task = false;
  bool is_transfer = false;
  std::string_view key;
  std::string_view value;
  while (args.next(key, value) == ObjectWalker::Step::kPair) {
    const ArgKey known = kArgKeys.find(key);
    switch (known) {
      case ArgKey::kCorrelation:
        slice.correlation = pack(number_or_null(value));
        break;
      case ArgKey::kTaskType:
        detail.type = transfer.algorithm = text_value(value);
        is_task = true;
        break;
      case ArgKey::kAcceleratorCore:  // what the table of kernels says, put here by an export
        core = text_value(value);
        is_task = true;
        break;
      case ArgKey::kBytes:
        detail.bytes = transfer.bytes = number_or_null(value);
        break;
      case ArgKey::kTransport:
        transfer.transport = text_value(value);
        is_transfer = true;
        break;
      case ArgKey::kLinkType:
        transfer.link = text_value(value);
        is_transfer = true;
        break;
      case ArgKey::kBandwidth:
        if (const auto number = parse_double(unquote(value))) transfer.bandwidth = *number;
        break;
      case ArgKey::kAlgorithm:
        transfer.algorithm = text_value(value);
        is_transfer = true;
        break;
      case ArgKey::kCount:
        transfer.elements = number_or_null(value);
        break;
      case ArgKey::kUnknown:
        break;
      default:
        is_transfer |= read_collective(static_cast<int>(known), value, transfer);
    }
  }
  if (!is_task && !is_transfer) return;
  if (core != kNoString) detail.type = core;
  if (is_transfer) {
    detail.communication = static_cast<uint32_t>(chunk_->communications.size());
    chunk_->communications.push_back(transfer);
  }
  slice.detail = static_cast<uint32_t>(chunk_->kernels.size());
  chunk_->kernels.push_back(detail);
}

void EventMapper::map_memory(const ChromeEvent& event, uint32_t lane, int64_t ts_ns) {
  MemoryRecord record;
  record.ts_ns = ts_ns;
  record.track = lane;
  int64_t device_type = kNull;
  std::string_view key;
  std::string_view value;
  ObjectWalker args = event.args_walker;
  while (args.next(key, value) == ObjectWalker::Step::kPair) {
    switch (kArgKeys.find(key)) {
      case ArgKey::kAddress:
        record.address = number_or_null(value);
        break;
      case ArgKey::kBytes:
        record.bytes = number_or_null(value);
        break;
      case ArgKey::kTotalAllocated:
        record.total_allocated = number_or_null(value);
        break;
      case ArgKey::kTotalReserved:
        record.total_reserved = number_or_null(value);
        break;
      case ArgKey::kDeviceType:
        device_type = number_or_null(value);
        break;
      case ArgKey::kDeviceId: {
        const int64_t device = number_or_null(value);
        record.device = device == kNull ? -1 : static_cast<int32_t>(device);
        break;
      }
      default:
        break;
    }
  }
  // torch's numbering of device types.
  record.device_kind =
      strings.intern(device_type == 0   ? "CPU"
                     : device_type == 1 ? "CUDA"
                     : device_type == 6 ? "HIP"
                                        : "device type " + std::to_string(device_type));
  chunk_->memory.push_back(record);
}

void EventMapper::map_counter(const ChromeEvent& event) {
  int64_t ts_ns = 0;
  if (!time(event.ts, event, ts_ns) || event.args.empty() || event.args[0] != '{') {
    chunk_->quality.add(QualityCode::kUnparsableEvent,
                        where(event) + " is a counter without time or values");
    return;
  }
  std::string_view key;
  std::string_view value;
  // Ascend writes the number of the unit beside the value: it names the series.
  constexpr std::string_view kUnit = "acc_id";
  std::string unit;
  if (options_.ascend_args) {
    ObjectWalker look = event.args_walker;
    while (look.next(key, value) == ObjectWalker::Step::kPair) {
      if (key == kUnit) unit = " " + std::string(unquote(value));
    }
  }
  ObjectWalker args = event.args_walker;
  while (args.next(key, value) == ObjectWalker::Step::kPair) {
    if (!unit.empty() && key == kUnit) continue;
    const auto number = parse_double(unquote(value));
    if (!number) {
      chunk_->quality.add(QualityCode::kBadNumber,
                          where(event) + " " + std::string(value.substr(0, 40)));
      continue;
    }
    LocalTrack lane{text(event.pid), text(event.tid), kNoString, false, false};
    const bool plain = key.empty() || key == "value";
    std::string name = std::string(event.name) + unit;
    if (!plain) {
      name += ' ';
      name += key;
    }
    lane.counter = text(name);
    chunk_->counters.push_back({ts_ns, *number, find_track(lane)});
  }
}

}  // namespace stepscope
