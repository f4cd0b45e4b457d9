// What record.h's functions act on: the names, rings and recording of this process.
//
// There is one, because C callers, Python, PyTorch's callbacks and an injected library must all
// find the same; it is made at first use and never destroyed, because threads may record until the
// very end. Everything else in the collector is handed what it uses.
#ifndef STEPSCOPE_COLLECTOR_PROCESS_H_
#define STEPSCOPE_COLLECTOR_PROCESS_H_

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/pipeline_stages.h"
#include "collector/recorder.h"
#include "collector/sources/ascend/npu_windows.h"
#include "collector/sources/mindspore/window_inbox.h"
#include "collector/worker_rings.h"

namespace stepscope {

class Process {
 public:
  static Process& instance();

  Status start(RecorderOptions options, std::vector<std::unique_ptr<Source>> sources);
  // What start() with these options takes time for, done before; unprepare() undoes it. Both do
  // nothing while something records.
  void prepare(const RecorderOptions& options);
  void unprepare();
  // Nothing when nothing was recording. Waits for the disk within the options' patience.
  std::optional<RecordingStatistics> stop();
  // The same, and says on stderr when it was in vain: there is nobody else to tell.
  void stop_at_exit();
  bool recording();
  // These do not wait for a start or stop in progress.
  // The folder of a recording that the environment started; empty when there is none.
  std::string outer_folder();
  // False when nothing records or the writer needs longer.
  bool flush_within(std::chrono::nanoseconds most);
  void add_note(std::string_view name, std::string_view json);
  std::vector<std::string> problems();
  // What a watch has captured; "[]" without one.
  std::string captures_json();
  // False when nothing is watched.
  bool trigger(TriggerCause cause);
  // To the recording that runs; an error when none does.
  Status add_source(std::unique_ptr<Source> source);
  WriterBell& bell() { return bell_; }

  NameTable& names() { return names_; }
  RingRegistry& rings() { return rings_; }
  MindsporeInbox& mindspore_inbox() { return mindspore_inbox_; }
  ascend::NpuWindows& npu_windows() { return npu_windows_; }
  PipelineStages& stages() { return stages_; }
  WorkerRings& workers() { return workers_; }

 private:
  Process();
  // Waits for another thread's start or stop, but not for ever: a device or a disk may hang.
  std::unique_lock<std::mutex> wait_for_others(std::chrono::milliseconds most);
  bool is_left_behind();
  void before_fork();
  void after_fork(bool in_child);

  NameTable names_;
  RingRegistry rings_;
  MindsporeInbox mindspore_inbox_;
  ascend::NpuWindows npu_windows_;
  PipelineStages stages_;
  WorkerRings workers_;
  WriterBell bell_;
  std::optional<ClockSample> prepared_;
  // Held while a recording starts or stops, which can take seconds where a device is slow. Not
  // while the process is copied: fork() must not wait for that.
  std::mutex mutex_;
  // Held for moments, after mutex_ where both are needed: whether recorder_ is there.
  std::mutex recorder_mutex_;
  std::shared_ptr<Recorder> recorder_;  // shared with those who wait for it to flush
  // One whose disk hangs. Its writer may still use the rings, so there is no other
  // recording until it has ended.
  std::shared_ptr<Recorder> left_behind_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_PROCESS_H_
