// The one list of formats. Adding an importer is a folder and a line here.
#include "importers/importer.h"
#include "importers/kineto/kineto_importer.h"
#include "importers/mindspore_raw/mindspore_raw_importer.h"

namespace stepscope {

const std::vector<const Importer*>& importers() {
  static const KinetoImporter kKineto;
  static const MindsporeRawImporter kMindsporeRaw;
  static const std::vector<const Importer*> kAll = {&kKineto, &kMindsporeRaw};
  return kAll;
}

}  // namespace stepscope
