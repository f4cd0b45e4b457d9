// The one list of formats. Adding an importer is a folder and a line here.
#include "importers/importer.h"
#include "importers/kineto/kineto_importer.h"

namespace stepscope {

const std::vector<const Importer*>& importers() {
  static const KinetoImporter kKineto;
  static const std::vector<const Importer*> kAll = {&kKineto};
  return kAll;
}

}  // namespace stepscope
