// How a recording ends: the writer completes the file, stop() waits for it as long as it gets on.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <mutex>
#include <string>
#include <utility>

#include "base/json_text.h"
#include "collector/crash_signals.h"
#include "collector/record_tables.h"
#include "collector/recorder.h"

namespace stepscope {

RecordingStatistics Recorder::stop() {
  // The writer goes on meanwhile: it packs what there is, and makes room for what the sources still
  // bring.
  ask_for_flush();
  stop_sources();
  if (watch_) stop_listening_for_signals();  // one that has come is still answered
  stopping_.store(true, std::memory_order_release);
  bell_.ring();
  const int64_t began_ns = monotonic_ns();
  if (!wait_for_writer()) return leave_behind((monotonic_ns() - began_ns) / 1'000'000);
  writer_.join();
  return std::move(statistics_);
}

bool Recorder::has_ended() {
  const std::lock_guard lock(end_mutex_);
  return has_ended_;
}

// It may have much to pack, so what counts is whether it gets on; a chunk takes milliseconds.
bool Recorder::wait_for_writer() {
  using Clock = std::chrono::steady_clock;
  const auto latest = Clock::now() + options_.most_patience;
  auto until = Clock::now() + options_.patience;
  uint64_t moves = moves_.load(std::memory_order_relaxed);
  std::unique_lock lock(end_mutex_);
  while (!end_changed_.wait_for(lock, options_.patience / 20, [this] { return has_ended_; })) {
    const auto now = Clock::now();
    if (moves != moves_.load(std::memory_order_relaxed)) {
      moves = moves_.load(std::memory_order_relaxed);
      until = now + options_.patience;
    }
    if (now >= std::min(until, latest)) return false;
  }
  return true;
}

// What it uses stays: the writer is one of the recorder's owners.
RecordingStatistics Recorder::leave_behind(int64_t waited_ms) {
  writer_.detach();
  {
    const std::lock_guard lock(sources_mutex_);
    for (const auto& source : sources_) source->leave_behind();
  }
  RecordingStatistics statistics;
  statistics.left_behind = true;
  statistics.stopped_by =
      "recording stopped: " + (watch_ ? watch_->options().output : options_.folder) +
      ": the disk was waited for " + std::to_string(waited_ms / 1000) + "." +
      std::to_string(waited_ms / 100 % 10) +
      " s, and is not waited for any longer; the file is completed if it comes back before the "
      "program ends";
  statistics.seconds = static_cast<double>(monotonic_ns() - beginning_.monotonic_ns) * 1e-9;
  statistics.problems = problems_since({});
  if (watch_) {
    statistics.captures_json = watch_->captures_json();
    return statistics;
  }
  statistics.events = events_written_.load();
  statistics.bytes = bytes_written_.load();
  statistics.not_recorded =
      lost_so_far().records + events_taken_.load() - events_written_.load() + count_in_rings();
  return statistics;
}

void Recorder::finish() {
  or_give_up([&] {
    if (watch_) watch_->hear();
    adopt_new_sources();
    drain();
  });
  or_give_up([&] {
    if (watch_) {
      look_for_triggers(monotonic_ns());  // what was told or came at the last moment
      if (output_) end_capture();
      statistics_.captures_json = watch_->captures_json();
      statistics_.problems = problems_since({});
    } else {
      finish_file();
    }
  });
  statistics_.writer_cpu_seconds = static_cast<double>(thread_cpu_ns()) * 1e-9;
  output_.reset();  // here: closing a file waits for a network's disk
  rings_.give_memory_back();
  answer_flushes(flushes_asked());
  const std::lock_guard lock(end_mutex_);
  has_ended_ = true;
  end_changed_.notify_all();
}

void Recorder::finish_file() {
  or_give_up([&] {
    do {
      collect(true);
      flush();
    } while (sources_wait());
  });
  statistics_.not_recorded = count_not_recorded();
  statistics_.threads = static_cast<int64_t>(threads_.size());
  statistics_.seconds = static_cast<double>(monotonic_ns() - file_began_ns_) * 1e-9;
  statistics_.writer_cpu_seconds = static_cast<double>(thread_cpu_ns()) * 1e-9;
  statistics_.bytes = static_cast<int64_t>(output_->bytes());
  statistics_.problems = problems_since(lost_before_file_);
  statistics_.lost_because.clear();
  for (const std::string& reason : loss_reasons_since(lost_before_file_))
    statistics_.lost_because += (statistics_.lost_because.empty() ? "" : "; ") + reason;
  if (statistics_.not_recorded > 0 && statistics_.lost_because.empty())
    statistics_.lost_because = "threads recorded faster than the writer could take it";
  if (const uint64_t names = names_.lost() - names_lost_before_; names > 0) {
    chunk_.add_note("names_lost", JsonObject()
                                      .add("names", static_cast<int64_t>(names))
                                      .add("why", NameTable::how_lost(names))
                                      .text());
  }
  chunk_.add_note("end", statistics_.to_json());
  flush(true);
  statistics_.bytes = static_cast<int64_t>(output_->bytes());
}

std::vector<std::string> Recorder::problems_since(const Losses& before) {
  std::vector<std::string> problems;
  {
    const std::lock_guard lock(notes_mutex_);
    problems = problems_;
  }
  std::ranges::move(loss_reasons_since(before), std::back_inserter(problems));
  if (const uint64_t names = names_.lost() - names_lost_before_; names > 0)
    problems.push_back(NameTable::how_lost(names));
  return problems;
}

std::vector<std::string> Recorder::loss_reasons_since(const Losses& before) {
  std::vector<std::string> reasons;
  {
    const std::lock_guard lock(notes_mutex_);
    reasons = loss_reasons_;
  }
  if (static_cast<int64_t>(rings_.without_ring()) > before.without_ring) {
    reasons.emplace_back(
        rings_.without_memory()
            ? "threads recorded nothing: the system had no memory for their rings"
            : "threads recorded nothing: the rings of the others took what max_host_mb allows, "
              "raise it");
  }
  return reasons;
}

int64_t Recorder::count_not_recorded() {
  const int64_t lost = lost_so_far().records - lost_before_file_.records + events_not_written_;
  return statistics_.stopped_by.empty() ? lost : lost + count_in_rings();
}

int64_t Recorder::count_in_rings() {
  uint64_t count = 0;
  for (ThreadRing* ring : rings_.in_use()) count += count_records(ring->shared);
  return static_cast<int64_t>(count);
}

}  // namespace stepscope
