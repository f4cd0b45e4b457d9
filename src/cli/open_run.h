// From a path on the command line to an open store: imports first when there is need to.
#ifndef STEPSCOPE_CLI_OPEN_RUN_H_
#define STEPSCOPE_CLI_OPEN_RUN_H_

#include <memory>
#include <string>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "importers/import_run.h"
#include "store/store_reader.h"

namespace stepscope {

// With a progress display, and with the importer's notes as lines on standard error.
Result<ImportedRun> import_paths(const std::vector<std::string>& paths,
                                 const ImportOptions& options, Progress& progress);

Result<std::shared_ptr<StoreReader>> open_run(const std::string& path, Progress& progress);

}  // namespace stepscope

#endif  // STEPSCOPE_CLI_OPEN_RUN_H_
