// What the writer thread does for a watch: keeps chunks, and writes them out when something
// happens.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <exception>
#include <memory>
#include <utility>

#include "base/json_text.h"
#include "collector/bounded_call.h"
#include "collector/crash_signals.h"
#include "collector/environment.h"
#include "collector/record_tables.h"
#include "collector/recorder.h"
#include "stepscope/record.h"

namespace stepscope {
namespace {

// For the interpreter's lock. A thread that waits in our signal handler may hold it.
constexpr int64_t kStacksPatienceMs = 1000;
constexpr int64_t kStacksPatienceInSignalMs = 200;
constexpr const char* kStacksFile = "logs/python_stacks.txt";

// Past stdio: a thread that crashed may hold its lock.
void say(const std::string& sentence) {
  const std::string line = "stepscope: " + sentence + "\n";
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;  // nobody listens
}

std::string run_of(const std::string& raw_folder) {
  return raw_folder.substr(0, raw_folder.rfind('/'));
}

// Asks for the stacks with the interpreter's lock, and without it where that is not to be had: then
// whoever holds it is stuck, and nothing moves. Returns how.
const char* dump_stacks(stepscope_stacks_function stacks, int file, int64_t patience_ms) {
  const auto given_up = std::make_shared<int>(0);
  const int copy = ::fcntl(file, F_DUPFD_CLOEXEC, 0);
  bool done = false;
  try {
    done = call_within(patience_ms, [stacks, copy, given_up] {
      stacks(copy, given_up.get());
      ::close(copy);
    });
  } catch (const std::exception&) {  // no more threads
    ::close(copy);
  }
  if (done) return "while the interpreter waited";
  __atomic_store_n(given_up.get(), 1, __ATOMIC_RELEASE);
  stacks(file, nullptr);
  return "past the interpreter's lock, which somebody holds";
}

}  // namespace

void Recorder::keep_chunk() {
  const auto packed = chunk_.pack(0);
  const int64_t now_ns = monotonic_ns();
  KeptChunk chunk;
  chunk.bytes.assign(packed.begin(), packed.end());
  chunk.began_ns = std::exchange(chunk_began_ns_, now_ns);
  chunk.ended_ns = now_ns;
  chunk.events = std::exchange(events_in_chunk_, 0);
  chunk.lost_before = std::exchange(chunk_lost_before_, lost_so_far());
  watch_->kept().add(std::move(chunk));
  watch_->kept().forget_before(watch_->keep_since_ns(now_ns));
}

void Recorder::look_for_triggers(int64_t now_ns) {
  const uint64_t ticks = stepscope_ticks();
  const auto ticks_apart = static_cast<double>(ticks - beginning_.ticks);
  const auto ns_apart = static_cast<double>(now_ns - beginning_.monotonic_ns);
  watch_->see(step_marks_, {ticks, now_ns, ticks_apart > 0 ? ns_apart / ticks_apart : 1});
  for (const TriggerCause& cause : watch_->causes(now_ns)) {
    if (cause.signal != 0) drain();  // its thread may have recorded since, and will no more
    if (output_) {
      add_cause(cause);  // one more reason for what is being captured
      flush();
    } else if (watch_->may_capture(cause, now_ns)) {
      begin_capture(cause, now_ns);
    }
    if (output_ && cause.wants_stacks) write_stacks(cause);
    if (cause.signal != 0) answer(cause);
  }
  if (watch_->capture_is_complete(now_ns) || (output_ && !statistics_.stopped_by.empty()))
    end_capture();
}

// The last that is sure to be written: the signal's handler waits for this, and for no more.
void Recorder::answer(const TriggerCause& cause) {
  if (output_) {
    JsonObject written;
    written.add("signal", std::string_view(signal_name(cause.signal)));
    written.add("not_recorded", count_not_recorded());
    chunk_.add_note("written_until", written.text());
    flush();
  }
  answer_signal(cause.signal);
}

void Recorder::begin_capture(const TriggerCause& cause, int64_t now_ns) {
  collect(true);
  flush();
  auto folder = make_run_folder(watch_->options().output);
  if (!folder) {
    say(cause.kind + ": " + cause.what + ". " + folder.error().message());
    return;
  }
  auto file = RawOutput::create(*folder, options_.max_disk_bytes, options_.min_free_bytes);
  if (!file) {
    say(cause.kind + ": " + cause.what + ". " + file.error().message());
    return;
  }
  say(cause.kind + ": " + cause.what + ". Recorded into " + run_of(*folder));
  watch_->capture_begins(run_of(*folder), cause, now_ns);
  output_ = std::move(*file);
  lasting_.set_writes(true);
  statistics_ = {};
  {
    const std::lock_guard lock(notes_mutex_);
    ended_early_.clear();
  }
  chunks_ = 0;
  names_written_ = 0;
  events_not_written_ = 0;
  auto kept = watch_->kept().take();
  file_began_ns_ = kept.empty() ? now_ns : kept.front().began_ns;
  lost_before_file_ = kept.empty() ? lost_so_far() : kept.front().lost_before;
  chunk_.add_note("recording", beginning_json());
  add_cause(cause);
  flush();  // with all names
  append(lasting_.pack(chunks_), 0);
  for (KeptChunk& chunk : kept) {
    set_chunk_number(chunk.bytes, chunks_);
    append(chunk.bytes, chunk.events);
  }
}

void Recorder::end_capture() {
  finish_file();
  output_.reset();
  lasting_.set_writes(false);
  watch_->capture_ends(statistics_.stopped_by, statistics_.not_recorded);
  {
    const std::lock_guard lock(notes_mutex_);
    ended_early_.clear();
  }
  statistics_.stopped_by.clear();
  chunk_began_ns_ = monotonic_ns();
  chunk_lost_before_ = lost_so_far();
}

void Recorder::add_cause(const TriggerCause& cause) {
  const ClockSample now = sample_clocks();
  chunk_.add_note("trigger", cause.to_json(now.realtime_ns, watch_->take_not_captured()));
  const int64_t thread = watch_->step_thread() != 0 ? watch_->step_thread() : ::getpid();
  chunk_.table(kRangesTable, thread)
      .add({STEPSCOPE_MARK, static_cast<int64_t>(now.ticks), 0,
            static_cast<int64_t>(names_.intern("trigger: " + cause.kind))});
  take(1);
}

void Recorder::write_stacks(const TriggerCause& cause) {
  const stepscope_stacks_function stacks = watch_->options().stacks;
  if (stacks == nullptr) return;
  const std::string run = run_of(run_of(output_->path()));
  ::mkdir((run + "/logs").c_str(), 0750);
  const std::string path = run + "/" + kStacksFile;
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  if (file < 0) return;
  const char* const how =
      dump_stacks(stacks, file, cause.signal != 0 ? kStacksPatienceInSignalMs : kStacksPatienceMs);
  struct stat about{};
  const bool empty = ::fstat(file, &about) == 0 && about.st_size == 0;
  ::close(file);
  if (empty) {
    ::unlink(path.c_str());
    return;
  }
  chunk_.add_note("python_stacks", JsonObject()
                                       .add("file", std::string_view(kStacksFile))
                                       .add("taken", std::string_view(how))
                                       .text());
  flush();
}

}  // namespace stepscope
