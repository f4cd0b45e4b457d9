// Recorder: one recording, from start to stop. Owns the writer thread, which empties the rings,
// asks the sources and appends chunks to the raw file. With a watch (collector/watch.h) there is a
// file only while something is captured; otherwise chunks are kept in memory for a while.
//
// The threads that record never wait for it: what it cannot take in time, or may not write any
// more, stays in the rings until they are full and is then counted instead of kept. stop() waits,
// but not for a disk that hangs: nobody can take a thread out of write(), so the writer is then
// left behind with everything that it uses. It owns the recorder together with whoever started it.
#ifndef STEPSCOPE_COLLECTOR_RECORDER_H_
#define STEPSCOPE_COLLECTOR_RECORDER_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include <semaphore.h>

#include "base/result.h"
#include "collector/clock.h"
#include "collector/kept_chunks.h"
#include "collector/lasting_rows.h"
#include "collector/name_table.h"
#include "collector/raw_output.h"
#include "collector/ring_registry.h"
#include "collector/source.h"
#include "collector/watch.h"
#include "format/chunk_builder.h"

namespace stepscope {

// Wakes the writer before its time. Outlives every recording: a thread may be about to post when
// the recording that it posts for has just ended.
class WriterBell {
 public:
  WriterBell() { ::sem_init(&semaphore_, 0, 0); }
  ~WriterBell() { ::sem_destroy(&semaphore_); }
  WriterBell(const WriterBell&) = delete;
  WriterBell& operator=(const WriterBell&) = delete;

  // Once is enough until the writer has heard it: a full ring would ring at every record.
  void ring() {
    if (!rung_.exchange(true, std::memory_order_relaxed)) ::sem_post(&semaphore_);
  }
  // By threads whose rings fill up: at every record once they are full, so not while nobody would
  // make room.
  void ring_for_room() {
    if (makes_room_.load(std::memory_order_relaxed)) ring();
  }
  void set_makes_room(bool makes_room) { makes_room_.store(makes_room, std::memory_order_relaxed); }
  void wait_ns(int64_t most_ns);

