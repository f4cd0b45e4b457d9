// Reads the event tables of one Ascend database into a RankBuilder. One object per database; its
// read_* functions fill what the next ones look up, in the order of read_all().
//
// Memory: interned strings, and one map entry per kernel, transfer and launch while reading. Tables
// and columns that are missing (older schema, lower level) leave fields empty; columns that other
// viewers added are never read.
#ifndef STEPSCOPE_IMPORTERS_ASCEND_DB_DB_READER_H_
#define STEPSCOPE_IMPORTERS_ASCEND_DB_DB_READER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/progress.h"
#include "importers/ascend_db/sqlite_file.h"
#include "store/rank_builder.h"

namespace stepscope {

class DbReader {
 public:
  DbReader(const SqliteFile& file, bool is_mindspore, const Progress& progress, RankBuilder& rank);

  // Everything that this version knows, then the other tables as source tables. Returns the rows
  // read.
  int64_t read_all();

  bool has_events() const;

 private:
  struct ComputeTask {
    StringId name = kNoString;
    uint32_t kernel = kNoDetail;  // a KernelDetail
  };
  struct CommunicationTask {
    StringId type = kEmptyString;
    int64_t plane = kNull;
    uint32_t communication = kNoDetail;
  };
  struct Copy {
    int64_t bytes = kNull;
    StringId operation = kNoString;
  };

  // names.cc
  void read_names();
  StringId string(int64_t id) const;        // kEmptyString when unknown
  StringId known_string(int64_t id) const;  // kNoString when missing or N/A
  StringId without_quotes(int64_t id);      // shapes are stored with quotes around them
  StringId enumerated(std::string_view table, int64_t id);  // kNoString when unknown
  StringId group_name(int64_t id);  // the hash that all files use for the group
  TrackId host_track(std::string_view process, int64_t global_tid);
  TrackId lane(std::string_view process, const std::string& thread, TrackKind kind, int64_t device,
               int64_t stream = kNull);

  // device.cc
  void read_pmu();
  void read_compute_info();
  void read_copies();
  void read_communication_operations();
  void read_communication_info();
  void read_tasks();
  void add_task(const TableScan& row);
  void add_arrow(std::string_view kind, int64_t connection, TrackId track, int64_t ts_ns);

  // host.cc
  void read_connections();
  void read_launch_calls();
  void read_stacks();
  void read_framework_calls();
  void read_marks();
  void read_extra_lanes();
  void read_overlap_lanes();
  void read_steps();
  void note_cut_step(int64_t step);
  void join_host_arrows();

  // samples.cc
  void read_info();
  void read_memory();
  void read_operator_memory();

  // counters.cc
  void read_counters();

  bool span(const TableScan& row, int start, int end, SliceRecord& slice, std::string_view table);

  const SqliteFile& file_;
  const bool is_mindspore_;
  const Progress& progress_;
  RankBuilder& rank_;
  int64_t rows_ = 0;
  std::set<std::string, std::less<>> known_tables_;  // read here, so not kept as source tables
  std::unordered_map<int64_t, StringId> strings_;
  std::map<std::string, std::unordered_map<int64_t, StringId>, std::less<>> enums_;
  std::map<std::tuple<std::string, std::string, int64_t>, TrackId> lanes_;
  std::map<std::pair<std::string, int64_t>, TrackId> host_tracks_;

  std::unordered_map<int64_t, std::string> pmu_;  // by task: JSON members
  std::unordered_map<int64_t, ComputeTask> compute_;
  std::unordered_map<int64_t, CommunicationTask> communication_;
  std::unordered_map<int64_t, Copy> copies_;
  std::unordered_map<int64_t, std::pair<StringId, StringId>> operations_;  // opId: name, group
  std::unordered_map<StringId, int> group_numbers_;
  int64_t only_device_ = kNull;
  uint64_t next_arrow_ = 0;  // numbers the arrows

  std::unordered_map<int64_t, std::vector<int64_t>> connections_;  // framework id: all its links
  std::unordered_map<int64_t, int64_t> framework_of_launch_;       // launch: framework id
  std::unordered_map<int64_t, std::pair<TrackId, int64_t>> launches_;         // by connection
  std::unordered_map<int64_t, std::pair<TrackId, int64_t>> framework_calls_;  // by framework id
  struct Link {
    TrackId track;
    int64_t ts_ns;
    bool queue;
  };
  std::unordered_map<int64_t, std::vector<Link>> host_links_;  // by link that is no launch
  std::unordered_map<int64_t, StringId> stacks_;
  struct StepMark {
    TrackId track;
    int64_t ts_ns;
    int64_t dur_ns;
    StringId name;
    bool complete;
  };
  std::map<int64_t, StepMark> step_marks_;
};

// Keeps a table of a database as it is. `table_name` in snake_case.
int64_t keep_database_table(const SqliteFile& file, const std::string& table,
                            std::string table_name, RankBuilder& rank);
std::string snake_case(std::string_view name);

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_ASCEND_DB_DB_READER_H_
