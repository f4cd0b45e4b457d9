// The input pipeline: stages, who works for them, and the queues between them.
#ifndef STEPSCOPE_IMPORTERS_NATIVE_PIPELINE_TABLES_H_
#define STEPSCOPE_IMPORTERS_NATIVE_PIPELINE_TABLES_H_

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "importers/native/raw_run.h"

namespace stepscope {

class PipelineTables {
 public:
  explicit PipelineTables(RawRun& run) : run_(run) {}

  // The first time through the file: what it says about stages, and which tasks are theirs.
  void learn(const RawChunk& chunk);
  // Call between the two. Fills the table of stages.
  void finish_learning();

  // Whether the table is one of ours, all of whose rows are known.
  static bool owns(std::string_view table);
  // A record of a queue: `kind` is STEPSCOPE_QUEUE_...
  struct QueueRow {
    int64_t kind;
    int64_t ts_ns;
    int64_t waited_ns;
    int64_t stage;
    int64_t items;
    int64_t number;
  };
  void add(TrackId track, const QueueRow& row);

 private:
  struct Stage {
    int64_t kind = 0;
    int64_t workers = 0;
    int64_t capacity = 0;
  };

  RawRun& run_;
  std::vector<int64_t> order_;       // of their first mention
  std::map<int64_t, Stage> stages_;  // by the name's id
  std::vector<std::pair<int64_t, int64_t>> inputs_;
  std::vector<std::pair<int64_t, int64_t>> tasks_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_NATIVE_PIPELINE_TABLES_H_
