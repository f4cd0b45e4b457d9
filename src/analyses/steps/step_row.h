// Training steps of a rank: the ground of everything that is told per step.
#ifndef STEPSCOPE_ANALYSES_STEPS_STEP_ROW_H_
#define STEPSCOPE_ANALYSES_STEPS_STEP_ROW_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "analyses/common/result_table.h"

namespace stepscope {

struct StepRow {
  int64_t rank = 0;
  int64_t window = 0;
  int64_t step = 0;
  int64_t start_ns = 0;
  int64_t dur_ns = 0;
  // The step together with the device work that it launched: devices run behind the host. Ranges of
  // neighbouring steps do not overlap. Equals the step where launches are not known.
  int64_t work_start_ns = 0;
  int64_t work_dur_ns = 0;
  int64_t gap_ns = kNull;  // end of the step before it to its start; negative when marks overlap
  // Between the work of the step before and its own: time that no step has. Of steps whose numbers
  // follow one another; inferred ones are only what was found.
  int64_t between_ns = kNull;
  int64_t device_events = 0;
  bool complete = true;
  bool averaged = true;     // means over steps are made of these; see steps_to_average()
  std::string_view source;  // marked, file, inferred

  int64_t end_ns() const { return start_ns + dur_ns; }
  int64_t work_end_ns() const { return work_start_ns + work_dur_ns; }
};

inline constexpr Field<StepRow> kStepFields[] = {
    field<&StepRow::rank>("rank", Unit::kNone, "rank"),
    field<&StepRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&StepRow::step>("step", Unit::kNone,
                          "number of the step; inferred steps count from 1 in each window"),
    field<&StepRow::start_ns>("start_ns", Unit::kTimestamp, "start"),
    field<&StepRow::dur_ns>("dur_ns", Unit::kNanoseconds, "length of the mark on the host"),
    field<&StepRow::work_start_ns>("work_start_ns", Unit::kTimestamp,
                                   "start, after the device work of the step before"),
    field<&StepRow::work_dur_ns>("work_dur_ns", Unit::kNanoseconds,
                                 "the step's length: up to the end of the device work that it "
                                 "launched"),
    field<&StepRow::gap_ns>("gap_ns", Unit::kNanoseconds, "time since the end of the mark before"),
    field<&StepRow::between_ns>("between_ns", Unit::kNanoseconds,
                                "time between the step before, with its device work, and this one: "
                                "it belongs to no step"),
    field<&StepRow::device_events>("device_events", Unit::kCount,
                                   "device events that it launched, or that start in it where "
                                   "launches are not known"),
    field<&StepRow::complete>("complete", Unit::kNone,
                              "false when the recording has only a part of it"),
    field<&StepRow::averaged>("averaged", Unit::kNone,
                              "whether means over steps have it: complete ones, without the first "
                              "where there are others"),
    field<&StepRow::source>("source", Unit::kNone,
                            "marked (by the program), file (a table of the input), inferred (from "
                            "the repetition of operators)"),
};

// Position of the step that contains a moment. Steps are sorted by start; of marks that overlap the
// later one wins. Cheap when moments come nearly in order.
class StepOfMoment {
 public:
  static constexpr size_t kNone = static_cast<size_t>(-1);

  explicit StepOfMoment(std::span<const StepRow> steps) : steps_(steps) {}

  size_t find(int64_t ns) {
    if (hint_ < steps_.size() && ns >= steps_[hint_].start_ns &&
        (hint_ + 1 == steps_.size() || ns < steps_[hint_ + 1].start_ns)) {
      return ns < steps_[hint_].end_ns() ? hint_ : kNone;
    }
    const auto after =
        std::upper_bound(steps_.begin(), steps_.end(), ns,
                         [](int64_t at, const StepRow& step) { return at < step.start_ns; });
    if (after == steps_.begin()) return kNone;
    hint_ = static_cast<size_t>(after - steps_.begin()) - 1;
    return ns < steps_[hint_].end_ns() ? hint_ : kNone;
  }

 private:
  std::span<const StepRow> steps_;
  size_t hint_ = 0;
};

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_STEPS_STEP_ROW_H_
