// The modules of a program as a tree: how often each ran, how long, and the device work
// that it launched.
#ifndef STEPSCOPE_ANALYSES_MODULES_MODULES_H_
#define STEPSCOPE_ANALYSES_MODULES_MODULES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/common/result_table.h"
#include "store/store_reader.h"

namespace stepscope {

struct ModuleRow {
  int64_t rank = 0;
  int64_t window = 0;
  int64_t level = 0;
  std::string module;
  int64_t calls = 0;
  int64_t host_ns = 0;
  int64_t host_self_ns = 0;
  int64_t operators = 0;
  int64_t kernels = 0;
  int64_t device_ns = 0;
  int64_t device_self_ns = 0;
};
inline constexpr Field<ModuleRow> kModuleFields[] = {
    field<&ModuleRow::rank>("rank", Unit::kNone, "rank"),
    field<&ModuleRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&ModuleRow::level>("level", Unit::kNone, "depth in the tree; 1: in no other module"),
    field<&ModuleRow::module>("module", Unit::kNone, "modules around it and its own name"),
    field<&ModuleRow::calls>("calls", Unit::kCount, "forward passes"),
    field<&ModuleRow::host_ns>("host_ns", Unit::kNanoseconds, "sum of their lengths on the host"),
    field<&ModuleRow::host_self_ns>("host_self_ns", Unit::kNanoseconds,
                                    "of it in no inner module and no operator"),
    field<&ModuleRow::operators>("operators", Unit::kCount,
                                 "operators that it calls itself, without what those call"),
    field<&ModuleRow::kernels>("kernels", Unit::kCount,
                               "pieces of device work, with those of inner modules"),
    field<&ModuleRow::device_ns>("device_ns", Unit::kNanoseconds, "sum of their lengths"),
    field<&ModuleRow::device_self_ns>("device_self_ns", Unit::kNanoseconds,
                                      "of it without inner modules"),
};

// From the outside in, in the order of their first calls. Empty when the recording has no modules.
// O(n) in the slices of the rank; 4 bytes a slice while it runs.
std::vector<ModuleRow> module_rows(const StoreReader& store, const RankId& rank);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_MODULES_MODULES_H_
