#include "collector/watch.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <utility>

#include "base/json_text.h"
#include "collector/crash_signals.h"

namespace stepscope {
namespace {

constexpr size_t kMostTold = 16;       // triggers that wait for the writer
constexpr size_t kMostCaptures = 100;  // that are remembered

double seconds(int64_t ns) { return static_cast<double>(ns) * 1e-9; }

// "0.31", "12": three digits are plenty in a sentence.
std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

TriggerCause slow_step(const SlowSteps::Finding& found, double factor) {
  TriggerCause cause;
  cause.kind = "slow_step";
  cause.step = found.step;
  cause.seconds = seconds(found.duration_ns);
  cause.threshold_s = seconds(found.threshold_ns);
  cause.median_s = seconds(found.median_ns);
  cause.what = "step " + std::to_string(found.step) + " took " + short_number(cause.seconds) +
               " s, " + short_number(cause.seconds / std::max(cause.median_s, 1e-9)) +
               " times the median of " + short_number(cause.median_s) + " s";
  cause.what += found.in_a_row > 1 ? ", the slowest of " + std::to_string(found.in_a_row) +
                                         " in a row beyond " + short_number(factor) + " times"
                                   : "; " + short_number(factor) + " times are allowed";
  return cause;
}

TriggerCause no_progress(int64_t stalled_ns, int64_t most_ns, std::optional<int64_t> step) {
  TriggerCause cause;
  cause.kind = "no_progress";
  cause.step = step;
  cause.seconds = seconds(stalled_ns);
  cause.threshold_s = seconds(most_ns);
  cause.what = "no step has begun or ended for " + short_number(cause.seconds) + " s";
  if (step) cause.what += ", since step " + std::to_string(*step);
  cause.wants_stacks = true;
  return cause;
}

TriggerCause signal_came(const HeardSignal& heard) {
  TriggerCause cause;
  cause.kind = "signal";
  cause.signal = heard.number;
  cause.what = std::string(signal_name(heard.number)) + " (" + std::to_string(heard.number) +
               ") came to thread " + std::to_string(heard.thread);
  // After a fault of memory nobody's data are to be trusted.
  cause.wants_stacks = heard.number == SIGTERM || heard.number == SIGABRT;
  return cause;
}

}  // namespace

std::string TriggerCause::to_json(int64_t realtime_ns, int64_t not_captured_before) const {
  JsonObject json;
  json.add("kind", std::string_view(kind)).add("what", std::string_view(what));
  if (step) json.add("step", *step);
  if (seconds > 0) json.add("seconds", seconds);
  if (threshold_s > 0) json.add("threshold_s", threshold_s);
  if (median_s > 0) json.add("median_s", median_s);
  if (signal > 0) json.add("signal", int64_t{signal});
  json.add("realtime_ns", realtime_ns);
  if (not_captured_before > 0) json.add("not_captured_before", not_captured_before);
  return json.text();
}

Watch::Watch(WatchOptions options)
    : options_(std::move(options)),
      kept_(options_.keep_bytes),
      slow_(options_.slow_factor, options_.slow_steps),
      progress_(options_.no_progress_ns),
      limit_(options_.most_captures, options_.within_ns) {}

void Watch::trigger(TriggerCause cause) {
  const std::lock_guard lock(mutex_);
  if (told_.size() < kMostTold) told_.push_back(std::move(cause));
}

void Watch::see(std::vector<StepMark>& marks, const TickRate& rate) {
  // Rings are read one after the other; a step that is complete when it is put begins where the one
  // before it ended.
  std::stable_sort(marks.begin(), marks.end(),
                   [](const StepMark& a, const StepMark& b) { return a.ticks < b.ticks; });
  for (const StepMark& mark : marks) {
    if (mark.ticks < last_ticks_) continue;
    last_ticks_ = mark.ticks;
    step_thread_ = mark.thread;
    const int64_t when_ns = rate.ns(mark.ticks);
    complete_step(when_ns);
    if (!mark.ends) {
      open_ = OpenStep{mark.number, when_ns};
      last_step_ = mark.number;
    }
    progress_.seen(when_ns);
  }
  marks.clear();
}

void Watch::complete_step(int64_t end_ns) {
  if (!open_) return;
  ++completed_steps_;
  const auto found = slow_.add(open_->number, open_->began_ns, end_ns - open_->began_ns);
  open_.reset();
  if (found) found_.push_back(slow_step(*found, slow_.factor()));
}

void Watch::hear() {
  const std::lock_guard lock(mutex_);
  for (TriggerCause& cause : told_) heard_.push_back(std::move(cause));
  told_.clear();
}

std::vector<TriggerCause> Watch::causes(int64_t now_ns) {
  std::vector<TriggerCause> causes = std::exchange(found_, {});
  for (TriggerCause& cause : std::exchange(heard_, {})) causes.push_back(std::move(cause));
  if (const auto stalled = progress_.stalled_ns(now_ns))
    causes.push_back(no_progress(*stalled, options_.no_progress_ns, last_step_));
  if (options_.signals != 0) {
    if (const auto heard = heard_signal()) causes.push_back(signal_came(*heard));
  }
  for (TriggerCause& cause : causes) {
    if (!cause.step) cause.step = last_step_;
  }
  return causes;
}

bool Watch::may_capture(const TriggerCause& cause, int64_t now_ns) {
  return cause.signal != 0 || limit_.allow(now_ns);
}

int64_t Watch::keep_since_ns(int64_t now_ns) const {
  int64_t from_ns = progress_.last_ns().value_or(now_ns);
  if (const auto suspicious = slow_.suspicious_since_ns()) from_ns = std::min(from_ns, *suspicious);
  return from_ns - options_.keep_ns;
}

void Watch::capture_begins(const std::string& folder, const TriggerCause& cause, int64_t now_ns) {
  capturing_ = true;
  capture_began_ns_ = now_ns;
  capture_began_at_step_ = completed_steps_;
  const std::lock_guard lock(mutex_);
  if (captures_.size() >= kMostCaptures) captures_.erase(captures_.begin());
  Capture capture;
  capture.folder = folder;
  capture.kind = cause.kind;
  capture.what = cause.what;
  captures_.push_back(std::move(capture));
}

bool Watch::capture_is_complete(int64_t now_ns) const {
  return capturing_ && (completed_steps_ - capture_began_at_step_ >= options_.capture_steps ||
                        now_ns - capture_began_ns_ >= options_.capture_ns);
}

void Watch::capture_ends(const std::string& stopped_by, int64_t not_recorded) {
  capturing_ = false;
  const std::lock_guard lock(mutex_);
  if (captures_.empty()) return;
  Capture& capture = captures_.back();
  capture.complete = stopped_by.empty();
  capture.stopped_by = stopped_by;
  capture.not_recorded = not_recorded;
}

std::string Watch::captures_json() const {
  const std::lock_guard lock(mutex_);
  std::string json = "[";
  for (const Capture& capture : captures_) {
    if (json.size() > 1) json += ",";
    json += JsonObject()
                .add("folder", std::string_view(capture.folder))
                .add("kind", std::string_view(capture.kind))
                .add("what", std::string_view(capture.what))
                .add("complete", int64_t{capture.complete})
                .add("stopped_by", std::string_view(capture.stopped_by))
                .add("not_recorded", capture.not_recorded)
                .text();
  }
  return json + "]";
}

}  // namespace stepscope
