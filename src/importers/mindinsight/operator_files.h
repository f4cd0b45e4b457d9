// Operators and kernels of MindInsight's time that have times: executions on the device
// (output_timeline_data), AI CPU tasks, GPU activities; and the data queue seen from the device.
#ifndef STEPSCOPE_IMPORTERS_MINDINSIGHT_OPERATOR_FILES_H_
#define STEPSCOPE_IMPORTERS_MINDINSIGHT_OPERATOR_FILES_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/rank_builder.h"

namespace stepscope::mindinsight {

// What framework_raw says about an operator, by full and by short name. Names that stand for
// several operators with different inputs are left out.
struct OperatorInfo {
  StringId type = kNoString;
  StringId input_shapes = kNoString;
  StringId input_types = kNoString;
  StringId output_shapes = kNoString;
  bool operator==(const OperatorInfo&) const = default;
};

class OperatorInfos {
 public:
  void read(const std::string& framework_raw_csv, RankBuilder& rank);
  void add(std::string_view name, const OperatorInfo& info);
  // nullptr when nothing certain is known.
  const OperatorInfo* find(std::string_view name) const;

 private:
  struct Entry {
    OperatorInfo info;
    bool ambiguous = false;
  };
  std::unordered_map<std::string, Entry> by_name_;
};

// Lanes of the device, shared by everything that runs on one of its streams.
class DeviceTracks {
 public:
  DeviceTracks(int64_t device, RankBuilder& rank) : device_(device), rank_(rank) {}
  // "Stream 5" of "Device 1"; kNull: the AI CPU.
  TrackId stream(int64_t stream);
  void know(int64_t stream, TrackId track) { tracks_[stream] = track; }
  int64_t device() const { return device_; }

 private:
  int64_t device_;
  RankBuilder& rank_;
  std::map<int64_t, TrackId> tracks_;
};

void add_kernel_slice(std::string_view name, std::string_view type, int64_t ts_ns, int64_t dur_ns,
                      int64_t stream, const OperatorInfos& infos, DeviceTracks& tracks,
                      RankBuilder& rank);

// output_timeline_data_N.txt: `name,stream,start,duration`; start in ms, from 2.3 on in us, as its
// header says.
struct TimelineExecution {
  StringId name = kEmptyString;
  int64_t stream = kNull;
  int64_t start_ns = 0;
  int64_t dur_ns = 0;
};
std::vector<TimelineExecution> read_timeline_data(const std::string& path, RankBuilder& rank);

// Each returns the number of records read.
int64_t read_aicpu_csv(const std::string& path, const OperatorInfos& infos, DeviceTracks& tracks,
                       RankBuilder& rank);
int64_t read_gpu_activities(const std::string& path, const OperatorInfos& infos,
                            DeviceTracks& tracks, RankBuilder& rank);
// `name start end queue_size`; unit_digits: 3 for us, 0 for ns.
int64_t read_dequeue(const std::string& path, int unit_digits, std::string_view role,
                     RankBuilder& rank);
// Printed tables, kept as source tables.
int64_t keep_compute_times(const std::string& path, RankBuilder& rank);
int64_t keep_aicpu_text(const std::string& path, RankBuilder& rank);

}  // namespace stepscope::mindinsight

#endif  // STEPSCOPE_IMPORTERS_MINDINSIGHT_OPERATOR_FILES_H_
