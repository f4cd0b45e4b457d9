// CANN's profiling interface as the collector calls it, numbers and signatures as CANN documents
// them. Written out here because nothing of CANN is there where this is built.
#ifndef STEPSCOPE_COLLECTOR_SOURCES_ASCEND_ACL_ABI_H_
#define STEPSCOPE_COLLECTOR_SOURCES_ASCEND_ACL_ABI_H_

#include <cstdint>

namespace stepscope::ascend {

using ReturnCode = int;
inline constexpr ReturnCode kSuccess = 0;
inline constexpr ReturnCode kAlreadyInitialized = 100002;  // of aclInit: the program did it before

// What is collected: bits of aclprofCreateConfig's last argument.
enum DataType : uint64_t {
  kAclApi = 0x1,
  kTaskTime = 0x2,
  kAicoreMetrics = 0x4,
  kAicpu = 0x8,
  kL2Cache = 0x10,
  kHcclTrace = 0x20,
  kMstx = 0x80,
  kRuntimeApi = 0x100,
  kTaskTimeLevel0 = 0x800,
  kTaskMemory = 0x1000,
};

// The groups of an AI core's counters are numbers from 0 on; this is none of them.
inline constexpr uint32_t kNoMetrics = 0xFF;

// aclprofSetConfig's first argument.
enum Setting : int {
  kHardwareMemoryHertz = 3,
  kIoHertz = 5,
  kInterconnectionHertz = 6,
  kHostSystem = 8,
};

struct Configuration;  // CANN's own

}  // namespace stepscope::ascend

#endif  // STEPSCOPE_COLLECTOR_SOURCES_ASCEND_ACL_ABI_H_
