// NpuWindows: parts of a recording in which the NPU is recorded too, for profilers that join a
// recording which goes on before and behind them. One at a time, as CANN has it.
//
// It belongs to the process: windows come from the program's threads, the recording that runs asks
// for what they have to say.
#ifndef STEPSCOPE_COLLECTOR_SOURCES_ASCEND_NPU_WINDOWS_H_
#define STEPSCOPE_COLLECTOR_SOURCES_ASCEND_NPU_WINDOWS_H_

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "collector/source.h"
#include "collector/sources/ascend/ascend_source.h"

namespace stepscope::ascend {

class NpuWindows {
 public:
  // A recording begins, or ends: no window outlasts it, also where a thread is just beginning one.
  // close() ends the one that runs, and waits for one that another thread is ending.
  void open();
  void close();
  // Tells recordings apart, for begin().
  uint64_t recording();

  // Of the recording that recording() was asked in; an error when that has ended meanwhile. Takes
  // as long as CANN does, within the limits of the options; so does end().
  Status begin(AscendOptions options, uint64_t recording);
  void end();
  // On the writer thread.
  void collect(SourceOutput& output);
  // In a forked child: CANN's threads are its parent's.
  void forget();
  std::mutex& mutex() { return mutex_; }

 private:
  std::mutex mutex_;
  std::condition_variable ended_one_;
  uint64_t recording_ = 0;
  bool is_open_ = false;
  int ending_ = 0;  // threads in end()
  std::unique_ptr<AscendSource> running_;
  std::vector<std::unique_ptr<AscendSource>> ended_;  // until they have said what there is to say
};

// Costs nothing until there is a window.
class NpuWindowsSource final : public Source {
 public:
  explicit NpuWindowsSource(NpuWindows& windows) : windows_(windows) {}

  std::string_view name() const override { return "npu windows"; }
  Status start() override {
    windows_.open();
    return {};
  }
  void collect(SourceOutput& output) override { windows_.collect(output); }
  void stop() override { windows_.close(); }

 private:
  NpuWindows& windows_;
};

}  // namespace stepscope::ascend

#endif  // STEPSCOPE_COLLECTOR_SOURCES_ASCEND_NPU_WINDOWS_H_
