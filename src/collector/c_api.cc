// record.h's functions that are not inline. The edge to foreign code: nothing is thrown across it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_text.h"
#include "collector/environment.h"
#include "collector/process.h"
#include "collector/sources/ascend/ascend_source.h"
#include "collector/sources/cupti/cupti_source.h"
#include "collector/sources/mindspore/mindspore_source.h"
#include "collector/sources/pipeline/pipeline_source.h"
#include "collector/sources/system/system_source.h"
#include "stepscope/record.h"

namespace {

using stepscope::Process;

constexpr std::chrono::seconds kMostFlushTime{10};

// A buffer of a fixed size: storing the sentence must not fail.
thread_local char last_error[1024];

int fail(std::string_view sentence, std::string_view why = {}) {
  const size_t room = sizeof last_error - 1;
  const size_t length = sentence.copy(last_error, room);
  last_error[length + why.copy(last_error + length, room - length)] = '\0';
  return -1;
}

uint64_t or_default(uint64_t value, uint64_t fallback) { return value == 0 ? fallback : value; }

using Sources = std::vector<std::unique_ptr<stepscope::Source>>;

namespace cupti = stepscope::cupti;

cupti::CuptiOptions gpu_options(uint32_t tier, uint64_t max_host_bytes) {
  cupti::CuptiOptions options;
  options.tier = static_cast<cupti::Tier>(std::clamp(tier, 1u, 3u));
  for (const std::string& word : options.tune(std::getenv("STEPSCOPE_CUPTI_TUNING")))
    std::fprintf(stderr,
                 "stepscope: STEPSCOPE_CUPTI_TUNING: \"%s\" is not known and has no effect\n",
                 word.c_str());
  // At most half of the memory budget, at least what CUPTI needs to go on while one is read.
  options.buffers_most = std::max<uint64_t>(
      4, std::min<uint64_t>(options.buffers_most, max_host_bytes / 2 / options.buffer_bytes));
  return options;
}

std::unique_ptr<stepscope::Source> gpu_source(const cupti::CuptiOptions& options) {
  return std::make_unique<cupti::CuptiSource>(options, Process::instance().bell());
}

// CANN's folder lies beside FRAMEWORK/, in the run's own.
std::string run_folder(const std::string& folder) {
  char* const resolved = ::realpath(folder.c_str(), nullptr);
  std::string path = resolved == nullptr ? folder : resolved;
  std::free(resolved);
  constexpr std::string_view kRawFolder = "/FRAMEWORK";
  if (path.ends_with(kRawFolder)) path.resize(path.size() - kRawFolder.size());
  return path;
}

stepscope::ascend::AscendOptions npu_options(const std::string& folder,
                                             const stepscope_options& chosen) {
  stepscope::ascend::AscendOptions options;
  options.folder = run_folder(folder);
  options.level = static_cast<stepscope::ascend::Level>(std::clamp(chosen.npu_level, 1u, 4u));
  if (chosen.npu_metrics > 0) options.metrics = chosen.npu_metrics - 1;
  options.data = chosen.npu_data;
  options.device = static_cast<int32_t>(chosen.npu_device);
  return options;
}

// CUPTI, CANN and the drivers take themselves apart when the program exits. Handlers run last to
// first: one that is registered now, when both are up, still gets their last records. (Process has
// one too, but may be older than they are.)
void stop_before_the_driver_ends() {
  static const int kRegistered = std::atexit([] {
    cupti::stay_attached();
    Process::instance().stop_at_exit();
  });
  (void)kRegistered;
}

stepscope_options complete(const stepscope_options* options) {
  stepscope_options chosen{};
  // An older caller knows fewer fields.
  if (options != nullptr) std::memcpy(&chosen, options, std::min(options->size, sizeof chosen));
  return chosen;
}

stepscope::RecorderOptions recorder_options(const stepscope_options& chosen) {
  stepscope::RecorderOptions recorder;
  recorder.rank = chosen.rank;
  recorder.max_host_bytes = or_default(chosen.max_host_mb, recorder.max_host_bytes >> 20) << 20;
  recorder.max_disk_bytes = or_default(chosen.max_disk_mb, recorder.max_disk_bytes >> 20) << 20;
  recorder.min_free_bytes = or_default(chosen.min_free_mb, recorder.min_free_bytes >> 20) << 20;
  recorder.ring_bytes = or_default(chosen.ring_kb, recorder.ring_bytes >> 10) << 10;
  if (chosen.gpu_tier > 0) {
    const cupti::CuptiOptions gpu = gpu_options(chosen.gpu_tier, recorder.max_host_bytes);
    recorder.source_bytes += gpu.buffers_most * gpu.buffer_bytes;
  }
  return recorder;
}

stepscope::WatchOptions watch_options(const char* output, const stepscope_watch_options* rules) {
  stepscope_watch_options chosen{};
  if (rules != nullptr) std::memcpy(&chosen, rules, std::min(rules->size, sizeof chosen));
  stepscope::WatchOptions watch;
  const auto ns = [](uint32_t ms, int64_t fallback) {
    return ms == 0 ? fallback : int64_t{ms} * 1'000'000;
  };
  watch.output = output;
  watch.keep_ns = ns(chosen.keep_ms, watch.keep_ns);
  watch.keep_bytes = or_default(chosen.keep_mb, watch.keep_bytes >> 20) << 20;
  if (chosen.capture_steps > 0) watch.capture_steps = chosen.capture_steps;
  watch.capture_ns = ns(chosen.capture_ms, watch.capture_ns);
  watch.slow_factor = chosen.slow_factor;
  if (chosen.slow_steps > 0) watch.slow_steps = chosen.slow_steps;
  watch.no_progress_ns = ns(chosen.no_progress_ms, 0);
  watch.signals = chosen.signals;
  watch.most_captures = or_default(chosen.most_captures, watch.most_captures);
  if (chosen.within_s > 0) watch.within_ns = int64_t{chosen.within_s} * 1'000'000'000;
  watch.stacks = chosen.stacks;
  return watch;
}

int start(const char* folder, const stepscope_options* options, bool from_environment,
          const stepscope_watch_options* rules = nullptr) {
  stepscope::leave_worker_rings();
  stepscope_options chosen = complete(options);
  stepscope::RecorderOptions recorder = recorder_options(chosen);
  recorder.folder = folder;
  recorder.from_environment = from_environment;
  if (rules != nullptr) {
    recorder.watch = watch_options(folder, rules);
    // Rings need their part of the budget.
    recorder.watch->keep_bytes = std::min(recorder.watch->keep_bytes, recorder.max_host_bytes / 2);
    recorder.source_bytes += recorder.watch->keep_bytes;
    chosen.npu_level = 0;  // CANN writes to the disk all the time
  }
  Sources sources;
  if (chosen.system_interval_ms > 0) {
    sources.push_back(std::make_unique<stepscope::SystemSource>(
        stepscope::SystemSourceOptions{chosen.system_interval_ms}));
  }
  // Costs nothing until a window is handed over.
  sources.push_back(std::make_unique<stepscope::MindsporeSource>(
      Process::instance().mindspore_inbox(), Process::instance().names()));
  // Costs nothing as long as there is no pipeline.
  sources.push_back(std::make_unique<stepscope::PipelineSource>(Process::instance().stages(),
                                                                Process::instance().workers()));
  if (chosen.gpu_tier > 0)
    sources.push_back(gpu_source(gpu_options(chosen.gpu_tier, recorder.max_host_bytes)));
  sources.push_back(
      std::make_unique<stepscope::ascend::NpuWindowsSource>(Process::instance().npu_windows()));
  if (chosen.npu_level > 0) {
    sources.push_back(
        std::make_unique<stepscope::ascend::AscendSource>(npu_options(folder, chosen)));
  }
  const stepscope::Status started =
      Process::instance().start(std::move(recorder), std::move(sources));
  if (!started) return fail(started.error().message());
  if (chosen.gpu_tier > 0 || chosen.npu_level > 0) stop_before_the_driver_ends();
  return 0;
}

}  // namespace

