// import_run: from paths to an open-able store. Finds the ranks, reads them in parallel within a
// memory budget, writes one store. A store that is still fresh is reused.
#ifndef STEPSCOPE_IMPORTERS_IMPORT_RUN_H_
#define STEPSCOPE_IMPORTERS_IMPORT_RUN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/progress.h"
#include "base/result.h"

namespace stepscope {

struct ImportOptions {
  std::string
      output;  // store file; "" = beside the input, or in the user's cache when that is read-only
  std::string form;           // an importer's name; "" = a fresh store's form, else the richest
  unsigned jobs = 0;          // threads; 0 = all CPUs
  uint64_t memory_bytes = 0;  // budget for ranks in flight; 0 = half of the machine's memory
  bool force = false;         // import even when a fresh store exists
};

struct ImportedRun {
  std::string store_path;
  bool imported = false;  // false: a fresh store was there already
  std::vector<std::string>
      notes;  // lines for the user: why it was rebuilt, ranks that failed, forms not read
};

// When `paths` is a single store file it is returned as it is. One rank that fails does not lose
// the others: it is in the quality report and in the notes. Fails when no rank could be read.
// Cancelled or failed, nothing is left behind.
Result<ImportedRun> import_run(const std::vector<std::string>& paths, const ImportOptions& options,
                               Progress& progress);

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_IMPORT_RUN_H_
