#include "importers/native/allocator_records.h"

#include <string>

namespace stepscope {
namespace {

// torch's numbers, which are part of its C++ interface since 2018.
std::string device_word(int64_t type) {
  switch (type) {
    case 0:
      return "CPU";
    case 1:
      return "CUDA";
    case 6:
      return "HIP";
    case 12:
      return "XPU";
    case 13:
      return "MPS";
    case 20:
      return "PrivateUse1";
    default:
      return "device type " + std::to_string(type);
  }
}

}  // namespace

MemoryRecord AllocatorRecords::record(TrackId track, int64_t ts_ns, int64_t device) {
  MemoryRecord record;
  record.ts_ns = ts_ns;
  record.device = static_cast<int32_t>(device & 0xFF) - 1;
  record.device_kind = run_.rank().strings.intern(device_word(device >> 8));
  record.track = track;
  return record;
}

void AllocatorRecords::add(const Event& event) {
  MemoryRecord record = this->record(event.track, event.ts_ns, event.device);
  record.address = event.address;
  record.bytes = event.bytes;
  record.total_allocated = event.total_allocated;
  run_.rank().memory.push_back(record);
}

void AllocatorRecords::add_reserved(TrackId track, int64_t ts_ns, int64_t device, int64_t bytes) {
  auto& rows = run_.rank().memory;
  const MemoryRecord wanted = record(track, ts_ns, device);
  if (!rows.empty()) {
    MemoryRecord& last = rows.back();
    if (last.track == track && last.ts_ns == ts_ns && last.device == wanted.device &&
        last.device_kind == wanted.device_kind && last.total_reserved == kNull) {
      last.total_reserved = bytes;
      return;
    }
  }
  rows.push_back(wanted);
  rows.back().total_reserved = bytes;
}

}  // namespace stepscope
