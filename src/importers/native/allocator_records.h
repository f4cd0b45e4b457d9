// Records of kinds STEPSCOPE_MEMORY and STEPSCOPE_MEMORY_RESERVED, as rows of the table memory.
#ifndef STEPSCOPE_IMPORTERS_NATIVE_ALLOCATOR_RECORDS_H_
#define STEPSCOPE_IMPORTERS_NATIVE_ALLOCATOR_RECORDS_H_

#include <cstdint>

#include "importers/native/raw_run.h"

namespace stepscope {

class AllocatorRecords {
 public:
  explicit AllocatorRecords(RawRun& run) : run_(run) {}

  struct Event {
    TrackId track;
    int64_t ts_ns;
    int64_t device;  // type << 8 | index + 1
    int64_t address;
    int64_t bytes;
    int64_t total_allocated;
  };
  void add(const Event& event);
  // What was in reserve at the event before, of the same thread; a row of its own where that event
  // was lost.
  void add_reserved(TrackId track, int64_t ts_ns, int64_t device, int64_t bytes);

 private:
  MemoryRecord record(TrackId track, int64_t ts_ns, int64_t device);

  RawRun& run_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_NATIVE_ALLOCATOR_RECORDS_H_
