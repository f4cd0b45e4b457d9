// Steps of a recording that marks none, from its repetition: training does the same operators over
// and over, so some operator (or run of operators) comes exactly once a step and what lies between
// its occurrences is alike.
#ifndef STEPSCOPE_ANALYSES_STEPS_INFER_STEPS_H_
#define STEPSCOPE_ANALYSES_STEPS_INFER_STEPS_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace stepscope {

// One operator or kernel of the sequence, sorted by start. Equal names have equal numbers.
struct RepeatedEvent {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint32_t name = 0;
  bool fetches_data = false;  // DataLoader, GetNext: a step starts with it
};

struct InferredStep {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  bool complete = true;
};

struct InferredSteps {
  std::vector<InferredStep> steps;
  // Why there are none, in words for the user; empty otherwise.
  std::string_view why_none;
};

// A candidate is a name, or a run of 2, 4 or 8 names, that occurs at least twice. It cuts the
// sequence into segments; those that share nine of ten operators with the middle one count as
// steps. The candidate whose steps cover most wins (a layer that repeats inside a step covers less,
// since what lies between two steps differs); among those, within half a percent, the one that cuts
// most finely; then a data fetch, then the one with most complete steps, then the one after the
// longest pauses. A step has at least four operators.
// O(n) for each of up to 64 candidates; 8 bytes an event.
InferredSteps infer_steps(const std::vector<RepeatedEvent>& events);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_STEPS_INFER_STEPS_H_