 private:
  sem_t semaphore_{};
  std::atomic<bool> rung_ = false;
  std::atomic<bool> makes_room_ = true;
};

struct RecorderOptions {
  std::string folder;
  int64_t rank = 0;
  uint64_t max_host_bytes = 256ull << 20;
  uint64_t max_disk_bytes = 10ull << 30;
  uint64_t min_free_bytes = 1ull << 30;
  uint64_t ring_bytes = 4ull << 20;
  uint64_t source_bytes = 0;  // what the sources may take of max_host_bytes
  bool from_environment = false;
  // How long stop() waits for a writer that does not get on, and in all.
  std::chrono::milliseconds patience{5'000};
  std::chrono::milliseconds most_patience{30'000};
  // Keeps seconds instead of writing them; `folder` is not used then.
  std::optional<WatchOptions> watch;
  // A reading of the clocks some time before the start; saves waiting for a second one.
  std::optional<ClockSample> earlier_clock;
  // Notes that go into the file first: name and JSON.
  std::vector<std::pair<std::string, std::string>> notes;
};

struct RecordingStatistics {
  int64_t events = 0;
  int64_t not_recorded = 0;
  int64_t threads = 0;
  int64_t bytes = 0;
  double seconds = 0;
  double writer_cpu_seconds = 0;
  std::string stopped_by;             // the sentence, when a budget or the disk ended it early
  std::string lost_because;           // sentences, where it did not and records are missing
  std::vector<std::string> problems;  // what the sources could not do, in sentences
  std::string captures_json;          // of a watch
  bool left_behind = false;           // the disk hangs: it is better left alone

  std::string to_json() const;
};

class Recorder {
 public:
  // What start() would take time for and can be done before: memory for the rings.
  static void prepare(const RecorderOptions& options, RingRegistry& rings);
  static Result<std::shared_ptr<Recorder>> start(RecorderOptions options, NameTable& names,
                                                 RingRegistry& rings, WriterBell& bell,
                                                 std::vector<std::unique_ptr<Source>> sources);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void add_note(std::string_view name, std::string_view json);
  // Null when nothing is watched for.
  Watch* watch() { return watch_.get(); }
  // Something happened that only the program knows; false without a watch.
  bool trigger(TriggerCause cause);
  // What the sources could not do so far, and why nothing more is written if that is so.
  std::vector<std::string> problems();
  // A source that turns up while the recording runs. Started on this thread.
  Status add_source(std::unique_ptr<Source> source);
  const RecorderOptions& options() const { return options_; }
  // Waits until the writer has written what was recorded before the call; false when it takes
  // longer than `most`, or nothing is written any more.
  bool flush_within(std::chrono::nanoseconds most);
  // The caller has cleared stepscope_recording before. Within the patience of the options: when the
  // disk hangs the statistics say so, and the writer completes the file should the disk come back.
  RecordingStatistics stop();
  // Whether the writer is done with the rings and the names: another recording may have them.
  bool has_ended();
  // In a forked child, where the writer thread does not exist.
  void abandon() {
    if (output_) output_->abandon();
  }

 private:
  struct KnownThread {
    bool named = false;
  };

  Recorder(RecorderOptions options, const ClockSample& beginning, std::optional<RawOutput> output,
           NameTable& names, RingRegistry& rings, WriterBell& bell,
           std::vector<std::unique_ptr<Source>> sources);
  void run();
  void go_on(int64_t& flushed_ns);
  // Runs `work`. An exception of it (there is no memory) ends the recording, as a full disk does,
  // and not the program. False then.
  template <typename Work>
  bool or_give_up(const Work& work) {
    try {
      work();
      return true;
    } catch (const std::exception& failure) {
      give_up(failure.what());
      return false;
    }
  }
  void give_up(const char* why);
  void end_early(std::string why);
  void drain();
  void drain_ring(ThreadRing& ring);
  // What `owner` has in the ring, up to `end`.
  void drain_thread(stepscope_ring& ring, const RingOwner& owner, uint64_t end);
  void flush(bool last = false);
  void append(std::span<const std::byte> chunk, int64_t events, bool last = false);
  void add_names();
  void take(int64_t events);
  // Counted, and said once.
  void lose(int64_t events, const char* why);
  uint64_t ask_for_flush();
  uint64_t flushes_asked();
  void answer_flushes(uint64_t asked);
  void add_clock(const ClockSample& sample);
  void say_if_memory_is_too_little();
  std::string beginning_json() const;
  Losses lost_so_far();

  // recorder_end.cc
  void finish();
  void finish_file();
  int64_t count_not_recorded();
  int64_t count_in_rings();
  // What could not be done, in sentences; of threads without a ring if any were since `before`.
  std::vector<std::string> problems_since(const Losses& before);
  std::vector<std::string> loss_reasons_since(const Losses& before);
  bool wait_for_writer();
  RecordingStatistics leave_behind(int64_t waited_ms);

  // recorder_sources.cc
  void start_sources();
  void stop_sources();
  void adopt_new_sources();
  // `all`: as in SourceOutput.
  void collect(bool all);
  // Behind a limit: what the sources bring is counted, not kept.
  void throw_away(bool all);
  void take_over(SourceOutput& output);
  bool sources_wait() const;

  // recorder_captures.cc: with a watch.
  void keep_chunk();
  void look_for_triggers(int64_t now_ns);
  void begin_capture(const TriggerCause& cause, int64_t now_ns);
  void answer(const TriggerCause& cause);
  void end_capture();
  void add_cause(const TriggerCause& cause);
  void write_stacks(const TriggerCause& cause);

  RecorderOptions options_;
  std::optional<RawOutput> output_;  // none while a watch only keeps
  NameTable& names_;
  RingRegistry& rings_;
  WriterBell& bell_;
  // Grown by the writer thread, under the mutex; the writer itself reads without it.
  std::vector<std::unique_ptr<Source>> sources_;
  std::vector<std::unique_ptr<Source>> new_sources_;
  std::mutex sources_mutex_;
  ClockSample beginning_;
  std::atomic<bool> stopping_ = false;
  std::thread writer_;

  // The writer thread's own; stop() takes the statistics when it has ended.
  ChunkBuilder chunk_;
  LastingRows lasting_;
  std::unique_ptr<Watch> watch_;
  std::vector<StepMark> step_marks_;
  std::vector<RingOwner> owners_;  // of the ring that is being drained
  uint64_t chunks_ = 0;
  int64_t events_in_chunk_ = 0;
  int64_t events_not_written_ = 0;
  Losses lost_before_file_;
  int64_t file_began_ns_ = 0;   // monotonic; what is in the file was recorded since
  int64_t chunk_began_ns_ = 0;  // the same of the chunk that is being made,
  Losses chunk_lost_before_;    // with a watch
  uint32_t names_written_ = 0;
  uint64_t names_lost_before_ = 0;  // by earlier recordings of the process
  std::unordered_map<int64_t, KnownThread> threads_;
  RecordingStatistics statistics_;

  // The writer's as well, for those who cannot wait for it.
  std::atomic<uint64_t> moves_ = 0;  // goes up as long as it gets on
  std::atomic<int64_t> events_taken_ = 0;
  std::atomic<int64_t> events_written_ = 0;
  std::atomic<int64_t> source_losses_ = 0;
  std::atomic<int64_t> bytes_written_ = 0;
  std::mutex end_mutex_;
  std::condition_variable end_changed_;
  bool has_ended_ = false;

  // Requests of flush_within(), counted; the writer says up to which it has come.
  std::mutex flush_mutex_;
  std::condition_variable flush_answered_;
  uint64_t flushes_asked_ = 0;
  uint64_t flushes_done_ = 0;

  std::mutex notes_mutex_;
  std::vector<std::pair<std::string, std::string>> notes_;
  size_t note_bytes_ = 0;  // of notes_
  std::vector<std::string> problems_;
  std::vector<std::string> loss_reasons_;
  std::string ended_early_;  // statistics_.stopped_by, for other threads
};

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_RECORDER_H_
