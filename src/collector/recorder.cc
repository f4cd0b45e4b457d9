#include "collector/recorder.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <utility>

#include "base/json_text.h"
#include "collector/crash_signals.h"
#include "collector/record_tables.h"
#include "collector/signals_blocked.h"
#include "stepscope/record.h"

namespace stepscope {
namespace {

constexpr int64_t kDrainEveryNs = 50'000'000;
// Where much is recorded it looks sooner: what has come since its last look is what stop() waits
// for. A look costs some microseconds.
constexpr int64_t kDrainSoonestNs = 5'000'000;
constexpr int64_t kDrainEvents = 5'000;
constexpr int64_t kFlushEveryNs = 500'000'000;  // half of what a crash may lose
constexpr size_t kFlushAtBytes = 128 << 10;     // most of what stop() has to pack
constexpr int64_t kClockApartNs = 2'000'000;
constexpr int kDrainAtOnce = 8192;
constexpr uint64_t kLeastRing = 64 << 10;
constexpr size_t kReadyRings = 4;
constexpr size_t kMostNameBytes = 4 << 20;   // in a chunk; readers take up to 64 MiB of anything
constexpr size_t kMostNoteBytes = 16 << 20;  // that wait for the writer
constexpr size_t kReadyRingsAtStart = 2;     // the writer goes on from there

void set_ring_limits(const RecorderOptions& options, RingRegistry& rings) {
  // Of what the sources leave, rings take three quarters, the chunk that is being made the rest.
  const uint64_t for_rings =
      (options.max_host_bytes - std::min(options.source_bytes, options.max_host_bytes)) / 4 * 3;
  // One ring there is in any case, which must fit.
  const uint64_t ring_bytes =
      std::min(std::bit_ceil(options.ring_bytes), std::max(std::bit_floor(for_rings), kLeastRing));
  rings.set_limits(ring_bytes / sizeof(stepscope_record),
                   std::max<uint64_t>(1, for_rings / ring_bytes));
}

int64_t next_drain_ns(int64_t waited_ns, int64_t events) {
  return std::clamp(waited_ns * kDrainEvents / std::max<int64_t>(events, 1), kDrainSoonestNs,
                    kDrainEveryNs);
}

}  // namespace

void WriterBell::wait_ns(int64_t most_ns) {
  const int64_t until_ns = monotonic_ns() + most_ns;
  const timespec until{until_ns / 1'000'000'000, until_ns % 1'000'000'000};
  ::sem_clockwait(&semaphore_, CLOCK_MONOTONIC, &until);
  rung_.store(false, std::memory_order_relaxed);
}

std::string RecordingStatistics::to_json() const {
  std::string text = JsonObject()
                         .add("events", events)
                         .add("not_recorded", not_recorded)
                         .add("threads", threads)
                         .add("bytes", bytes)
                         .add("seconds", seconds)
                         .add("writer_cpu_seconds", writer_cpu_seconds)
                         .add("stopped_by", stopped_by)
                         .add("lost_because", lost_because)
                         .add("problems", problems)
                         .text();
  if (left_behind) text.insert(text.size() - 1, ",\"left_behind\":1");
  if (!captures_json.empty()) text.insert(text.size() - 1, ",\"captures\":" + captures_json);
  return text;
}

void Recorder::prepare(const RecorderOptions& options, RingRegistry& rings) {
  set_ring_limits(options, rings);
  rings.touch_in_use();
  rings.prepare(kReadyRings);
}

Result<std::shared_ptr<Recorder>> Recorder::start(RecorderOptions options, NameTable& names,
                                                  RingRegistry& rings, WriterBell& bell,
                                                  std::vector<std::unique_ptr<Source>> sources) {
  const ClockSample beginning = sample_clocks();
  std::optional<RawOutput> output;
  if (!options.watch) {
    auto file = RawOutput::create(options.folder, options.max_disk_bytes, options.min_free_bytes);
    if (!file) return std::move(file.error());
    output = std::move(*file);
  }
  const std::string path = output ? output->path() : "";
  std::shared_ptr<Recorder> recorder;
  try {
    set_ring_limits(options, rings);
    rings.forget_content();
    rings.prepare(kReadyRingsAtStart);
    recorder.reset(new Recorder(std::move(options), beginning, std::move(output), names, rings,
                                bell, std::move(sources)));
    const SignalsBlocked for_new_threads;
    recorder->writer_ = std::thread([recorder] { recorder->run(); });
  } catch (...) {  // the system has no thread or no memory left; the caller tells
    if (recorder && recorder->watch_) stop_listening_for_signals();
    if (recorder) recorder->stop_sources();
    if (!path.empty()) ::unlink(path.c_str());  // whoever tries again must not find it
    throw;
  }
  return recorder;
}

Recorder::Recorder(RecorderOptions options, const ClockSample& beginning,
                   std::optional<RawOutput> output, NameTable& names, RingRegistry& rings,
                   WriterBell& bell, std::vector<std::unique_ptr<Source>> sources)
    : options_(std::move(options)),
      output_(std::move(output)),
      names_(names),
      rings_(rings),
      bell_(bell),
      sources_(std::move(sources)),
      beginning_(beginning),
      lasting_(chunk_, options_.watch.has_value()),
      watch_(options_.watch ? std::make_unique<Watch>(*options_.watch) : nullptr),
      file_began_ns_(beginning_.monotonic_ns),
      chunk_began_ns_(beginning_.monotonic_ns),
      names_lost_before_(names_.lost()) {
  const SignalsBlocked for_new_threads;
  if (output_) chunk_.add_note("recording", beginning_json());
  for (const auto& [name, json] : options_.notes) add_note(name, json);
  say_if_memory_is_too_little();
  start_sources();
  // Two readings in the first chunk, far enough apart to tell how fast the ticks go: a program that
  // is killed at once leaves a file with times all the same.
  const ClockSample first = options_.earlier_clock.value_or(beginning_);
  add_clock(first);
  const int64_t apart_ns = monotonic_ns() - first.monotonic_ns;
  if (apart_ns < kClockApartNs)
    std::this_thread::sleep_for(std::chrono::nanoseconds(kClockApartNs - apart_ns));
  add_clock(sample_clocks());
  flush();
  bell_.set_makes_room(true);
  if (watch_) listen_for_signals(watch_->options().signals, bell_);
}

void Recorder::say_if_memory_is_too_little() {
  const uint64_t most_bytes = rings_.most_bytes() + options_.source_bytes;
  if (most_bytes <= options_.max_host_bytes) return;
  const uint64_t megabytes = (most_bytes + (1 << 20) - 1) >> 20;
  const std::string sentence = "up to " + std::to_string(megabytes) +
                               " MiB are taken: a ring and the buffers of a GPU need so much, or "
                               "threads have larger rings from earlier recordings";
  lasting_.add_note("not_honoured",
                    JsonObject().add("max_host_mb", std::string_view(sentence)).text());
  problems_.push_back("max_host_mb: " + sentence);
}

std::string Recorder::beginning_json() const {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  const auto megabytes = [](uint64_t bytes) { return static_cast<int64_t>(bytes >> 20); };
  return JsonObject()
      .add("rank", options_.rank)
      .add("host", std::string_view(host))
      .add("pid", static_cast<int64_t>(::getpid()))
      .add("program", std::string_view(program_invocation_short_name))
      .add("started_ns", beginning_.realtime_ns)
      .add("max_host_mb", megabytes(options_.max_host_bytes))
      .add("max_disk_mb", megabytes(options_.max_disk_bytes))
      .add("min_free_mb", megabytes(options_.min_free_bytes))
      .add("ring_kb", static_cast<int64_t>(options_.ring_bytes >> 10))
      .text();
}

void Recorder::add_note(std::string_view name, std::string_view json) {
  if (!is_json(json)) {
    lose(1, "metadata that are not JSON are not recorded");
    return;
  }
  {
    const std::lock_guard lock(notes_mutex_);
    if (note_bytes_ + name.size() + json.size() <= kMostNoteBytes) {
      note_bytes_ += name.size() + json.size();
      notes_.emplace_back(name, json);
      return;
    }
  }
  lose(1, "metadata of more than 16 MiB between two looks of the writer are not recorded");
}

void Recorder::lose(int64_t events, const char* why) {
  source_losses_ += events;
  const std::lock_guard lock(notes_mutex_);
  if (std::ranges::find(loss_reasons_, why) == loss_reasons_.end()) loss_reasons_.emplace_back(why);
}

std::vector<std::string> Recorder::problems() {
  std::vector<std::string> problems = problems_since({});
  const std::lock_guard lock(notes_mutex_);
  if (!ended_early_.empty()) problems.push_back(ended_early_);
  return problems;
}

bool Recorder::trigger(TriggerCause cause) {
  if (!watch_) return false;
  watch_->trigger(std::move(cause));
  bell_.ring();
  return true;
}

uint64_t Recorder::ask_for_flush() {
  uint64_t mine = 0;
  {
    const std::lock_guard lock(flush_mutex_);
    mine = ++flushes_asked_;
  }
  bell_.ring();
  return mine;
}

bool Recorder::flush_within(std::chrono::nanoseconds most) {
  const uint64_t mine = ask_for_flush();
  {
    std::unique_lock lock(flush_mutex_);
    if (!flush_answered_.wait_for(lock, most, [&] { return flushes_done_ >= mine; })) return false;
  }
  const std::lock_guard lock(notes_mutex_);
  return ended_early_.empty();
}

uint64_t Recorder::flushes_asked() {
  const std::lock_guard lock(flush_mutex_);
  return flushes_asked_;
}

void Recorder::answer_flushes(uint64_t asked) {
  const std::lock_guard lock(flush_mutex_);
  if (flushes_done_ == asked) return;
  flushes_done_ = asked;
  flush_answered_.notify_all();
}

void Recorder::give_up(const char* why) {
  chunk_.discard();
  events_not_written_ += std::exchange(events_in_chunk_, 0);
  try {
    end_early(std::string("recording stopped: ") + why + "; the program goes on");
  } catch (const std::exception&) {
    end_early("no memory");  // needs none
  }
}

void Recorder::end_early(std::string why) {
  const std::lock_guard lock(notes_mutex_);
  if (statistics_.stopped_by.empty()) statistics_.stopped_by = why;
  if (ended_early_.empty()) ended_early_ = std::move(why);
}

void Recorder::run() {
  ::pthread_setname_np(::pthread_self(), "stepscope");
  if (watch_) answer_signals_here();
  size_t ready = 0;
  int64_t flushed_ns = monotonic_ns();
  int64_t drain_ns = kDrainEveryNs;
  while (!stopping_.load(std::memory_order_acquire)) {
    // One ring between two looks: a thread that needs one waits for one at most, and a kernel that
    // has to search for large pages does not keep the writer from those that record.
    if (ready < kReadyRings)
      or_give_up([&] { rings_.prepare(++ready); });
    else if (!sources_wait())
      bell_.wait_ns(drain_ns);
    const int64_t taken = events_taken_.load(std::memory_order_relaxed);
    or_give_up([&] { go_on(flushed_ns); });
    drain_ns = next_drain_ns(drain_ns, events_taken_.load(std::memory_order_relaxed) - taken);
    bell_.set_makes_room(statistics_.stopped_by.empty());
  }
  finish();
}

void Recorder::go_on(int64_t& flushed_ns) {
  const uint64_t asked = flushes_asked();  // before the rings are read
  if (watch_) watch_->hear();              // likewise
  adopt_new_sources();
  drain();
  rings_.release_ended();
  const int64_t now_ns = monotonic_ns();
  if (watch_) look_for_triggers(now_ns);
  if (chunk_.bytes() < kFlushAtBytes && now_ns - flushed_ns < kFlushEveryNs && !sources_wait() &&
      asked == flushes_done_)
    return;
  flushed_ns = now_ns;
  collect(asked != flushes_done_);
  flush();
  if (!sources_wait()) answer_flushes(asked);
  rings_.prepare(1);
}

void Recorder::drain() {
  if (!statistics_.stopped_by.empty()) return;  // the rings fill up and count
  for (ThreadRing* ring : rings_.in_use()) drain_ring(*ring);
}

void Recorder::drain_ring(ThreadRing& ring) {
  stepscope_ring& shared = ring.shared;
  uint64_t tail = shared.tail;
  const uint64_t head = __atomic_load_n(&shared.head, __ATOMIC_ACQUIRE);
  if (head == tail) return;
  if (head - tail > shared.mask + 1) {
    // The head went back: a signal handler recorded in the midst of a record of its thread.
    __atomic_store_n(&shared.tail, head, __ATOMIC_RELEASE);
    lose(1, "a signal handler recorded while its thread did: records of that thread are lost");
    return;
  }
  rings_.copy_owners(ring, owners_);
  for (size_t at = 0; at < owners_.size() && statistics_.stopped_by.empty(); ++at) {
    const bool last = at + 1 == owners_.size();
    const uint64_t end = last ? head : std::min(head, owners_[at + 1].first);
    if (tail < end) drain_thread(shared, owners_[at], end);
    tail = std::max(tail, end);
  }
}

void Recorder::drain_thread(stepscope_ring& ring, const RingOwner& owner, uint64_t end) {
  KnownThread& known = threads_[owner.thread];
  if (!known.named) {
    known.named = true;
    lasting_.add(kThreadsTable, 0, {owner.thread, static_cast<int64_t>(names_.intern(owner.name))});
  }
  // In pieces: the thread gets its room back early, and a chunk stays small whatever a ring holds.
  uint64_t tail = ring.tail;
  while (tail != end) {
    RecordSorter sorter(chunk_, lasting_, owner.thread, beginning_.ticks, stepscope_ticks());
    if (watch_) sorter.tell_steps(step_marks_);
    for (int i = 0; i < kDrainAtOnce && tail != end; ++i) tail = sorter.add(ring, tail, end);
    __atomic_store_n(&ring.tail, tail, __ATOMIC_RELEASE);
    take(sorter.take_events());
    if (chunk_.bytes() >= kFlushAtBytes) flush();
    if (!statistics_.stopped_by.empty()) return;
  }
}

void Recorder::add_clock(const ClockSample& sample) {
  chunk_.table(kClocksTable, 0)
      .add({static_cast<int64_t>(sample.ticks), sample.monotonic_ns, sample.realtime_ns});
}

void Recorder::flush(bool last) {
  {
    const std::lock_guard lock(notes_mutex_);
    for (const auto& [name, json] : notes_) lasting_.add_note(name, json);
    notes_.clear();
    note_bytes_ = 0;
  }
  if (!output_) {
    keep_chunk();
    return;
  }
  add_names();
  if (chunk_.empty()) return;
  append(chunk_.pack(chunks_), std::exchange(events_in_chunk_, 0), last);
}

// Names come before what they name, and in chunks that readers take, however many there are.
void Recorder::add_names() {
  std::vector<std::string_view> added;
  size_t bytes = 0;
  const uint32_t first = names_written_;
  names_written_ = names_.visit_from(first, [&](uint32_t, std::string_view text) {
    added.push_back(text);
    bytes += text.size();
  });
  // The first chunk says what the file is.
  if (bytes > kMostNameBytes && chunks_ == 0)
    append(chunk_.pack(chunks_), std::exchange(events_in_chunk_, 0));
  std::optional<ChunkBuilder> ahead;
  for (size_t at = 0; at < added.size(); ++at) {
    if (bytes > kMostNameBytes && !ahead) ahead.emplace();
    ChunkBuilder& chunk = ahead ? *ahead : chunk_;
    chunk.add_string(first + static_cast<uint32_t>(at), added[at]);
    if (!ahead || (ahead->bytes() < kMostNameBytes && at + 1 < added.size())) continue;
    append(ahead->pack(chunks_), 0);
  }
}

void Recorder::take(int64_t events) {
  events_in_chunk_ += events;
  events_taken_.fetch_add(events, std::memory_order_relaxed);
  moves_.fetch_add(1, std::memory_order_relaxed);
}

void Recorder::append(std::span<const std::byte> chunk, int64_t events, bool last) {
  moves_.fetch_add(1, std::memory_order_relaxed);
  if (!statistics_.stopped_by.empty() && !last) {
    events_not_written_ += events;
    return;
  }
  Status written = output_->append(chunk, last);
  if (chunk.empty() && events > 0) written = Error{ErrorCode::kLimit, "no memory", "", "", ""};
  if (written.ok()) {
    ++chunks_;
    statistics_.events += events;
    events_written_.fetch_add(events, std::memory_order_relaxed);
    bytes_written_.store(static_cast<int64_t>(output_->bytes()), std::memory_order_relaxed);
    return;
  }
  events_not_written_ += events;
  end_early(written.error().message());
}

Losses Recorder::lost_so_far() {
  const auto without_ring = static_cast<int64_t>(rings_.without_ring());
  return {static_cast<int64_t>(rings_.not_recorded()) + source_losses_, without_ring};
}

}  // namespace stepscope
