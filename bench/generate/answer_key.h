// The exact totals of one rank's trace, counted while it is generated. All integers; times in
// nanoseconds on that rank's own clock, relative to the trace's base time.

#ifndef STEPSCOPE_BENCH_GENERATE_ANSWER_KEY_H_
#define STEPSCOPE_BENCH_GENERATE_ANSWER_KEY_H_

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "bench/generate/catalogue.h"
#include "bench/generate/event.h"

namespace stepscope::generate {

struct CountAndTime {
  int64_t count = 0;
  int64_t total_ns = 0;
};

struct FlowTally {
  int64_t starts = 0;
  int64_t ends = 0;
  int64_t paired = 0;  // Ids that have both.
};

struct StepSpan {
  NameId name = 0;
  int64_t ts_ns = 0;
  int64_t dur_ns = 0;
};

class AnswerKey {
 public:
  // `ts_ns` is on the rank's clock. Device work must come in batches: nothing in a later batch may
  // start before something in an earlier one.
  void AddEvent(const Event& event, int64_t ts_ns);
  void AddMetadata() { ++metadata_; }
  void AddUncategorisedInstant() { ++uncategorised_instants_; }
  void AddCollectiveWait(int64_t wait_ns);
  void AddStep(NameId name, int64_t ts_ns, int64_t dur_ns) {
    steps_.push_back({name, ts_ns, dur_ns});
  }
  void EndBatch();

  [[nodiscard]] int64_t events() const;
  // The fields of one rank as JSON members, without the braces.
  [[nodiscard]] std::string ToJsonMembers(const NamePool& names, const std::string& indent) const;

 private:
  using PerCategory = std::array<CountAndTime, kCategoryCount>;

  void AddFlow(const Event& event);
  std::string TopNames(const NamePool& names, const std::string& indent) const;

  PerCategory by_category_{};
  std::vector<PerCategory> by_name_;  // Indexed by NameId.
  FlowTally launch_flows_;
  FlowTally autograd_flows_;
  int64_t metadata_ = 0;
  int64_t uncategorised_instants_ = 0;
  std::vector<StepSpan> steps_;
  int64_t memory_peak_bytes_ = 0;
  int64_t first_ts_ns_ = std::numeric_limits<int64_t>::max();
  int64_t last_end_ns_ = std::numeric_limits<int64_t>::min();
  CountAndTime collective_waits_;

  std::vector<std::pair<int64_t, int64_t>> batch_spans_;  // Device work of this batch: start, end.
  int64_t busy_until_ns_ = std::numeric_limits<int64_t>::min();
  int64_t busy_ns_ = 0;
};

}  // namespace stepscope::generate

#endif  // STEPSCOPE_BENCH_GENERATE_ANSWER_KEY_H_