int stepscope_start(const char* folder, const stepscope_options* options) try {
  if (folder == nullptr) return fail("cannot start recording: no folder was given");
  if (!Process::instance().outer_folder().empty()) return 0;  // it is being recorded already
  return start(folder, options, false);
} catch (const std::exception& failure) {
  return fail("cannot start recording: ", failure.what());
}

int stepscope_watch(const char* output, const stepscope_watch_options* rules,
                    const stepscope_options* options) try {
  if (output == nullptr) return fail("cannot watch: no folder was given");
  stepscope_watch_options none{};
  none.size = sizeof none;
  return start(output, options, false, rules == nullptr ? &none : rules);
} catch (const std::exception& failure) {
  return fail("cannot watch: ", failure.what());
}

int stepscope_trigger(const char* kind, const char* what) try {
  stepscope::TriggerCause cause;
  cause.kind = kind == nullptr ? "" : kind;
  cause.what = what == nullptr ? "" : what;
  return Process::instance().trigger(std::move(cause)) ? 0 : fail("nothing is being watched");
} catch (const std::exception& failure) {
  return fail("cannot capture: ", failure.what());
}

const char* stepscope_captures(void) try {
  thread_local std::string captures;
  captures = Process::instance().captures_json();
  return captures.c_str();
} catch (const std::exception&) {
  return "[]";
}

void stepscope_prepare(const stepscope_options* options) try {
  const stepscope_options chosen = complete(options);
  Process::instance().prepare(recorder_options(chosen));
  if (chosen.gpu_tier > 0) cupti::CuptiLibrary::open();
} catch (const std::exception&) {  // NOLINT: start() says what is wrong
}

void stepscope_unprepare(void) try {
  Process::instance().unprepare();
} catch (const std::exception&) {  // NOLINT: without memory there is nothing to be said
}

