// STUB, removed when the coordinator is merged: opens stores only.
#include "importers/import_run.h"

#include "store/store_reader.h"

namespace stepscope {

Result<ImportedRun> import_run(const std::vector<std::string>& paths, const ImportOptions&,
                               Progress&) {
  auto store = StoreReader::open(paths.at(0));
  if (!store) return std::move(store.error());
  return ImportedRun{paths[0], false, ""};
}

}  // namespace stepscope
