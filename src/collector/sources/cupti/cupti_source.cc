#include "collector/sources/cupti/cupti_source.h"

#include <charconv>
#include <chrono>
#include <cstring>
#include <ranges>
#include <string_view>
#include <thread>

#include "base/json_text.h"
#include "collector/clock.h"
#include "collector/sources/cupti/activity_buffers.h"
#include "collector/sources/cupti/api_calls.h"
#include "collector/sources/cupti/call_tracer.h"
#include "stepscope/record.h"

namespace stepscope::cupti {
namespace {

constexpr size_t kChunkFullBytes = 4 << 20;

// CUPTI's callbacks carry no pointer of ours, and may come after a recording has ended: what they
// use is the process's and is never destroyed.
struct Callbacks {
  ActivityBuffers buffers;
  std::atomic<bool> in_use = false;         // by a recording
  std::atomic<WriterBell*> bell = nullptr;  // null while there are no buffers to be had
};

Callbacks& callbacks() {
  static auto* const kCallbacks = new Callbacks;
  return *kCallbacks;
}

// CUPTI's versions that were seen to leave a process and to come back (docs/cupti.md). With
// older ones, programs that use CUDA graphs crash when it comes back a second time.
constexpr uint32_t kFirstVersionToDetach = 130'000;
constexpr uint32_t kLastVersionToDetach = 130'499;
// A thread that trains calls CUDA every few microseconds.
constexpr std::chrono::microseconds kListenBeforeTheEnd{500};
std::atomic<bool> process_ends = false;

extern "C" void stepscope_cupti_request(uint8_t** buffer, size_t* bytes, size_t* most_records) {
  WriterBell* const bell = callbacks().bell.load(std::memory_order_acquire);
  const std::span<uint8_t> taken =
      bell == nullptr ? std::span<uint8_t>() : callbacks().buffers.take();
  *buffer = taken.data();
  *bytes = taken.size();
  *most_records = 0;  // as many as fit
  if (bell != nullptr && callbacks().buffers.running_low()) bell->ring();
}

extern "C" void stepscope_cupti_complete(void*, uint32_t, uint8_t* buffer, size_t,
                                         size_t valid_bytes) {
  callbacks().buffers.complete(buffer, valid_bytes);
  WriterBell* const bell = callbacks().bell.load(std::memory_order_acquire);
  if (bell != nullptr) bell->ring();
}

extern "C" uint64_t stepscope_cupti_ticks() { return stepscope_ticks(); }

const char* tier_name(Tier tier) {
  return tier == Tier::kPulse ? "pulse" : tier == Tier::kKernels ? "kernels" : "full";
}

}  // namespace

std::vector<std::string> CuptiOptions::tune(const char* text) {
  std::vector<std::string> unknown;
  std::string_view rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    const size_t equals = word.find('=');
    int64_t value = 0;
    const bool number =
        equals != std::string_view::npos &&
        std::from_chars(word.data() + equals + 1, word.data() + word.size(), value).ec ==
            std::errc() &&
        value >= 0;
    const std::string_view key = word.substr(0, equals);
    if (number && key == "buffer_kb" && value >= 64 && value <= 1 << 20) {
      buffer_bytes = static_cast<size_t>(value) << 10;
    } else if (number && key == "buffers" && value >= 1) {
      buffers_most = static_cast<size_t>(value);
    } else if (number && key == "ready") {
      buffers_ready = static_cast<size_t>(value);
    } else if (number && key == "flush_ms") {
      flush_every_ms = value;
    } else if (number && key == "per_thread") {
      buffer_per_thread = value != 0;
    } else if (number && key == "subscribe") {
      subscribe = value != 0;
    } else if (number && key == "detach") {
      detach_at_stop = value != 0;
    } else {
      unknown.emplace_back(word);
    }
  }
  return unknown;
}

CuptiSource::CuptiSource(CuptiOptions options, WriterBell& bell) : options_(options), bell_(bell) {}

CuptiSource::~CuptiSource() {
  if (!started_) return;
  if (!stopped_) stop();
  // Here and not in stop(): reading the last records needs CUPTI, and would bring it back.
  if (detaching_ && !process_ends && !heard_calls() && detach(*library_)) {
    detaching_ = false;
    callbacks().buffers.take_all_back();
    callbacks().in_use.store(false, std::memory_order_release);
  }
  leave_behind();
  callbacks().buffers.give_memory_back();
}

bool CuptiSource::may_detach() {
  uint32_t version = 0;
  const bool can = options_.detach_at_stop && options_.subscribe && !process_ends && !had_stayed_ &&
                   library_->get_version(&version) == kSuccess &&
                   version >= kFirstVersionToDetach && version <= kLastVersionToDetach &&
                   (tracing_calls_ || cupti::subscribe(*library_));
  if (!can) return false;
  listen_for_calls(*library_);
  std::this_thread::sleep_for(kListenBeforeTheEnd);
  return !heard_calls();
}

void CuptiSource::leave_behind() {
  if (!detaching_) return;
  switch_off();
  detaching_ = false;
  callbacks().in_use.store(false, std::memory_order_release);
}

