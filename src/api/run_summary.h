// What `stepscope info` and Python's Run.info() say about a run: small tables, most of them from
// one SQL statement, printed as text for people or as JSON. Costs a few nanoseconds a row of
// `kernels`, whose names it sums up, and one pass over `slices`, in which operators nest.
#ifndef STEPSCOPE_API_RUN_SUMMARY_H_
#define STEPSCOPE_API_RUN_SUMMARY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analyses/common/triggers.h"
#include "base/progress.h"
#include "base/result.h"
#include "query/database.h"

namespace stepscope {

struct RankSummary {
  int64_t rank = 0;
  int64_t window = 0;
  std::string host;
  int64_t pid = kNull;
  std::string device_kind;
  std::string device_name;
  int64_t device_count = 0;
  int64_t world_size = kNull;
  std::string format;
  std::string path;
  bool rank_inferred = false;
  int64_t first_ns = kNull;
  int64_t last_ns = kNull;
  int64_t slices = 0;
  int64_t kernels = 0;
  int64_t steps = 0;
  int64_t mean_step_ns = kNull;  // of the marks of complete steps; analyses add device work
};

struct StepsSummary {
  int64_t count = 0;  // different step numbers
  int64_t first = kNull;
  int64_t last = kNull;
  int64_t incomplete = 0;  // rows of `steps` that the window cut
  int64_t min_ns = kNull;
  int64_t median_ns = kNull;
  int64_t max_ns = kNull;
};

struct CategorySummary {
  std::string category;
  int64_t slices = 0;
  int64_t total_ns = 0;
};

struct NameSummary {
  std::string name;
  std::string group;  // class of device work
  int64_t count = 0;
  int64_t total_ns = 0;
};

struct QualitySummary {
  std::string code;
  std::string severity;
  int64_t count = 0;
  int64_t ranks = 0;
  std::string example;
  std::string meaning;
  bool excluded = false;
};

struct TableSummary {
  std::string name;
  int64_t rows = 0;
};

struct RunSummary {
  std::string store_path;
  uint64_t store_bytes = 0;
  std::string executions;  // that there are others in the folder; "": there is one only
  std::vector<RankSummary> ranks;
  StepsSummary steps;
  std::vector<RunTrigger> triggers;         // why it was captured; none: somebody started it
  std::vector<CategorySummary> categories;  // most time first
  std::vector<NameSummary> device_names;    // most time first, the first few
  std::vector<NameSummary> op_names;
  std::vector<QualitySummary> quality;  // losses first
  std::vector<TableSummary> tables;
};

Result<RunSummary> summarise_run(const StoreReader& store, Database& database,
                                 const QueryLimits& limits);

std::string summary_json(const RunSummary& summary);

}  // namespace stepscope

#endif  // STEPSCOPE_API_RUN_SUMMARY_H_
