// Chrome traces: PyTorch's (Kineto, CUDA, ROCm, MTIA, CPU), and any other tool's as far as the
// model goes.
#ifndef STEPSCOPE_IMPORTERS_KINETO_KINETO_IMPORTER_H_
#define STEPSCOPE_IMPORTERS_KINETO_KINETO_IMPORTER_H_

#include "importers/importer.h"

namespace stepscope {

class KinetoImporter final : public Importer {
 public:
  std::string_view name() const override { return "kineto"; }
  std::string_view description() const override {
    return "Chrome trace JSON of torch.profiler and others (.json, .json.gz, .zst, .zip)";
  }
  bool reads_packed() const override { return true; }
  bool probe_file(const std::string& path, std::string_view head,
                  std::vector<Candidate>& found) const override;
  Status import(const Candidate& candidate, const ImportContext& context,
                RankBuilder& rank) const override;
};

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_KINETO_KINETO_IMPORTER_H_
