#include "collector/process.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "stepscope/record.h"

namespace stepscope {
namespace {

// A reading of the clocks that is older says too little about them now: calendars are slewed.
constexpr int64_t kLatestPreparationNs = 10'000'000'000;

// For another thread that starts or stops: a device may hang.
constexpr std::chrono::seconds kPatienceAtStart(5);
constexpr std::chrono::seconds kPatienceAtStop(30);

// Not there in a program that has used up its keys: rings of ended threads do not come back then.
std::optional<pthread_key_t> thread_end_key;

void thread_ends(void* ring) {
  stepscope_thread = {};
  Process& process = Process::instance();
  process.rings().detach(static_cast<stepscope_ring*>(ring));
  // The writer frees it at once: the next thread may need it.
  if (stepscope_is_recording()) process.bell().ring();
}

}  // namespace

Process& Process::instance() {
  static Process* const kProcess = new Process;
  return *kProcess;
}

Process::Process() {
  pthread_key_t key = 0;
  if (::pthread_key_create(&key, thread_ends) == 0) thread_end_key = key;
  ::pthread_atfork([] { instance().before_fork(); }, [] { instance().after_fork(false); },
                   [] { instance().after_fork(true); });
  // A program that ends without stop() still gets a finished file.
  std::atexit([] { instance().stop_at_exit(); });
}

std::unique_lock<std::mutex> Process::wait_for_others(std::chrono::milliseconds most) {
  std::unique_lock lock(mutex_, std::try_to_lock);
  for (auto waited = most - most; !lock && waited < most; ++waited) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    (void)lock.try_lock();
  }
  return lock;
}

Status Process::start(RecorderOptions options, std::vector<std::unique_ptr<Source>> sources) {
  const auto lock = wait_for_others(kPatienceAtStart);
  if (!lock || recorder_ != nullptr) {
    return Error{ErrorCode::kUnsupported, "cannot start recording", options.folder,
                 lock ? "this process is recording already"
                      : "another thread is starting or stopping a recording and does not get done",
                 "stop the other recording first"};
  }
  if (is_left_behind()) {
    return Error{ErrorCode::kUnsupported, "cannot start recording", options.folder,
                 "the last recording still waits for its disk", "try again when the disk answers"};
  }
  if (prepared_ && monotonic_ns() - prepared_->monotonic_ns < kLatestPreparationNs)
    options.earlier_clock = prepared_;
  prepared_.reset();
  auto recorder = Recorder::start(std::move(options), names_, rings_, bell_, std::move(sources));
  if (!recorder) return std::move(recorder.error());
  {
    const std::lock_guard moment(recorder_mutex_);
    recorder_ = std::move(*recorder);
  }
  __atomic_store_n(&stepscope_recording, 1, __ATOMIC_RELEASE);
  return {};
}

void Process::prepare(const RecorderOptions& options) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || recorder_ != nullptr || is_left_behind()) return;
  Recorder::prepare(options, rings_);
  prepared_ = sample_clocks();
}

void Process::unprepare() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || recorder_ != nullptr || !prepared_) return;
  rings_.give_memory_back();
  prepared_.reset();
}

std::optional<RecordingStatistics> Process::stop() {
  const auto lock = wait_for_others(kPatienceAtStop);
  if (!lock || recorder_ == nullptr) return std::nullopt;
  __atomic_store_n(&stepscope_recording, 0, __ATOMIC_RELEASE);
  RecordingStatistics statistics = recorder_->stop();
  std::shared_ptr<Recorder> ended;  // goes without the other lock: sources may take their time
  {
    const std::lock_guard moment(recorder_mutex_);
    ended = std::move(recorder_);
    if (!ended->has_ended()) left_behind_ = std::move(ended);
  }
  if (ended != nullptr) workers_.discard();  // what a watch kept nothing of would block the rings
  return statistics;
}

void Process::stop_at_exit() {
  try {
    const auto statistics = stop();
    if (!statistics || !is_left_behind()) return;
    const std::string line = "stepscope: " + statistics->stopped_by + "\n";
    if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;  // nobody listens
  } catch (const std::exception&) {  // NOLINT: there is nobody left to tell
  }
}

bool Process::is_left_behind() {
  std::shared_ptr<Recorder> ended;  // goes without the lock
  const std::lock_guard moment(recorder_mutex_);
  if (left_behind_ && left_behind_->has_ended()) ended = std::move(left_behind_);
  return left_behind_ != nullptr;
}

bool Process::recording() {
  const auto lock = wait_for_others(kPatienceAtStart);
  const std::lock_guard moment(recorder_mutex_);
  return recorder_ != nullptr;
}

