// Recordings of our own collector: a folder with FRAMEWORK/stepscope.raw, finished, still growing
// or left behind by a killed process.
#ifndef STEPSCOPE_IMPORTERS_NATIVE_NATIVE_IMPORTER_H_
#define STEPSCOPE_IMPORTERS_NATIVE_NATIVE_IMPORTER_H_

#include "importers/importer.h"

namespace stepscope {

class NativeImporter final : public Importer {
 public:
  static constexpr int kRichness = 100;  // what the collector saw, before anything was made of it

  std::string_view name() const override { return "native"; }
  std::string_view description() const override {
    return "recordings of Stepscope: a run's folder or its stepscope.raw";
  }
  bool probe_folder(const Folder& folder, std::vector<Candidate>& found) const override;
  bool probe_file(const std::string& path, std::string_view head,
                  std::vector<Candidate>& found) const override;
  Status import(const Candidate& candidate, const ImportContext& context,
                RankBuilder& rank) const override;
};

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_NATIVE_NATIVE_IMPORTER_H_
