// Sampled Python stacks as nested ranges: a frame lasts from the first sample that has it to the
// first one that does not.
#ifndef STEPSCOPE_IMPORTERS_NATIVE_STACK_SAMPLES_H_
#define STEPSCOPE_IMPORTERS_NATIVE_STACK_SAMPLES_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "importers/native/raw_run.h"

namespace stepscope {

class StackSamples {
 public:
  explicit StackSamples(RawRun& run) : run_(run) {}

  void add_node(int64_t node, int64_t around, int64_t frame_name);
  // Samples of a thread, in any order.
  void add_sample(int64_t thread, int64_t ts_ns, int64_t node);
  void finish();

 private:
  struct Node {
    int64_t around = 0;
    StringId frame = kEmptyString;
  };
  struct Sample {
    int64_t ts_ns;
    int64_t node;
  };

  // Frames from the outermost on.
  std::vector<StringId> frames_of(int64_t node) const;
  void draw(TrackId track, std::vector<Sample>& samples);

  RawRun& run_;
  std::unordered_map<int64_t, Node> nodes_;
  std::unordered_map<int64_t, std::vector<Sample>> samples_;  // by thread
};

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_NATIVE_STACK_SAMPLES_H_
