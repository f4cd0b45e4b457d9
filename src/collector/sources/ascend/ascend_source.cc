#include "collector/sources/ascend/ascend_source.h"

#include <dirent.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <exception>

#include "base/json_text.h"
#include "collector/bounded_call.h"
#include "collector/sources/ascend/session.h"

namespace stepscope::ascend {
namespace {

// CANN has one profiling for a process.
std::atomic<bool> in_use = false;
// The process that first used it: its children by fork cannot.
std::atomic<pid_t> used_in = 0;

std::set<std::string> prof_folders(const std::string& folder) {
  std::set<std::string> names;
  DIR* const listing = ::opendir(folder.c_str());
  if (listing == nullptr) return names;
  while (const dirent* entry = ::readdir(listing)) {
    if (std::strncmp(entry->d_name, "PROF_", 5) == 0) names.insert(entry->d_name);
  }
  ::closedir(listing);
  return names;
}

Error cannot_record(std::string why, std::string remedy) {
  return {ErrorCode::kUnsupported, "cannot record the NPU", "", std::move(why), std::move(remedy)};
}

std::string seconds_text(int64_t milliseconds) {
  return std::to_string((milliseconds + 999) / 1000) + " s";
}

// Releases CANN when the last one is done with it, be that a helper thread that was given up.
struct Use {
  ~Use() { in_use.store(false, std::memory_order_release); }
};

}  // namespace

AscendSource::AscendSource(AscendOptions options) : options_(std::move(options)) {}

AscendSource::~AscendSource() { stop(); }

Status AscendSource::start() try {
  const Result<AclLibrary>& library = AclLibrary::open();
  if (!library) return Error(library.error());
  pid_t nobody = 0;
  if (!used_in.compare_exchange_strong(nobody, ::getpid()) && nobody != ::getpid()) {
    return cannot_record("CANN, which the parent process used, does not work in a forked child",
                         "start such processes by spawn");
  }
  if (in_use.exchange(true, std::memory_order_acq_rel)) {
    return cannot_record("it is being recorded already, or the last recording has not ended yet",
                         "one recording of a process at a time can have it");
  }
  auto use = std::make_shared<Use>();
  folders_before_ = prof_folders(options_.folder);
  int32_t device = -1;
  if (library->get_device(&device) != kSuccess) device = -1;
  auto session = std::make_shared<Session>(*library, options_, device, std::move(use));
  if (!call_within(options_.wait_at_start_ms, [session] { session->start(); }) &&
      session->give_up()) {
    return cannot_record("CANN had not started " + seconds_text(options_.wait_at_start_ms) +
                             " after it was asked to",
                         "check that the device answers: npu-smi info");
  }
  if (auto started = session->status(); !started) return started;
  problems_ = session->take_problems();
  session_ = std::move(session);
  return {};
} catch (const std::exception& failure) {
  return cannot_record(failure.what(), "");
}

void AscendSource::stop() {
  if (session_ == nullptr) return;
  try {
    stop_session();
  } catch (const std::exception& failure) {
    const std::lock_guard lock(mutex_);
    problems_.emplace_back(failure.what());
  }
  session_.reset();
}

void AscendSource::stop_session() {
  const bool done =
      call_within(options_.wait_at_stop_ms, [session = session_] { session->stop(); });
  std::string names;
  for (const std::string& name : prof_folders(options_.folder)) {
    if (folders_before_.contains(name)) continue;
    if (!names.empty()) names += ' ';
    names += name;
  }
  std::vector<std::string> problems = session_->take_problems();
  if (!done) {
    problems.push_back("CANN had not written its data " + seconds_text(options_.wait_at_stop_ms) +
                       " after the end; it is left to finish by itself");
  } else if (names.empty()) {
    problems.push_back("CANN left no PROF_ folder in " + options_.folder);
  }
  JsonObject json;
  json.add("library", std::string_view(AclLibrary::open()->path));
  json.add("device", int64_t{session_->device()});
  json.add("level", std::string_view(level_name(options_.level)));
  json.add("data_types", static_cast<int64_t>(session_->types()));
  json.add("folders", std::string_view(names));
  const std::lock_guard lock(mutex_);
  for (std::string& problem : problems) problems_.push_back(std::move(problem));
  summary_ = json.text();
}

void AscendSource::collect(SourceOutput& output) {
  const std::lock_guard lock(mutex_);
  for (const std::string& problem : std::exchange(problems_, {})) output.report(name(), problem);
  if (const std::string summary = std::exchange(summary_, {}); !summary.empty())
    output.lasting.add_note("npu", summary);
}

}  // namespace stepscope::ascend
