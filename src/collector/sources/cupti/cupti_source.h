// CuptiSource: what NVIDIA GPUs do, from CUPTI's activity records.
//
// The launching thread pays for what CUPTI itself does there and for nothing of ours: buffers are
// ready, API ids that nobody wants are switched off inside CUPTI, and records are read
// on the writer thread. One recording at a time can have it, because CUPTI knows one client.
#ifndef STEPSCOPE_COLLECTOR_SOURCES_CUPTI_CUPTI_SOURCE_H_
#define STEPSCOPE_COLLECTOR_SOURCES_CUPTI_CUPTI_SOURCE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collector/recorder.h"
#include "collector/source.h"
#include "collector/sources/cupti/activity_decoder.h"
#include "collector/sources/cupti/cupti_library.h"

namespace stepscope::cupti {

// What is recorded, from least to most. The numbers are those of stepscope_options::gpu_tier.
enum class Tier : uint32_t {
  kPulse = 1,    // device memory and NVTX ranges (NCCL's among them): no kernel is touched
  kKernels = 2,  // and kernels, copies and memsets, also those inside CUDA graphs
  kFull = 3,     // and runtime and driver calls, synchronisation
};

struct CuptiOptions {
  Tier tier = Tier::kKernels;
  // Every thread that launches has one, so there are to be many rather than large ones.
  size_t buffer_bytes = 2 << 20;
  size_t buffers_ready = 8;
  size_t buffers_most = 64;
  // CUPTI gives a buffer back when it is full; asking for half-full ones this often bounds what a
  // crash can lose. 0: never.
  int64_t flush_every_ms = 1000;
  bool buffer_per_thread = true;  // so that threads that launch do not meet at a lock of CUPTI's
  // Take the place of CUPTI's subscriber, see call_tracer.h, and have calls by callbacks.
  bool subscribe = true;
  // Take CUPTI out of the process when a recording ends and no thread launches at that moment, so
  // that steps take as long as before. Where threads launch CUPTI stays: a later recording that
  // brings it back beside them misses kernels.
  bool detach_at_stop = true;
  int64_t wait_at_stop_ms = 5000;

  // Changes single fields by "buffer_kb=4096,flush_ms=0,...", for measurements: the environment
  // variable STEPSCOPE_CUPTI_TUNING. Words that are not known are returned.
  std::vector<std::string> tune(const char* text);
};

class CuptiSource final : public Source {
 public:
  // `bell` is rung on CUPTI's threads when a buffer is full.
  CuptiSource(CuptiOptions options, WriterBell& bell);
  ~CuptiSource() override;

  std::string_view name() const override { return "gpu"; }
  Status start() override;
  void collect(SourceOutput& output) override;
  void stop() override;
  bool waiting() const override;
  void leave_behind() override;

 private:
  // Records that CUPTI had no buffer for since it was last asked.
  int64_t take_dropped() const;
  void enable(uint32_t kind, const char* what);
  // For the attributes of one byte; what they were is restored at the end.
  void set_attribute(uint32_t attribute, uint8_t value);
  void restore_attributes();
  void start_calls(bool subscribed);
  void switch_off();
  // Once CUPTI has stayed it stays for good: leaving beside threads that launch does no harm only
  // where nothing was ever switched off, and that none does at this moment is a guess.
  bool may_detach();
  // What was launched while recording belongs to it, also when it ends behind it.
  void wait_for_work();
  void write_summary(SourceOutput& output);

  CuptiOptions options_;
  WriterBell& bell_;
  const CuptiLibrary* library_ = nullptr;
  std::unique_ptr<ActivityDecoder> decoder_;
  std::vector<uint32_t> enabled_;
  std::vector<std::pair<uint32_t, uint8_t>> attributes_before_;
  uint32_t thread_ids_before_ = 0;
  std::vector<std::string> problems_;  // of start(): sentences for the run's notes
  // Written before stopped_.
  bool a_device_hangs_ = false;
  int64_t dropped_ = 0;
  bool tracing_calls_ = false;
  // CUPTI is here since an earlier recording, which switched things off: see may_detach().
  bool had_stayed_ = false;
  bool detaching_ = false;  // from stop() to the end: all is still switched on
  int64_t flushed_ns_ = 0;
  bool summary_written_ = false;
  bool started_ = false;
  std::atomic<bool> stopped_ = false;
};

// The process ends: what stops from now on leaves CUPTI where it is.
void stay_attached();

}  // namespace stepscope::cupti

#endif  // STEPSCOPE_COLLECTOR_SOURCES_CUPTI_CUPTI_SOURCE_H_