int stepscope_start_from_environment(int with_gpu) try {
  auto request = stepscope::read_environment();
  if (!request) return fail(request.error().message());
  if (request->output.empty()) return 0;
  if (Process::instance().recording()) {
    if (with_gpu == 0) return 0;
    const stepscope::RecorderOptions defaults;
    const uint64_t most_mb = or_default(request->max_host_mb, defaults.max_host_bytes >> 20);
    const stepscope::Status added =
        Process::instance().add_source(gpu_source(gpu_options(request->gpu_tier, most_mb << 20)));
    if (!added) return fail(added.error().message());
    stop_before_the_driver_ends();
    return 1;
  }
  auto folder = stepscope::make_run_folder(request->output);
  if (!folder) return fail(folder.error().message());
  stepscope_options options{};
  options.size = sizeof options;
  options.rank = request->rank;
  options.gpu_tier = with_gpu != 0 ? request->gpu_tier : 0;
  options.system_interval_ms = request->system_interval_ms;
  options.max_host_mb = request->max_host_mb;
  options.max_disk_mb = request->max_disk_mb;
  options.min_free_mb = request->min_free_mb;
  return start(folder->c_str(), &options, true) == 0 ? 1 : -1;
} catch (const std::exception& failure) {
  return fail("cannot start recording: ", failure.what());
}

int stepscope_begin_npu(const stepscope_options* options) try {
  auto& windows = Process::instance().npu_windows();
  const uint64_t recording = windows.recording();  // before the folder: it is that one's
  const std::string folder = Process::instance().outer_folder();
  if (folder.empty()) return fail("nothing is being recorded from outside");
  const stepscope::Status begun = windows.begin(npu_options(folder, complete(options)), recording);
  if (!begun) return fail(begun.error().message());
  stop_before_the_driver_ends();
  return 0;
} catch (const std::exception& failure) {
  return fail("cannot record the NPU: ", failure.what());
}

void stepscope_end_npu(void) try {
  Process::instance().npu_windows().end();
} catch (const std::exception&) {  // NOLINT: without memory there is nothing to be said
}

const char* stepscope_stop(void) try {
  thread_local std::string statistics;
  if (!Process::instance().outer_folder().empty()) return R"({"joined":1})";
  const auto stopped = Process::instance().stop();
  statistics = stopped ? stopped->to_json() : "{}";
  return statistics.c_str();
} catch (const std::exception& failure) {
  fail("stopping the recording: ", failure.what());
  return "{}";
}

const char* stepscope_last_error(void) { return last_error; }

const char* stepscope_outer_folder(void) try {
  thread_local std::string folder;
  folder = Process::instance().outer_folder();
  return folder.c_str();
} catch (const std::exception&) {
  return "";
}

int stepscope_flush(void) try {
  return Process::instance().flush_within(kMostFlushTime)
             ? 0
             : fail("nothing is being recorded, or the disk is too slow");
} catch (const std::exception& failure) {
  return fail("writing the recording: ", failure.what());
}

uint32_t stepscope_name(const char* text, size_t length) try {
  return Process::instance().names().intern({text, length});
} catch (const std::exception&) {
  return 0;  // the empty name
}

void stepscope_metadata(const char* key, const char* json) try {
  if (key != nullptr && json != nullptr) Process::instance().add_note(key, json);
} catch (const std::exception&) {  // NOLINT: without memory there is nothing to be said
}

const char* stepscope_problems(void) try {
  thread_local std::string problems;
  problems.clear();
  stepscope::append_json_texts(problems, Process::instance().problems());
  return problems.c_str();
} catch (const std::exception&) {
  return "[]";
}

int stepscope_import_mindspore_window(const char* folder, int64_t realtime_from_ns,
                                      int64_t realtime_to_ns, uint32_t what) try {
  if (!stepscope_is_recording()) return fail("nothing is being recorded");
  stepscope::MindsporeFolder window;
  window.path = folder;
  window.from_ns = realtime_from_ns;
  window.to_ns = realtime_to_ns;
  window.shapes = (what & STEPSCOPE_MINDSPORE_SHAPES) != 0;
  window.memory = (what & STEPSCOPE_MINDSPORE_MEMORY) != 0;
  window.clock = stepscope::sample_clocks();
  if (Process::instance().mindspore_inbox().put(std::move(window))) return 0;
  return fail("too many windows of MindSpore wait to be read: removed ", folder);
} catch (const std::exception& failure) {
  return fail("a window of MindSpore is not read: ", failure.what());
}

int stepscope_join(const char* address) try {
  if (stepscope_is_recording()) return fail("this process records itself");
  Process::instance();  // watches fork(): a child of the worker must not write into its ring
  return stepscope::join_worker_rings(address) ? 0 : fail("no ring is to be had there");
} catch (const std::exception& failure) {
  return fail("cannot join: ", failure.what());
}

void* stepscope_vendor_function(const char* name) try {
  return stepscope::cupti::CuptiLibrary::function(name);
} catch (const std::exception&) {
  return nullptr;
}

void stepscope_step(int64_t number) {
  if (!stepscope_is_recording()) return;
  stepscope_put(stepscope_ticks(), 0, STEPSCOPE_STEP | STEPSCOPE_VALUES, 0,
                static_cast<uint64_t>(number), 0);
}

void stepscope_end_step(void) {
  if (!stepscope_is_recording()) return;
  stepscope_put(stepscope_ticks(), 0, STEPSCOPE_STEP_END, 0, 0, 0);
}
