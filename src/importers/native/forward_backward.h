// Arrows from a forward operator to the backward operator that it causes.
//
// torch counts the nodes of its graph for each thread. An operator carries the count at its start,
// so the last operator to start with a number is the one that made the node; a backward operator
// carries the number of its node and the thread that made it. Nothing of this costs the recording.
#ifndef STEPSCOPE_IMPORTERS_NATIVE_FORWARD_BACKWARD_H_
#define STEPSCOPE_IMPORTERS_NATIVE_FORWARD_BACKWARD_H_

#include <cstdint>
#include <vector>

#include "importers/native/raw_run.h"

namespace stepscope {

class ForwardBackward {
 public:
  explicit ForwardBackward(RawRun& run) : run_(run) {}

  // An operator with a sequence number; `forward_thread` is 0 for forward operators.
  void add(TrackId track, int64_t ts_ns, int64_t sequence, int64_t forward_thread);
  // Call after the last operator.
  void finish();

 private:
  struct End {
    int64_t thread;  // by torch's count; of forward operators, first the track
    int64_t sequence;
    int64_t ts_ns;
    TrackId track;
  };

  RawRun& run_;
  std::vector<End> forward_;
  std::vector<End> backward_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_NATIVE_FORWARD_BACKWARD_H_
