// A run that is being looked at: its store, its analyses, SQL over it. Opening maps the store; the
// rest comes when it is asked for.
#ifndef STEPSCOPE_SERVER_OPEN_RUN_H_
#define STEPSCOPE_SERVER_OPEN_RUN_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "analyses/run_analyses.h"
#include "base/result.h"
#include "query/database.h"
#include "server/curves.h"
#include "server/lane_segments.h"
#include "store/store_reader.h"

namespace stepscope {

constexpr uint64_t kQueryMemory = 512ull << 20;  // bytes that a statement may use

// What streams from it keeps it open: shared_from_this().
class OpenRun : public std::enable_shared_from_this<OpenRun> {
 public:
  static Result<std::shared_ptr<OpenRun>> open(const std::string& store_path);

  const StoreReader& store() const { return *store_; }
  const std::shared_ptr<StoreReader>& shared_store() const { return store_; }
  RunAnalyses& analyses() { return analyses_; }
  Result<Database*> database();

  // Position of the rank (and window) that has this row among all rows of a table; rank_count()
  // when there is no such row.
  size_t rank_of_row(Table table, uint64_t row) const;

  // Colour and shade (see slice_colour.h) of a name, decided by the first slice that has it.
  uint8_t colour(int64_t name, size_t rank, uint64_t slice_row);

  // The run's earliest time: the timeline counts from it.
  int64_t origin_ns() const { return origin_ns_; }
  // What the timeline has besides tracks, made when it is first asked for.
  const LaneSegments& lane_segments();
  const std::vector<NamedCurve>& curves();

 private:
  OpenRun(std::shared_ptr<StoreReader> store, AnalysisOptions options);

  std::shared_ptr<StoreReader> store_;
  RunAnalyses analyses_;
  std::mutex database_mutex_;
  std::unique_ptr<Database> database_;
  int64_t origin_ns_ = 0;
  std::once_flag lanes_made_;
  std::unique_ptr<LaneSegments> lanes_;
  std::once_flag curves_made_;
  std::vector<NamedCurve> curves_;
  std::vector<std::atomic<uint8_t>> colours_;  // by string id of the name; kUnknown: not yet
};

}  // namespace stepscope

#endif  // STEPSCOPE_SERVER_OPEN_RUN_H_
