// The tables that records of the rings become, and the sorting of one into the other.
#ifndef STEPSCOPE_COLLECTOR_RECORD_TABLES_H_
#define STEPSCOPE_COLLECTOR_RECORD_TABLES_H_

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/lasting_rows.h"
#include "format/chunk_builder.h"
#include "stepscope/record.h"

namespace stepscope {

// Columns are in ticks where they say `ticks`, and names are ids of the strings sections.
inline constexpr std::string_view kClockColumns[] = {"ticks", "monotonic_ns", "realtime_ns"};
inline constexpr RawTableLayout kClocksTable{"clocks", kClockColumns};

inline constexpr std::string_view kThreadColumns[] = {"thread", "name"};
inline constexpr RawTableLayout kThreadsTable{"threads", kThreadColumns};

// These have the thread as their key.
inline constexpr std::string_view kRangeColumns[] = {"kind", "start_ticks", "duration_ticks",
                                                     "name"};
inline constexpr RawTableLayout kRangesTable{"ranges", kRangeColumns};

inline constexpr std::string_view kValueColumns[] = {"kind", "start_ticks", "duration_ticks",
                                                     "name", "value1",      "value2"};
inline constexpr RawTableLayout kValuesTable{"values", kValueColumns};

inline constexpr std::string_view kCallColumns[] = {"start_ticks", "duration_ticks", "name",
                                                    "correlation"};
inline constexpr RawTableLayout kRuntimeCallsTable{"runtime_calls", kCallColumns};
inline constexpr RawTableLayout kDriverCallsTable{"driver_calls", kCallColumns};

// Key: the context. It and the stream are -1 where they are not known. `type` is CUPTI's number.
inline constexpr std::string_view kSynchronizationColumns[] = {
    "type", "start_ticks", "duration_ticks", "stream", "correlation", "event"};
inline constexpr RawTableLayout kSynchronizationsTable{"synchronizations", kSynchronizationColumns};

// A step begins, or the one that is open ends.
struct StepMark {
  uint64_t ticks = 0;
  int64_t number = 0;
  bool ends = false;
  int64_t thread = 0;
};

// Sorts the records of one thread. Cheap to make; good until the chunk is packed.
class RecordSorter {
 public:
  // `beginning` is the start of the recording, `now` a moment behind every record.
  RecordSorter(ChunkBuilder& chunk, LastingRows& lasting, int64_t thread, uint64_t beginning,
               uint64_t now);
  // Steps are told there as well.
  void tell_steps(std::vector<StepMark>& steps) { steps_ = &steps; }

  // Takes the record at `position` and returns where the next one is, `head` at most: a caller who
  // puts a flag without its slot gets a wrong record, not a writer that runs on for ever.
  uint64_t add(const stepscope_ring& ring, uint64_t position, uint64_t head);
  // Records taken since the last call.
  int64_t take_events() { return std::exchange(events_, 0); }

 private:
  void add_call(int64_t start, int64_t duration, uint32_t name, const int64_t (&values)[2]);

  ChunkBuilder& chunk_;
  LastingRows& lasting_;
  std::vector<StepMark>* steps_ = nullptr;
  int64_t thread_;
  RawTableBuilder* calls_[2] = {};  // of the runtime, of the driver; null until there is one
  RawTableBuilder& ranges_;
  RawTableBuilder& values_;
  uint64_t beginning_;
  uint64_t now_;
  int64_t events_ = 0;
};

// How many records lie between tail and head.
uint64_t count_records(const stepscope_ring& ring);

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_RECORD_TABLES_H_
