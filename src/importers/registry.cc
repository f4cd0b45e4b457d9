// The one list of formats. Adding an importer is a folder and a line here. Formats that own whole
// folders come before those that would take single files out of them.
#include "importers/ascend_db/ascend_db_importer.h"
#include "importers/ascend_text/ascend_text_importer.h"
#include "importers/importer.h"
#include "importers/kineto/kineto_importer.h"
#include "importers/mindinsight/mindinsight_importer.h"
#include "importers/mindspore_raw/mindspore_raw_importer.h"
#include "importers/native/native_importer.h"

namespace stepscope {

const std::vector<const Importer*>& importers() {
  static const NativeImporter kNative;
  static const MindsporeRawImporter kMindsporeRaw;
  static const MindinsightImporter kMindinsight;
  static const AscendDbImporter kAscendDb;
  static const AscendTextImporter kAscendText;
  static const KinetoImporter kKineto;
  static const std::vector<const Importer*> kAll = {&kNative,   &kMindsporeRaw, &kMindinsight,
                                                    &kAscendDb, &kAscendText,   &kKineto};
  return kAll;
}

}  // namespace stepscope
