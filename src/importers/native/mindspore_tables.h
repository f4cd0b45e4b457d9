// What the collector read from MindSpore: operators, memory, and the files that lie beside the raw
// file (the data pipeline's, the host runtime's).
//
// MindSpore's times are of the calendar clock; here they are put on the axis of everything else.
// In graph mode an operator's name is its path through the network, from which the modules' ranges
// are made; in PyNative mode it is only the type.
#ifndef STEPSCOPE_IMPORTERS_NATIVE_MINDSPORE_TABLES_H_
#define STEPSCOPE_IMPORTERS_NATIVE_MINDSPORE_TABLES_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "importers/native/host_tables.h"
#include "importers/native/raw_run.h"

namespace stepscope {

class MindsporeTables {
 public:
  explicit MindsporeTables(RawRun& run) : run_(run) {}

  // Whether the table is one of ours; its rows are taken then.
  bool read(const RawTable& table);
  // Call after the last table and when the steps are known: module ranges end with their step.
  // `folder` is that of the raw file.
  void finish(const std::string& folder, Ending ending);

  int64_t records() const { return records_; }

 private:
  void read_operators(const RawTable& table);
  void read_memory(const RawTable& table);
  uint32_t detail_of(int64_t name, int64_t input_shapes);
  void mark_steps_without_operators(Ending ending);
  void add_module_ranges();
  const std::vector<StringId>& path_of(StringId module);
  bool pipeline_was_lost() const;
  void read_files(const std::string& folder, Ending ending);
  void read_note();

  RawRun& run_;
  TrackId track_ = kNoDetail;
  std::unordered_map<uint64_t, uint32_t> details_;  // by name and shapes
  std::unordered_map<StringId, std::vector<StringId>> paths_;
  int64_t records_ = 0;
};

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_NATIVE_MINDSPORE_TABLES_H_
