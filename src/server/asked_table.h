// A result table as a request wants it: some tables have parameters besides the choice of rows.
#ifndef STEPSCOPE_SERVER_ASKED_TABLE_H_
#define STEPSCOPE_SERVER_ASKED_TABLE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <httplib.h>

#include "analyses/run_analyses.h"
#include "base/result.h"

namespace stepscope {

struct AskedTable {
  ResultTable table;
  std::shared_ptr<const void> rows;  // those of `table` where they were made for this request
};

//   cpu            first_step, last_step: means over these steps
//   memory_curve   from, to (unix ns): this part of the recording, in more detail
//   memory_owners  at (unix ns; of a plan, a position), with the pool's rank, device_kind, device
//                  and component: who holds it then instead of at its peak
// Everything else is the table of that name.
Result<AskedTable> asked_table(RunAnalyses& run, const std::string& name,
                               const httplib::Request& request);

// rank: a number, or `first`, the first one that runs/ID lists, for who has not read that yet.
Result<std::optional<int64_t>> asked_rank(const RunAnalyses& run, const httplib::Request& request);

}  // namespace stepscope

#endif  // STEPSCOPE_SERVER_ASKED_TABLE_H_
