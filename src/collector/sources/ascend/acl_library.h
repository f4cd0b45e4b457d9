// AclLibrary: CANN's libraries, opened while the program runs and never linked.
//
// The runtime is libascendcl.so, profiling libmsprofiler.so; a framework that uses the NPU has both
// loaded, and gets no second copy. They are never closed again: CANN keeps threads.
#ifndef STEPSCOPE_COLLECTOR_SOURCES_ASCEND_ACL_LIBRARY_H_
#define STEPSCOPE_COLLECTOR_SOURCES_ASCEND_ACL_LIBRARY_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "collector/sources/ascend/acl_abi.h"

namespace stepscope::ascend {

struct AclLibrary {
  ReturnCode (*init)(const char* config) = nullptr;
  ReturnCode (*get_device)(int32_t*) = nullptr;
  ReturnCode (*set_device)(int32_t) = nullptr;
  ReturnCode (*profiling_init)(const char* path, size_t length) = nullptr;
  ReturnCode (*profiling_finalize)() = nullptr;
  Configuration* (*create_config)(uint32_t* devices, uint32_t count, uint32_t metrics,
                                  const void* events, uint64_t data_types) = nullptr;
  ReturnCode (*destroy_config)(const Configuration*) = nullptr;
  ReturnCode (*set_config)(int setting, const char* value, size_t length) = nullptr;
  ReturnCode (*start)(const Configuration*) = nullptr;
  ReturnCode (*stop)(const Configuration*) = nullptr;
  const char* (*recent_error)() = nullptr;  // may be missing, as only this may
  std::string path;                         // of the library with the profiling functions

  // The same for the whole process; a second call returns the first one's answer.
  // STEPSCOPE_ASCENDCL names one library to take in place of both.
  static const Result<AclLibrary>& open();
  // CANN's sentence for a failure of this thread's last call, and the code.
  std::string result_text(ReturnCode code) const;
};

}  // namespace stepscope::ascend

#endif  // STEPSCOPE_COLLECTOR_SOURCES_ASCEND_ACL_LIBRARY_H_
