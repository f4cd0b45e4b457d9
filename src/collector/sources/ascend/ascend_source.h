// AscendSource: what an Ascend NPU does, collected by CANN itself into a PROF_ folder of the run.
//
// CANN writes its data to disk on threads of its own; nothing comes through the recorder but what
// could not be done. The raw data are for CANN's msprof, which the analysis calls. CANN's functions
// run on a helper thread with a time limit: a device that hangs must not hang the program. One
// recording of a process at a time can have it, and no child of fork, because CANN survives
// neither.
#ifndef STEPSCOPE_COLLECTOR_SOURCES_ASCEND_ASCEND_SOURCE_H_
#define STEPSCOPE_COLLECTOR_SOURCES_ASCEND_ASCEND_SOURCE_H_

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "collector/source.h"
#include "collector/sources/ascend/ascend_options.h"

namespace stepscope::ascend {

class Session;

class AscendSource final : public Source {
 public:
  explicit AscendSource(AscendOptions options);
  ~AscendSource() override;

  std::string_view name() const override { return "npu"; }
  Status start() override;
  void collect(SourceOutput& output) override;
  void stop() override;

 private:
  void stop_session();

  AscendOptions options_;
  std::shared_ptr<Session> session_;  // null while nothing runs
  std::set<std::string> folders_before_;
  std::mutex mutex_;
  // Under the mutex: stop() and the writer thread meet here.
  std::vector<std::string> problems_;
  std::string summary_;  // JSON, when it has stopped
};

}  // namespace stepscope::ascend

#endif  // STEPSCOPE_COLLECTOR_SOURCES_ASCEND_ASCEND_SOURCE_H_
