// The one list of formats. Adding an importer is a folder and a line here.
#include "importers/ascend_db/ascend_db_importer.h"
#include "importers/ascend_text/ascend_text_importer.h"
#include "importers/importer.h"
#include "importers/kineto/kineto_importer.h"

namespace stepscope {

const std::vector<const Importer*>& importers() {
  static const AscendDbImporter kAscendDb;
  static const AscendTextImporter kAscendText;
  static const KinetoImporter kKineto;
  static const std::vector<const Importer*> kAll = {&kAscendDb, &kAscendText, &kKineto};
  return kAll;
}

}  // namespace stepscope
