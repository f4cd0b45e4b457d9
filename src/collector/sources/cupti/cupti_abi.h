// The part of CUPTI's binary interface that we use: numbers, functions and the heads of records.
//
// Declared here rather than taken from the vendor's headers because one binary must work with the
// CUPTI of any CUDA from 11 to 13 that the program brings along, and because the collector builds
// on machines without CUDA. NVIDIA versions its records (kernel records have had ten sizes in these
// years) but only ever appends: every field below has kept its place since CUDA 11.0, so there is
// one declaration and no table of versions, as long as nothing here knows a record's size. The
// vendor's cuptiActivityGetNextRecord() does the stepping. cupti_abi_test.cc compares every field
// with the vendor's headers where they are installed.
#ifndef STEPSCOPE_COLLECTOR_SOURCES_CUPTI_CUPTI_ABI_H_
#define STEPSCOPE_COLLECTOR_SOURCES_CUPTI_CUPTI_ABI_H_

#include <cstddef>
#include <cstdint>

namespace stepscope::cupti {

using ReturnCode = int;
inline constexpr ReturnCode kSuccess = 0;
inline constexpr ReturnCode kMultipleSubscribers = 39;

enum ActivityKind : uint32_t {
  kMemcpy = 1,
  kMemset = 2,
  kDriverApi = 4,
  kRuntimeApi = 5,
  kDevice = 8,
  kContext = 9,
  kConcurrentKernel = 10,
  kMarker = 12,
  kOverhead = 17,
  kMemcpyPeer = 22,
  kMemory = 49,
};

inline constexpr uint32_t kFlushForced = 1;
inline constexpr uint32_t kThreadIdsOfTheSystem = 1;
inline constexpr uint32_t kDriverDomain = 1;
inline constexpr uint32_t kRuntimeDomain = 2;
inline constexpr uint32_t kCallEnter = 0;
inline constexpr uint32_t kCallExit = 1;
inline constexpr uint32_t kMarkerStart = 2;
inline constexpr uint32_t kMarkerEnd = 4;
inline constexpr uint32_t kThreadObject = 2;

enum Attribute : uint32_t {
  kAttributeDeviceBufferBytes = 0,
  kAttributeDeviceBuffersReady = 6,
  kAttributeBufferPerThread = 9,
};

struct Activity {
  uint32_t kind;
};

struct KernelRecord {
  uint32_t kind;
  uint8_t unused1[2];
  uint16_t registers;
  uint32_t unused2[2];
  uint64_t start;
  uint64_t end;
  uint64_t unused3;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  int32_t grid[3];
  int32_t block[3];
  int32_t static_shared;
  int32_t dynamic_shared;
  uint32_t unused4[2];
  uint32_t correlation;
  int64_t unused5;
  const char* name;
  uint64_t unused6[3];
  uint32_t unused7[2];
  uint64_t graph_node;
  uint32_t unused8;
  uint32_t graph;
};

struct MemcpyRecord {
  uint32_t kind;
  uint8_t copy_kind;
  uint8_t from;
  uint8_t to;
  uint8_t flags;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t correlation;
  uint32_t unused1[4];
  uint64_t graph_node;
  // CUDA 11.0 has no such field: to be read only where graph_node is not 0.
  uint32_t graph;
};

struct MemcpyPeerRecord {
  uint32_t kind;
  uint8_t copy_kind;
  uint8_t from;
  uint8_t to;
  uint8_t flags;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t from_device;
  uint32_t unused1;
  uint32_t to_device;
  uint32_t unused2;
  uint32_t correlation;
  uint64_t unused3;
  uint64_t graph_node;
  uint32_t graph;  // as above
};

struct MemsetRecord {
  uint32_t kind;
  uint32_t value;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t correlation;
  uint16_t flags;
  uint16_t memory_kind;
  uint32_t unused1[3];
  uint64_t graph_node;
  uint32_t graph;  // as above
};

struct ApiRecord {
  uint32_t kind;
  uint32_t id;
  uint64_t start;
  uint64_t end;
  uint32_t process;
  uint32_t thread;
  uint32_t correlation;
  uint32_t result;
};

struct MemoryRecord {
  uint32_t kind;
  uint32_t operation;  // 1 allocation, 2 release
  uint32_t memory_kind;
  uint32_t correlation;
  uint64_t address;
  uint64_t bytes;
  uint64_t timestamp;
  uint64_t unused1;
  uint32_t process;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  const char* name;
};

struct MarkerRecord {
  uint32_t kind;
  uint32_t flags;
  uint64_t timestamp;
  uint32_t id;
  uint32_t object_kind;
  uint32_t process;
  uint32_t thread;
  uint64_t unused1;
  const char* name;
  const char* domain;
};

struct OverheadRecord {
  uint32_t kind;
  uint32_t overhead_kind;
  uint32_t object_kind;
  uint32_t process;
  uint32_t thread;
  uint32_t unused1;
  uint64_t start;
  uint64_t end;
};

struct ContextRecord {
  uint32_t kind;
  uint32_t context;
  uint32_t device;
};

struct DeviceRecord {
  uint32_t kind;
  uint32_t flags;
  uint64_t memory_bandwidth;  // kB/s
  uint64_t memory_bytes;
  uint32_t unused1;
  uint32_t l2_bytes;
  uint32_t threads_per_warp;
  uint32_t core_clock_khz;
  uint32_t unused2;
  uint32_t multiprocessors;
  uint32_t unused3;
  uint32_t warps_per_multiprocessor;
  uint32_t blocks_per_multiprocessor;
  uint32_t shared_per_multiprocessor;
  uint32_t registers_per_multiprocessor;
  uint32_t unused4[9];
  uint32_t compute_major;
  uint32_t compute_minor;
  uint32_t id;
  uint32_t unused5[5];
  const char* name;
};

// What a callback is told about a call.
struct CallbackData {
  uint32_t site;
  const char* function;
  const void* parameters;
  void* result;
  const char* symbol;
  void* context;
  uint32_t context_id;
  uint64_t* between;  // from the callback before the call to the one behind it
  uint32_t correlation;
};

extern "C" {
using CallFunction = void (*)(void* ours, uint32_t domain, uint32_t id, const CallbackData* data);
using RequestFunction = void (*)(uint8_t** buffer, size_t* bytes, size_t* most_records);
using CompleteFunction = void (*)(void* context, uint32_t stream, uint8_t* buffer, size_t bytes,
                                  size_t valid_bytes);
using TimestampFunction = uint64_t (*)();
}

}  // namespace stepscope::cupti

#endif  // STEPSCOPE_COLLECTOR_SOURCES_CUPTI_CUPTI_ABI_H_
