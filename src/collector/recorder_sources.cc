// What the recorder does with its sources. They are foreign libraries for the most part: whatever
// they throw leaves them out, and harms neither the recording nor the program.
#include <algorithm>
#include <exception>
#include <utility>

#include "base/json_text.h"
#include "collector/recorder.h"

namespace stepscope {
namespace {

Status try_to_start(Source& source) try {
  return source.start();
} catch (const std::exception& failure) {
  return Error{ErrorCode::kUnsupported, "cannot record", std::string(source.name()), failure.what(),
               ""};
}

}  // namespace

void Recorder::start_sources() {
  for (auto& source : sources_) {
    const Status started = try_to_start(*source);
    if (started.ok()) continue;
    lasting_.add_note(
        "source_left_out",
        JsonObject().add("source", source->name()).add("why", started.error().message()).text());
    problems_.push_back(std::string(source->name()) + ": " + started.error().message());
    source.reset();
  }
  std::erase(sources_, nullptr);
}

Status Recorder::add_source(std::unique_ptr<Source> source) {
  if (auto started = try_to_start(*source); !started) return started;
  const std::lock_guard lock(sources_mutex_);
  new_sources_.push_back(std::move(source));
  return {};
}

void Recorder::adopt_new_sources() {
  const std::lock_guard lock(sources_mutex_);
  for (auto& source : new_sources_) sources_.push_back(std::move(source));
  new_sources_.clear();
}

void Recorder::stop_sources() {
  std::vector<Source*> sources;
  {
    const std::lock_guard lock(sources_mutex_);
    for (const auto& source : sources_) sources.push_back(source.get());
    for (const auto& source : new_sources_) sources.push_back(source.get());
  }
  for (Source* const source : sources) {
    try {
      source->stop();
    } catch (const std::exception& failure) {
      const std::lock_guard lock(notes_mutex_);
      problems_.push_back(std::string(source->name()) + ": " + failure.what());
    }
  }
}

void Recorder::collect(bool all) {
  if (!statistics_.stopped_by.empty()) return throw_away(all);
  SourceOutput output{chunk_, names_, lasting_, all};
  for (const auto& source : sources_) {
    source->collect(output);
    moves_.fetch_add(1, std::memory_order_relaxed);
  }
  take(output.events);
  take_over(output);
  add_clock(sample_clocks());
}

void Recorder::throw_away(bool all) {
  ChunkBuilder nowhere;
  LastingRows lasting(nowhere);
  for (bool more = true; more; nowhere.discard()) {
    SourceOutput output{nowhere, names_, lasting, all};
    for (const auto& source : sources_) {
      source->collect(output);
      moves_.fetch_add(1, std::memory_order_relaxed);
    }
    output.not_recorded += output.events;
    take_over(output);
    more = output.events > 0 && std::any_of(sources_.begin(), sources_.end(),
                                            [](const auto& s) { return s->waiting(); });
  }
}

void Recorder::take_over(SourceOutput& output) {
  source_losses_ += output.not_recorded;
  if (output.problems.empty() && output.loss_reasons.empty()) return;
  const std::lock_guard lock(notes_mutex_);
  for (std::string& why : output.loss_reasons) loss_reasons_.push_back(std::move(why));
  for (std::string& problem : output.problems) problems_.push_back(std::move(problem));
}

bool Recorder::sources_wait() const {
  if (!statistics_.stopped_by.empty()) return false;
  return std::any_of(sources_.begin(), sources_.end(),
                     [](const auto& source) { return source->waiting(); });
}

}  // namespace stepscope
