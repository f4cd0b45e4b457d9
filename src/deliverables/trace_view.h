// trace_view.json, the timeline of MindSpore and Ascend recordings: a list of Chrome events whose
// times are text, whole microseconds since 1970 with three decimals.
//
// It has the source's lanes with their process and thread names, and two processes that are
// computed: Scope Layer (scopes by level) and Overlap Analysis (Computing, Communication,
// Communication(Not Overlapped), Free). Those of the source, if any, are left out for them.
#ifndef STEPSCOPE_DELIVERABLES_TRACE_VIEW_H_
#define STEPSCOPE_DELIVERABLES_TRACE_VIEW_H_

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/timeline/timeline.h"
#include "deliverables/chrome_rank.h"
#include "deliverables/chrome_trace.h"

namespace stepscope {

// `lanes` of the same rank. Streamed like write_chrome_trace.
Status write_trace_view(const StoreReader& store, size_t rank, std::span<const TimelineLane> lanes,
                        const ChromeTraceOptions& options,
                        const std::function<Status(std::string_view)>& sink);

// For the writer of events: where the lanes of a trace view are.
class TraceViewPlaces {
 public:
  explicit TraceViewPlaces(const ChromeRank& rank);

  // "pid":..,"tid":.. by track; "" for lanes that are computed anew, and for counters that the
  // store has from other files than a timeline: these are passed on as they are. Databases give an
  // NPU's lanes no ids, and those of CANN and of Python the same ones: such are numbered.
  const std::vector<std::string>& places() const { return places_; }
  // Names and order of processes and threads, each an event.
  const std::vector<std::string>& metadata() const { return metadata_; }
  const std::string& tid(uint64_t track) const { return tids_[track]; }
  // Only events of the host have categories in these files; readers tell the others by process.
  // torch_npu's databases and its timelines have different words for the same.
  std::string_view category(uint64_t track, std::string_view cat, std::string_view name) const;
  // A process of our own: its number, after its metadata were added.
  int64_t add_process(std::string_view name, int64_t usual_pid, int64_t sort_index);
  void add_thread(int64_t pid, int64_t tid, std::string_view name);

 private:
  void number_lanes(const ChromeRank& rank);
  std::string process_id(const ChromeRank& rank, uint64_t track);
  void describe_process(const std::string& pid, std::string_view name);
  int64_t free_pid(int64_t usual);

  std::vector<std::string> places_;
  std::vector<std::string> tids_;
  std::vector<bool> is_host_;
  bool is_database_ = false;
  std::vector<std::string> metadata_;
  std::vector<std::string> described_;
  std::vector<std::string> taken_;
  std::map<std::string, std::string> first_process_;                    // by id
  std::map<std::pair<std::string, std::string>, std::string> own_ids_;  // by id and name
};

}  // namespace stepscope

#endif  // STEPSCOPE_DELIVERABLES_TRACE_VIEW_H_
