// PipelineStages: what the program said about the stages of its input pipeline. Outlives
// recordings: a pipeline is usually set up before the first one starts.
//
// Thread-safe; bounded, so that a program that makes stages without end does not grow.
#ifndef STEPSCOPE_COLLECTOR_PIPELINE_STAGES_H_
#define STEPSCOPE_COLLECTOR_PIPELINE_STAGES_H_

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace stepscope {

// Names are ids of the name table.
struct PipelineStage {
  uint32_t name = 0;
  uint32_t kind = 0;      // 0: not said
  uint32_t workers = 0;   // 0: not said
  uint32_t capacity = 0;  // 0: no queue
  std::vector<uint32_t> inputs;
  std::vector<int64_t> tasks;  // threads and processes that work for it
  bool ended = false;
};

class PipelineStages {
 public:
  static constexpr size_t kMostStages = 1024;
  static constexpr size_t kMostTasks = 256;  // and inputs, of one stage

  // A stage of this name, described anew; what is known of its tasks stays.
  void put(uint32_t name, uint32_t kind, uint32_t workers, uint32_t capacity, uint32_t input);
  void add_input(uint32_t name, uint32_t input);
  void add_task(uint32_t name, int64_t task);
  // The recording that runs still gets it, later ones do not.
  void end(uint32_t name);
  void forget_ended();

  // The stages if they are not those of `version` any more; that is then brought up to date.
  std::vector<PipelineStage> changed_since(uint64_t& version);
  // How many did not fit, so far.
  int64_t turned_away();

  // For fork(): no other thread may hold the lock while the process is copied.
  std::mutex& mutex() { return mutex_; }

 private:
  PipelineStage* find(uint32_t name);

  std::mutex mutex_;
  std::vector<PipelineStage> stages_;
  uint64_t version_ = 1;
  int64_t turned_away_ = 0;
};

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_PIPELINE_STAGES_H_
