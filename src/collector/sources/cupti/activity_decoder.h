// ActivityDecoder: CUPTI's records become rows. The writer thread's; build/bench/cupti_bench
// prints what a record costs.
#ifndef STEPSCOPE_COLLECTOR_SOURCES_CUPTI_ACTIVITY_DECODER_H_
#define STEPSCOPE_COLLECTOR_SOURCES_CUPTI_ACTIVITY_DECODER_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "collector/source.h"
#include "collector/sources/cupti/api_calls.h"
#include "collector/sources/cupti/cupti_library.h"
#include "collector/sources/cupti/kernel_variants.h"

namespace stepscope::cupti {

// From CUPTI's clock to our ticks, for versions that cannot be given a clock (before CUDA 11.6).
// A line through two readings of both; nothing to do where the clock is ours.
class DeviceClock {
 public:
  explicit DeviceClock(bool ours) : ours_(ours) {}
  void sample(uint64_t cupti_ns, uint64_t ticks);
  bool ours() const { return ours_; }
  int64_t ticks(uint64_t time) const {
    if (ours_) return static_cast<int64_t>(time);
    const double since = static_cast<double>(static_cast<int64_t>(time - first_ns_));
    return static_cast<int64_t>(first_ticks_) + static_cast<int64_t>(since * ticks_per_ns_);
  }

 private:
  bool ours_;
  uint64_t first_ns_ = 0;
  uint64_t first_ticks_ = 0;
  double ticks_per_ns_ = 1;
};

struct DecoderCounts {
  int64_t kernels = 0;
  int64_t graph_kernels = 0;
  int64_t copies = 0;
  int64_t calls = 0;
  int64_t other = 0;
  int64_t unwanted_calls = 0;    // that CUPTI could not leave out itself
  int64_t without_time = 0;      // device work that CUPTI could not time, or not before the end
  int64_t elsewhere = 0;         // not of this recording, as far as can be told
  int64_t late_kernels = 0;      // of these: kernels, which the recording before it lacks
  int64_t unknown = 0;           // kinds that nobody asked for
  int64_t forgotten_ranges = 0;  // of NVTX: too many were open
};

class ActivityDecoder {
 public:
  // CUPTI notes copies also between recordings and in those that ask for none. Left out: without
  // `copies` all of them; what was done before `began`, in CUPTI's time; copies without a time that
  // do not have work of the recording on both sides in their buffer. (Copies have no time while
  // threads go on after the end of a recording: CUPTI 13.0.)
  ActivityDecoder(const CuptiLibrary& library, DeviceClock clock, uint64_t began, bool copies);

  void decode(std::span<uint8_t> records, SourceOutput& output);
  DeviceClock& clock() { return clock_; }
  const DecoderCounts& counts() const { return counts_; }

 private:
  struct OpenMarker {
    uint64_t start = 0;
    uint32_t thread = 0;
    uint32_t name = 0;
    bool collective = false;
  };
  // Tables of the chunk that is being filled; looked up once for each buffer and key.
  struct Tables;

  void decode_one(const Activity& record, Tables& tables);
  void add_kernel(const KernelRecord& record, Tables& tables);
  void add_copy(const MemcpyRecord& record, Tables& tables);
  void add_peer_copy(const MemcpyPeerRecord& record, Tables& tables);
  void add_memset(const MemsetRecord& record, Tables& tables);
  void add_call(const ApiRecord& record, Tables& tables);
  void add_marker(const MarkerRecord& record, Tables& tables);
  void add_device(const DeviceRecord& record, Tables& tables);
  void name_thread(uint32_t thread, Tables& tables);
  bool is_copy_of_ours(uint64_t start, uint64_t end);
  // There is work of the recording: copies without a time that precede it in its buffer are lost,
  // unless they are the first.
  void place_untimed_copies();

  const CuptiLibrary& library_;
  DeviceClock clock_;
  uint64_t began_;
  bool copies_;
  ApiCalls calls_;
  KernelVariants variants_;
  std::unordered_map<uint32_t, OpenMarker> open_markers_;
  std::unordered_set<uint32_t> named_threads_;
  std::unordered_set<uint32_t> devices_;
  struct {
    bool has_work_of_ours = false;
    int64_t untimed_copies = 0;  // since the last work of ours
  } buffer_;                     // that is being decoded
  DecoderCounts counts_;
};

}  // namespace stepscope::cupti

#endif  // STEPSCOPE_COLLECTOR_SOURCES_CUPTI_ACTIVITY_DECODER_H_
