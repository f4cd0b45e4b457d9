#include "cli/open_run.h"

#include <cstdio>

#include "base/utf8.h"
#include "cli/terminal.h"

namespace stepscope {

Result<ImportedRun> import_paths(const std::vector<std::string>& paths,
                                 const ImportOptions& options, Progress& progress) {
  Result<ImportedRun> run = [&] {
    const ProgressDisplay display(progress, "importing");
    return import_run(paths, options, progress);
  }();
  if (run) {
    for (const std::string& note : run->notes)
      std::fprintf(stderr, "stepscope: %s\n", visible_text(note).c_str());
  }
  return run;
}

Result<std::shared_ptr<StoreReader>> open_run(const std::string& path, Progress& progress) {
  auto run = import_paths({path}, {}, progress);
  if (!run) return std::move(run.error());
  return StoreReader::open(run->store_path);
}

}  // namespace stepscope
