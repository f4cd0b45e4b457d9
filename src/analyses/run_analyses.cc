#include "analyses/run_analyses.h"

#include <mutex>
#include <utility>

#include "base/parallel.h"

namespace stepscope {
namespace {

// A result that is computed when it is first needed.
template <class T>
class Once {
 public:
  template <class Compute>
  const T& get(Compute&& compute) {
    std::call_once(flag_, [&] { value_ = compute(); });
    return value_;
  }

 private:
  std::once_flag flag_;
  T value_;
};

// A result table; without a run its description alone.
struct NamedTable {
  std::string_view name;
  std::string_view doc;
  ResultTable (*make)(const NamedTable& self, RunAnalyses* run);
};

template <class Row, size_t N>
ResultTable with_rows(const NamedTable& self, const Field<Row> (&fields)[N],
                      const std::vector<Row>* rows) {
  static const std::vector<Row> kNone;
  return make_table(self.name, self.doc, rows == nullptr ? kNone : *rows, fields);
}

constexpr NamedTable kTables[] = {
    {"device_time", "Where the time of each device went.",
     [](const NamedTable& self, RunAnalyses* run) {
       return with_rows(self, kDeviceTimeFields, run ? &run->device_time() : nullptr);
     }},
};

}  // namespace

struct RunAnalyses::Results {
  Once<std::vector<std::vector<DeviceIntervals>>> device_intervals;
  Once<std::vector<DeviceTimeRow>> device_time;

  std::mutex reasons_mutex;
  std::vector<Reason> reasons;
};

RunAnalyses::RunAnalyses(std::shared_ptr<const StoreReader> store, AnalysisOptions options)
    : store_(std::move(store)),
      options_(options),
      ranks_(rank_ids(*store_)),
      results_(std::make_unique<Results>()) {
  if (options_.threads == 0) options_.threads = available_cpus();
}

RunAnalyses::~RunAnalyses() = default;

const std::vector<std::vector<DeviceIntervals>>& RunAnalyses::device_intervals() {
  return results_->device_intervals.get([&] {
    std::vector<std::vector<DeviceIntervals>> all(ranks_.size());
    parallel_for(ranks_.size(), options_.threads,
                 [&](size_t rank) { all[rank] = stepscope::device_intervals(*store_, rank); });
    return all;
  });
}

const std::vector<DeviceTimeRow>& RunAnalyses::device_time() {
  return results_->device_time.get([&] {
    std::vector<DeviceTimeRow> rows;
    const auto& intervals = device_intervals();
    for (const RankId& rank : ranks_) {
      for (const DeviceIntervals& device : intervals[rank.position])
        rows.push_back(stepscope::device_time(rank, device));
    }
    return rows;
  });
}

std::vector<ResultTable> RunAnalyses::descriptions() {
  std::vector<ResultTable> tables;
  for (const NamedTable& table : kTables) tables.push_back(table.make(table, nullptr));
  return tables;
}

Result<ResultTable> RunAnalyses::table(std::string_view name) {
  for (const NamedTable& table : kTables) {
    if (table.name == name) return table.make(table, this);
  }
  std::string known;
  for (const NamedTable& table : kTables)
    known += (known.empty() ? "" : ", ") + std::string(table.name);
  return Error{ErrorCode::kNotFound, "no analysis named \"" + std::string(name) + "\"", "", "",
               "there are: " + known};
}

std::vector<Reason> RunAnalyses::reasons(std::string_view table) {
  const std::scoped_lock lock(results_->reasons_mutex);
  std::vector<Reason> found;
  for (const Reason& reason : results_->reasons) {
    if (reason.table == table) found.push_back(reason);
  }
  return found;
}

}  // namespace stepscope