int64_t CuptiSource::take_dropped() const {
  size_t dropped = 0;
  return library_->get_dropped(nullptr, 0, &dropped) == kSuccess ? static_cast<int64_t>(dropped)
                                                                 : 0;
}

void CuptiSource::enable(uint32_t kind, const char* what) {
  const bool dump = (kind == kDevice || kind == kContext) && library_->enable_and_dump != nullptr;
  const ReturnCode code = dump ? library_->enable_and_dump(kind) : library_->enable(kind);
  if (code == kSuccess) {
    enabled_.push_back(kind);
  } else {
    problems_.push_back(std::string("the GPU's ") + what +
                        " are not recorded: " + library_->result_text(code));
  }
}

void CuptiSource::set_attribute(uint32_t attribute, uint8_t value) {
  if (library_->set_attribute == nullptr || library_->get_attribute == nullptr) return;
  uint8_t before = 0;
  size_t size = sizeof before;
  if (library_->get_attribute(attribute, &size, &before) != kSuccess) return;
  size = sizeof value;
  if (library_->set_attribute(attribute, &size, &value) == kSuccess)
    attributes_before_.emplace_back(attribute, before);
}

void CuptiSource::restore_attributes() {
  for (const auto& [attribute, value] : attributes_before_) {
    uint8_t before = value;
    size_t size = sizeof before;
    library_->set_attribute(attribute, &size, &before);
  }
  attributes_before_.clear();
  if (library_->set_thread_id_type != nullptr) library_->set_thread_id_type(thread_ids_before_);
}

void CuptiSource::start_calls(bool subscribed) {
  tracing_calls_ = subscribed && start_call_tracing(*library_);
  if (tracing_calls_) return;
  if (record_runtime_calls(*library_)) {
    enabled_.push_back(kRuntimeApi);
  } else {
    problems_.emplace_back("calls of the CUDA runtime are not recorded: CUPTI refuses them");
  }
  if (record_driver_calls(*library_)) enabled_.push_back(kDriverApi);
}

Status CuptiSource::start() {
  const Result<CuptiLibrary>& library = CuptiLibrary::open();
  if (!library) return Error(library.error());
  library_ = &*library;
  Callbacks& shared = callbacks();
  if (shared.in_use.exchange(true)) {
    return Error{ErrorCode::kUnsupported, "cannot record the GPU", "",
                 "it is being recorded already", "one recording of a process can have it"};
  }
  shared.buffers.prepare(options_.buffer_bytes, options_.buffers_ready, options_.buffers_most);

  const bool clock_is_ours = library_->register_timestamp != nullptr &&
                             library_->register_timestamp(stepscope_cupti_ticks) == kSuccess;
  uint64_t now = stepscope_ticks();
  if (!clock_is_ours && library_->get_timestamp(&now) != kSuccess) now = 0;
  decoder_ = std::make_unique<ActivityDecoder>(*library_, DeviceClock(clock_is_ours), now,
                                               options_.tier >= Tier::kKernels);
  if (!clock_is_ours && now != 0) decoder_->clock().sample(now, stepscope_ticks());
  if (library_->get_thread_id_type != nullptr && library_->set_thread_id_type != nullptr) {
    library_->get_thread_id_type(&thread_ids_before_);
    library_->set_thread_id_type(kThreadIdsOfTheSystem);
  }
  set_attribute(kAttributeBufferPerThread, options_.buffer_per_thread ? 1 : 0);
  const ReturnCode code =
      library_->register_callbacks(stepscope_cupti_request, stepscope_cupti_complete);
  if (code != kSuccess) {
    restore_attributes();
    shared.buffers.give_memory_back();
    shared.in_use.store(false, std::memory_order_release);
    return Error{ErrorCode::kUnsupported, "cannot record the GPU", library_->path,
                 library_->result_text(code), "end the other profiler of this process first"};
  }
  started_ = true;
  flushed_ns_ = monotonic_ns();
  take_dropped();  // copies since the last recording
  shared.bell.store(&bell_, std::memory_order_release);

  had_stayed_ = cupti::is_subscribed(*library_);
  const bool subscribed = options_.subscribe && cupti::subscribe(*library_);
  enable(kDevice, "properties");
  enable(kContext, "contexts");
  enable(kMemory, "memory operations");
  enable(kMarker, "NVTX ranges");
  // Calls first, and last at the end: a call without its kernel does no harm.
  if (options_.tier >= Tier::kFull) start_calls(subscribed);
  if (options_.tier >= Tier::kKernels) {
    enable(kConcurrentKernel, "kernels");
    enable(kMemcpy, "copies");
    enable(kMemset, "memsets");
  }
  if (options_.tier >= Tier::kFull) {
    enable(kOverhead, "overheads of CUPTI");
  }
  if (!enabled_.empty()) return {};
  const std::string why = problems_.empty() ? "CUPTI switches nothing on" : problems_.back();
  stop();
  return Error{ErrorCode::kUnsupported, "cannot record the GPU", library_->path, why,
               "check with nvidia-smi that this process may use a device"};
}

