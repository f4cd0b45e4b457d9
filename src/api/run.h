// Run: the one door through which other languages reach the readers. A trace, a folder of traces or
// a store, imported when there is need to, with its tables as arrays and SQL over them.
//
// Nothing throws (running out of memory aside) and nothing returned points into the run: arrays
// may outlive it. Thread-safe; work on one run from several threads goes on side by side.
#ifndef STEPSCOPE_API_RUN_H_
#define STEPSCOPE_API_RUN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/column_data.h"
#include "base/progress.h"
#include "base/result.h"

namespace stepscope {

struct OpenOptions {
  std::string form;           // name of an importer; "" = the richest form of each rank
  unsigned jobs = 0;          // threads, of the import and of queries; 0 = all CPUs
  uint64_t memory_bytes = 0;  // budget of the import, limit of queries; 0 = half of the machine's
  bool force = false;         // import even when a fresh store exists
};

struct TableInfo {
  std::string name;  // "kernels", or "source.op_statistic" for a table of the input
  std::string doc;   // "" for a table of the input
  struct Column {
    std::string name;
    std::string doc;
  };
  std::vector<Column> columns;
};

class Run {
 public:
  // Re-opening costs milliseconds; importing is bound by the size of the input. Cancelled through
  // `progress`, nothing is left behind.
  static Result<std::shared_ptr<Run>> open(const std::vector<std::string>& paths,
                                           const OpenOptions& options, Progress& progress);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  const std::vector<std::string>& paths() const;
  const std::string& store_path() const;
  uint64_t store_bytes() const;
  // False when a fresh store was there already.
  bool imported() const;
  // Lines for the user: why the store was rebuilt, ranks that could not be read.
  const std::vector<std::string>& notes() const;
  size_t rank_count() const;

  // Every table that table() and SQL know.
  Result<std::vector<TableInfo>> tables();

  // The columns named, or all but `args`, whose text lies in the input and is fetched row by row.
  // On all CPUs, straight into the arrays: bound by the first touch of their memory.
  Result<TableData> table(std::string_view name,
                          const std::optional<std::vector<std::string>>& columns,
                          const Progress& progress);

  // One statement that only reads, in DuckDB's dialect; `seconds`: 0 = no limit. Columns whose
  // names repeat get a number: id, id_2.
  Result<TableData> query(std::string_view sql, double seconds, const Progress& progress);

  // Results of the analyses: their tables, one of them, and why one is empty or incomplete ("" when
  // it is neither). Each is computed when it is first asked for.
  std::vector<TableInfo> analyses() const;
  Result<TableData> analysis(std::string_view name);
  Result<std::string> analysis_reason(std::string_view name);

  // The critical path of a step, of one rank or of every rank that has the step; without `step` of
  // the step of middle length: the tables critical_path and critical_path_segments.
  Result<TableData> critical_path(std::optional<int64_t> rank, std::optional<int64_t> step);
  Result<TableData> critical_path_segments(std::optional<int64_t> rank,
                                           std::optional<int64_t> step);
  // How long such a step would be if what has `what` in its name, or is of this kind, took `factor`
  // times as long (analyses/critical_path/what_if.h): a row for each rank.
  Result<TableData> what_if(std::string_view what, double factor, std::optional<int64_t> rank,
                            std::optional<int64_t> step);
  // The rows of the table operators whose names match what somebody typed, the best first.
  TableData find_operators(std::string_view search, size_t limit);

  // What `stepscope report` prints: "text", "markdown", "html" or "json".
  Result<std::string> report(std::string_view format);

  // A rank as Chrome trace JSON, whole or not at all. `rank` is its number; the first window, when
  // it was recorded several times.
  Result<uint64_t> write_chrome_trace(int64_t rank, const std::string& path,
                                      const Progress& progress);

  // What `stepscope info --json` prints.
  Result<std::string> info_json(const Progress& progress);

 private:
  struct State;
  explicit Run(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_API_RUN_H_