std::string Process::outer_folder() {
  const std::lock_guard moment(recorder_mutex_);
  if (recorder_ == nullptr || !recorder_->options().from_environment) return {};
  return recorder_->options().folder;
}

bool Process::flush_within(std::chrono::nanoseconds most) {
  std::shared_ptr<Recorder> recorder;
  {
    const std::lock_guard moment(recorder_mutex_);
    recorder = recorder_;
  }
  return recorder != nullptr && recorder->flush_within(most);
}

void Process::add_note(std::string_view name, std::string_view json) {
  const std::lock_guard moment(recorder_mutex_);
  if (recorder_ != nullptr) recorder_->add_note(name, json);
}

std::vector<std::string> Process::problems() {
  const std::lock_guard moment(recorder_mutex_);
  return recorder_ == nullptr ? std::vector<std::string>() : recorder_->problems();
}

std::string Process::captures_json() {
  const std::lock_guard moment(recorder_mutex_);
  Watch* const watch = recorder_ == nullptr ? nullptr : recorder_->watch();
  return watch == nullptr ? "[]" : watch->captures_json();
}

bool Process::trigger(TriggerCause cause) {
  const std::lock_guard moment(recorder_mutex_);
  return recorder_ != nullptr && recorder_->trigger(std::move(cause));
}

Status Process::add_source(std::unique_ptr<Source> source) {
  const auto lock = wait_for_others(kPatienceAtStart);
  if (lock && recorder_ != nullptr) return recorder_->add_source(std::move(source));
  return Error{ErrorCode::kUnsupported, "cannot record the GPU", "", "nothing is being recorded",
               "start a recording first"};
}

void Process::before_fork() {
  recorder_mutex_.lock();
  rings_.mutex().lock();
  workers_.mutex().lock();  // before the names: whoever drains workers asks for names
  stages_.mutex().lock();
  names_.mutex().lock();
  mindspore_inbox_.mutex().lock();
  npu_windows_.mutex().lock();
}

void Process::after_fork(bool in_child) {
  if (in_child) {
    // The child has no writer thread, and the file is its parent's. The recorder is left behind
    // rather than destroyed: it would wait for that thread.
    stepscope_recording = 0;
    stepscope_thread = {};
    // Whoever held it is not here.
    std::construct_at(&mutex_);
    prepared_.reset();
    if (thread_end_key) ::pthread_setspecific(*thread_end_key, nullptr);
    for (std::shared_ptr<Recorder>* const recorder : {&recorder_, &left_behind_}) {
      if (*recorder == nullptr) continue;
      (*recorder)->abandon();
      new std::shared_ptr<Recorder>(std::move(*recorder));
    }
    rings_.forget_threads();
    mindspore_inbox_.forget();
    npu_windows_.forget();
    workers_.forget();
  }
  npu_windows_.mutex().unlock();
  mindspore_inbox_.mutex().unlock();
  names_.mutex().unlock();
  stages_.mutex().unlock();
  workers_.mutex().unlock();
  rings_.mutex().unlock();
  recorder_mutex_.unlock();
}

}  // namespace stepscope

uint32_t stepscope_recording = 0;
__thread stepscope_thread_state stepscope_thread = {};

namespace {

bool attach_thread() {
  stepscope_ring* const ring = stepscope::Process::instance().rings().attach();
  if (ring == nullptr) return false;
  stepscope_thread = {ring->records, ring->mask, ring->head, 0, ring};
  if (stepscope::thread_end_key) ::pthread_setspecific(*stepscope::thread_end_key, ring);
  return true;
}

}  // namespace

int stepscope_make_room(void) {
  if (stepscope_thread.ring == nullptr && !attach_thread()) return 0;
  stepscope_thread_state& thread = stepscope_thread;
  stepscope_ring& ring = *thread.ring;
  const uint64_t capacity = thread.mask + 1;
  const uint64_t tail = __atomic_load_n(&ring.tail, __ATOMIC_ACQUIRE);
  if (thread.head - tail > capacity / 2) stepscope::Process::instance().bell().ring_for_room();
  if (thread.head + STEPSCOPE_MOST_SLOTS > tail + capacity) {
    __atomic_store_n(&ring.not_recorded, ring.not_recorded + 1, __ATOMIC_RELAXED);
    return 0;
  }
  // Back here after a quarter at the latest, to ring the bell in time.
  const uint64_t quarter = thread.head + capacity / 4 + STEPSCOPE_MOST_SLOTS;
  thread.room_until = quarter < tail + capacity ? quarter : tail + capacity;
  return 1;
}
