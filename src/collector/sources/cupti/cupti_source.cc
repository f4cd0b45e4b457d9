#include "collector/sources/cupti/cupti_source.h"

#include <pthread.h>

#include <charconv>
#include <cstring>
#include <string_view>

#include "base/json_text.h"
#include "collector/clock.h"
#include "collector/sources/cupti/activity_buffers.h"
#include "collector/sources/cupti/api_calls.h"
#include "stepscope/record.h"

namespace stepscope::cupti {
namespace {

constexpr size_t kChunkFullBytes = 4 << 20;

// CUPTI's callbacks carry no pointer of ours, and may come after a recording has ended: what they
// use is the process's and is never destroyed.
struct Callbacks {
  ActivityBuffers buffers;
  std::atomic<WriterBell*> bell = nullptr;
};

Callbacks& callbacks() {
  static auto* const kCallbacks = new Callbacks;
  return *kCallbacks;
}

// Null while nobody wants ids.
std::atomic<const CuptiLibrary*> external_library = nullptr;
// Ids that this thread has pushed and not popped: a recording may start or stop inside an
// operator, and what was not pushed must not be popped.
thread_local uint32_t external_depth = 0;

extern "C" void stepscope_cupti_request(uint8_t** buffer, size_t* bytes, size_t* most_records) {
  const std::span<uint8_t> taken = callbacks().buffers.take();
  *buffer = taken.data();
  *bytes = taken.size();
  *most_records = 0;  // as many as fit
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
    } else if (number && key == "external") {
      external_ids = value != 0;
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
  callbacks().buffers.give_memory_back();
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

Status CuptiSource::start() {
  const Result<CuptiLibrary>& library = CuptiLibrary::open();
  if (!library) return Error(library.error());
  library_ = &*library;
  Callbacks& shared = callbacks();
  WriterBell* nobody = nullptr;
  if (!shared.bell.compare_exchange_strong(nobody, &bell_)) {
    return Error{ErrorCode::kUnsupported, "cannot record the GPU", "",
                 "it is being recorded already", "one recording of a process can have it"};
  }
  shared.buffers.prepare(options_.buffer_bytes, options_.buffers_ready, options_.buffers_most);

  const bool clock_is_ours = library_->register_timestamp != nullptr &&
                             library_->register_timestamp(stepscope_cupti_ticks) == kSuccess;
  decoder_ = std::make_unique<ActivityDecoder>(*library_, DeviceClock(clock_is_ours));
  if (uint64_t now = 0; !clock_is_ours && library_->get_timestamp(&now) == kSuccess)
    decoder_->clock().sample(now, stepscope_ticks());
  if (library_->get_thread_id_type != nullptr && library_->set_thread_id_type != nullptr) {
    library_->get_thread_id_type(&thread_ids_before_);
    library_->set_thread_id_type(kThreadIdsOfTheSystem);
  }
  set_attribute(kAttributeBuffersAreZeroed, 1);
  set_attribute(kAttributeBufferPerThread, options_.buffer_per_thread ? 1 : 0);
  const ReturnCode code =
      library_->register_callbacks(stepscope_cupti_request, stepscope_cupti_complete);
  if (code != kSuccess) {
    shared.bell.store(nullptr, std::memory_order_release);
    return Error{ErrorCode::kUnsupported, "cannot record the GPU", library_->path,
                 library_->result_text(code), "end the other profiler of this process first"};
  }
  started_ = true;
  flushed_ns_ = monotonic_ns();

  enable(kDevice, "properties");
  enable(kContext, "contexts");
  enable(kMemory, "memory operations");
  enable(kMarker, "NVTX ranges");
  if (options_.tier >= Tier::kKernels) {
    enable(kConcurrentKernel, "kernels");
    enable(kMemcpy, "copies");
    enable(kMemset, "memsets");
  }
  if (options_.tier >= Tier::kFull) {
    enable(kSynchronization, "synchronisations");
    enable(kOverhead, "overheads of CUPTI");
    if (choose_runtime_calls(*library_) == 0)
      problems_.emplace_back("calls of the CUDA runtime are not recorded: CUPTI refuses them");
    choose_driver_calls(*library_);
    if (options_.external_ids && library_->push_external != nullptr &&
        library_->pop_external != nullptr) {
      enable(kExternalCorrelation, "links to operators");
      // A forked child must not call into a CUPTI whose locks its parent may have held.
      static const int kForkHandled = ::pthread_atfork(nullptr, nullptr, [] {
        external_library.store(nullptr, std::memory_order_relaxed);
        external_depth = 0;
      });
      (void)kForkHandled;
      external_library.store(library_, std::memory_order_release);
    }
  }
  if (!enabled_.empty()) return {};
  const std::string why = problems_.empty() ? "CUPTI switches nothing on" : problems_.back();
  stop();
  return Error{ErrorCode::kUnsupported, "cannot record the GPU", library_->path, why,
               "check with nvidia-smi that this process may use a device"};
}

void CuptiSource::collect(SourceOutput& output) {
  const bool stopped = stopped_.load(std::memory_order_acquire);
  if (stopped && !devices_were_done_) {
    devices_were_done_ = true;
    problems_.push_back("a device had not done its work " +
                        std::to_string(options_.wait_at_stop_ms) +
                        " ms after the end: what it was doing is not in the recording");
  }
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

bool CuptiSource::waiting() const { return callbacks().buffers.any_filled(); }

void CuptiSource::stop() {
  external_library.store(nullptr, std::memory_order_release);
  if (options_.tier >= Tier::kFull) forget_chosen_calls(*library_);
  for (const uint32_t kind : enabled_) library_->disable(kind);
  // What was launched while recording belongs to it, also when it ends behind it.
  devices_were_done_ = options_.tier < Tier::kKernels || wait_for_devices(options_.wait_at_stop_ms);
  library_->flush_all(kFlushForced);
  for (const auto& [attribute, value] : attributes_before_) {
    uint8_t before = value;
    size_t size = sizeof before;
    library_->set_attribute(attribute, &size, &before);
  }
  if (library_->set_thread_id_type != nullptr) library_->set_thread_id_type(thread_ids_before_);
  callbacks().bell.store(nullptr, std::memory_order_release);
  stopped_.store(true, std::memory_order_release);
}

void CuptiSource::write_summary(SourceOutput& output) {
  size_t dropped = 0;
  if (library_->get_dropped(nullptr, 0, &dropped) != kSuccess) dropped = 0;
  const DecoderCounts& counts = decoder_->counts();
  const ActivityBuffers& buffers = callbacks().buffers;
  output.not_recorded += static_cast<int64_t>(dropped) + counts.without_time;
  JsonObject json;
  json.add("tier", std::string_view(tier_name(options_.tier)));
  json.add("library", std::string_view(library_->path));
  json.add("cupti_version", static_cast<int64_t>(library_->version));
  json.add("clock_is_ours", int64_t{decoder_->clock().ours()});
  json.add("kernels", counts.kernels);
  json.add("graph_kernels", counts.graph_kernels);
  json.add("copies", counts.copies);
  json.add("calls", counts.calls);
  json.add("external_ids", counts.external_ids);
  json.add("other", counts.other);
  json.add("unwanted_calls", counts.unwanted_calls);
  json.add("unknown", counts.unknown);
  json.add("dropped", static_cast<int64_t>(dropped));
  json.add("without_time", counts.without_time);
  json.add("buffers", static_cast<int64_t>(buffers.count()));
  json.add("buffers_refused", static_cast<int64_t>(buffers.refused()));
  output.chunk.add_note("gpu", json.text());
}

void push_external_id(uint64_t id) {
  const CuptiLibrary* const library = external_library.load(std::memory_order_acquire);
  if (library == nullptr) return;
  if (library->push_external(kExternalKindOurs, id) == kSuccess) ++external_depth;
}

void pop_external_id() {
  if (external_depth == 0) return;
  --external_depth;
  const Result<CuptiLibrary>& library = CuptiLibrary::open();
  uint64_t id = 0;
  if (library) library->pop_external(kExternalKindOurs, &id);
}

}  // namespace stepscope::cupti
