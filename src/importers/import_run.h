// STUB, removed when the coordinator is merged: opens stores only.
#ifndef STEPSCOPE_IMPORTERS_IMPORT_RUN_H_
#define STEPSCOPE_IMPORTERS_IMPORT_RUN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/progress.h"
#include "base/result.h"

namespace stepscope {

struct ImportOptions {
  std::string output;
  std::string form;
  unsigned jobs = 0;
  uint64_t memory_bytes = 0;
  bool force = false;
};

struct ImportedRun {
  std::string store_path;
  bool rebuilt = false;
  std::string note;
};

Result<ImportedRun> import_run(const std::vector<std::string>& paths, const ImportOptions& options,
                               Progress& progress);

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_IMPORT_RUN_H_