void CuptiSource::collect(SourceOutput& output) {
  const bool stopped = stopped_.load(std::memory_order_acquire);
  for (const std::string& problem : std::exchange(problems_, {})) output.report(name(), problem);
  if (!decoder_->clock().ours()) {
    uint64_t now = 0;
    if (library_->get_timestamp(&now) == kSuccess) decoder_->clock().sample(now, stepscope_ticks());
  }
  const int64_t now_ns = monotonic_ns();
  if (!stopped && options_.flush_every_ms > 0 &&
      now_ns - flushed_ns_ >= options_.flush_every_ms * 1'000'000) {
    library_->flush_all(0);
    flushed_ns_ = now_ns;
  }
  ActivityBuffers& buffers = callbacks().buffers;
  while (output.chunk.bytes() < kChunkFullBytes) {
    const auto filled = buffers.next();
    if (!filled) break;
    decoder_->decode(filled->records, output);
    buffers.recycle(*filled);
  }
  if (!stopped) {
    buffers.keep_ready();
  } else if (!summary_written_ && !buffers.any_filled()) {
    summary_written_ = true;
    write_summary(output);
  }
}

bool CuptiSource::waiting() const {
  const ActivityBuffers& buffers = callbacks().buffers;
  return buffers.any_filled() || (!stopped_ && buffers.running_low());
}

void CuptiSource::switch_off() {
  // Records of copies and memsets stay on, without a buffer to be written to, at a cost that cannot
  // be told from none: CUPTI 13.0 to 13.3 frees what it knows of a copy twice when both are
  // switched off while another thread copies, and the program crashes (docs/cupti.md).
  for (const uint32_t kind : std::views::reverse(enabled_))
    if (kind != kMemcpy && kind != kMemset) library_->disable(kind);
  stop_call_tracing(*library_);
}

void CuptiSource::wait_for_work() {
  a_device_hangs_ = options_.tier >= Tier::kKernels &&
                    !wait_for_devices(options_.wait_at_stop_ms, ignore_this_thread);
}

void CuptiSource::stop() {
  detaching_ = may_detach();
  if (!detaching_) switch_off();
  wait_for_work();
  library_->flush_all(0);
  // Where other threads go on, CUPTI keeps buffers back in which one of their copies is under way,
  // and with them up to half of a recording's kernels. By force it hands out such records as well,
  // without a time, and they are counted as lost: so it is given time first to be done with them.
  if (!a_device_hangs_) wait_for_work();
  library_->flush_all(kFlushForced);
  restore_attributes();
  dropped_ = take_dropped();
  callbacks().bell.store(nullptr, std::memory_order_release);
  if (detaching_) pause_call_tracing();
  if (a_device_hangs_) leave_behind();
  if (!detaching_) callbacks().in_use.store(false, std::memory_order_release);
  stopped_.store(true, std::memory_order_release);
}

void CuptiSource::write_summary(SourceOutput& output) {
  if (a_device_hangs_) {
    const std::string late = "a device had not done its work " +
                             std::to_string(options_.wait_at_stop_ms) +
                             " ms after the end: what it was doing is not in the recording";
    output.report(name(), late);
  }
  const DecoderCounts& counts = decoder_->counts();
  if (counts.late_kernels > 0) {
    output.report(name(), "kernels of an earlier recording came after its end and are in none: " +
                              std::to_string(counts.late_kernels));
  }
  const ActivityBuffers& buffers = callbacks().buffers;
  output.lose(dropped_, "CUPTI dropped records of the GPU: none of its buffers was free in time");
  output.lose(counts.without_time,
              "CUPTI gave no times of work of the GPU, as it does of what other threads have under "
              "way when a recording ends");
  output.lose(counts.forgotten_ranges, std::to_string(counts.forgotten_ranges) +
                                           " NVTX ranges: too many were open at a time, which is "
                                           "mostly because they are never ended");
  JsonObject json;
  json.add("tier", std::string_view(tier_name(options_.tier)));
  json.add("library", std::string_view(library_->path));
  json.add("cupti_version", static_cast<int64_t>(library_->version));
  json.add("clock_is_ours", int64_t{decoder_->clock().ours()});
  json.add("kernels", counts.kernels);
  json.add("graph_kernels", counts.graph_kernels);
  json.add("copies", counts.copies);
  json.add("calls", counts.calls);
  json.add("calls_by_callbacks", int64_t{tracing_calls_});
  json.add("had_stayed", int64_t{had_stayed_});
  json.add("other", counts.other);
  json.add("unwanted_calls", counts.unwanted_calls);
  json.add("elsewhere", counts.elsewhere);
  json.add("late_kernels", counts.late_kernels);
  json.add("unknown", counts.unknown);
  json.add("dropped", dropped_);
  json.add("without_time", counts.without_time);
  json.add("forgotten_ranges", counts.forgotten_ranges);
  json.add("buffers", static_cast<int64_t>(buffers.count()));
  json.add("buffers_refused", static_cast<int64_t>(buffers.refused()));
  output.lasting.add_note("gpu", json.text());
}

void stay_attached() { process_ends = true; }

}  // namespace stepscope::cupti
