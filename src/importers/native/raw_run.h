// What reading one raw file needs everywhere: its clock, names, lanes and notes.
#ifndef STEPSCOPE_IMPORTERS_NATIVE_RAW_RUN_H_
#define STEPSCOPE_IMPORTERS_NATIVE_RAW_RUN_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include <nlohmann/json.hpp>

#include "format/chunk_reader.h"
#include "importers/native/tick_clock.h"
#include "store/rank_builder.h"

namespace stepscope {

class RawRun {
 public:
  explicit RawRun(RankBuilder& rank) : rank_(rank) {}

  // The first time through the file: clock samples, names, threads, notes. Events may need any of
  // them, also those that come behind.
  void learn(const RawChunk& chunk);
  // Call between the two. Fails when the clock is unusable.
  Status finish_learning(const std::string& path);

  RankBuilder& rank() { return rank_; }
  const TickClock& clock() const { return clock_; }
  // The rank's id of a name; "" for ids that the file does not define, which are counted.
  StringId name(int64_t id);
  // The lane of a host thread, and what there is to say about it.
  TrackId thread_track(int64_t thread);
  TrackInfo about_thread(int64_t thread);
  // A lane of the process that is not a thread's.
  TrackId named_track(std::string_view name);
  // The lane of a counter. Those of a task that works for a stage of the input pipeline
  // ("worker cpu % 17 python") are the stage's.
  TrackId counter_track(StringId name);
  // Which stage of the input pipeline a thread or process works for; kNoString: none.
  void set_stage_of_task(int64_t task, StringId stage) { task_stages_[task] = stage; }
  StringId stage_of_task(int64_t task) const;
  // Names and values, in order.
  const std::vector<std::pair<std::string, nlohmann::json>>& notes() const { return notes_; }
  bool has_note(std::string_view name) const;

 private:
  void learn_names(const RawTable& table, std::string_view key,
                   std::unordered_map<int64_t, StringId>& names);
  // They say more than the system's, which are mostly the program's.
  void learn_python_names(const nlohmann::json& names_by_thread);

  RankBuilder& rank_;
  TickClock clock_;
  std::unordered_map<int64_t, StringId> names_;
  std::unordered_map<int64_t, StringId> thread_names_;
  std::unordered_map<int64_t, StringId> process_names_;  // of worker processes
  std::unordered_map<int64_t, StringId> task_stages_;
  std::unordered_map<int64_t, TrackId> thread_tracks_;
  std::unordered_map<StringId, TrackId> counter_tracks_;
  std::vector<std::pair<std::string, nlohmann::json>> notes_;
  StringId process_ = kEmptyString;
  StringId pid_ = kEmptyString;
};

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_NATIVE_RAW_RUN_H_
