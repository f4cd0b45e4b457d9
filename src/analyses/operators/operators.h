// Operators of a rank: by operator, by type, by input shapes. Operators are what the framework
// calls: on the host, or, where the device runs a graph of them (Ascend), its tasks.
#ifndef STEPSCOPE_ANALYSES_OPERATORS_OPERATORS_H_
#define STEPSCOPE_ANALYSES_OPERATORS_OPERATORS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyses/common/duration_groups.h"
#include "analyses/common/rank_rows.h"
#include "analyses/common/result_table.h"
#include "analyses/operators/op_tree.h"
#include "store/store_reader.h"

namespace stepscope {

// Categories of operators. Operators on the device have the word of the task (AI_CORE, AI_CPU ...).
inline constexpr std::string_view kHostOperators = "HOST";         // they launch work on a device
inline constexpr std::string_view kHostCpuOperators = "HOST_CPU";  // they are the work

// Text points into the store.
struct OperatorRow {
  int64_t rank = 0;
  int64_t window = 0;
  std::string_view category;
  std::string_view name;
  std::string_view type;
  std::optional<std::string_view> module;
  int64_t modules = 0;
  std::optional<std::string_view> input_shapes;
  std::optional<std::string_view> input_types;
  int64_t shapes = 0;
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t self_ns = 0;
  double share = 0;
  double mean_ns = 0;
  int64_t min_ns = 0;
  int64_t max_ns = 0;
  double stddev_ns = 0;
  int64_t median_ns = 0;
  int64_t p90_ns = 0;
  int64_t p99_ns = 0;
  int64_t runtime_ns = 0;
  int64_t launches = 0;
  int64_t device_self_ns = 0;
  int64_t device_total_ns = 0;
  double device_share = 0;
};
inline constexpr Field<OperatorRow> kOperatorFields[] = {
    field<&OperatorRow::rank>("rank", Unit::kNone, "rank"),
    field<&OperatorRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&OperatorRow::category>(
        "category", Unit::kNone,
        "HOST: calls that launch device work; HOST_CPU: work on the host; AI_CORE, AI_CPU, MIX_AIV "
        "...: tasks of a device that runs operators"),
    field<&OperatorRow::name>("name", Unit::kNone, "name"),
    field<&OperatorRow::type>("type", Unit::kNone, "operator type; the name where there is none"),
    field<&OperatorRow::module>("module", Unit::kNone,
                                "module or scope; NULL when there are several"),
    field<&OperatorRow::modules>("modules", Unit::kCount, "different modules or scopes"),
    field<&OperatorRow::input_shapes>("input_shapes", Unit::kNone,
                                      "shapes of the inputs; NULL when calls differ"),
    field<&OperatorRow::input_types>("input_types", Unit::kNone,
                                     "data types of the inputs; NULL when calls differ"),
    field<&OperatorRow::shapes>("shapes", Unit::kCount, "different shapes and types of inputs"),
    field<&OperatorRow::count>("count", Unit::kCount, "calls"),
    field<&OperatorRow::total_ns>("total_ns", Unit::kNanoseconds,
                                  "time inside it; a call inside one of the same operator is not "
                                  "counted twice"),
    field<&OperatorRow::self_ns>("self_ns", Unit::kNanoseconds,
                                 "time without the operators and runtime calls directly inside"),
    field<&OperatorRow::share>("share", Unit::kShare, "of the self time of its category"),
    field<&OperatorRow::mean_ns>("mean_ns", Unit::kNanoseconds, "mean length of a call"),
    field<&OperatorRow::min_ns>("min_ns", Unit::kNanoseconds, "shortest call"),
    field<&OperatorRow::max_ns>("max_ns", Unit::kNanoseconds, "longest call"),
    field<&OperatorRow::stddev_ns>("stddev_ns", Unit::kNanoseconds, "standard deviation"),
    field<&OperatorRow::median_ns>("median_ns", Unit::kNanoseconds, "median call"),
    field<&OperatorRow::p90_ns>("p90_ns", Unit::kNanoseconds, "90 % of calls are not longer"),
    field<&OperatorRow::p99_ns>("p99_ns", Unit::kNanoseconds, "99 % of calls are not longer"),
    field<&OperatorRow::runtime_ns>("runtime_ns", Unit::kNanoseconds,
                                    "time in runtime and driver calls directly inside"),
    field<&OperatorRow::launches>("launches", Unit::kCount, "pieces of device work it launched"),
    field<&OperatorRow::device_self_ns>("device_self_ns", Unit::kNanoseconds,
                                        "sum of the device work it launched itself"),
    field<&OperatorRow::device_total_ns>("device_total_ns", Unit::kNanoseconds,
                                         "the same with what it called, as total_ns"),
    field<&OperatorRow::device_share>("device_share", Unit::kShare,
                                      "of the device time of all operators of its category"),
};

struct OperatorTypeRow {
  int64_t rank = 0;
  int64_t window = 0;
  std::string_view category;
  std::string_view type;
  int64_t operators = 0;
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t self_ns = 0;
  double share = 0;
  double mean_ns = 0;
  int64_t min_ns = 0;
  int64_t max_ns = 0;
  double stddev_ns = 0;
  int64_t median_ns = 0;
  int64_t p90_ns = 0;
  int64_t p99_ns = 0;
  int64_t device_self_ns = 0;
  double device_share = 0;
};
inline constexpr Field<OperatorTypeRow> kOperatorTypeFields[] = {
    field<&OperatorTypeRow::rank>("rank", Unit::kNone, "rank"),
    field<&OperatorTypeRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&OperatorTypeRow::category>("category", Unit::kNone, "as in operators"),
    field<&OperatorTypeRow::type>("type", Unit::kNone,
                                  "operator type; for CUDA kernels their kind"),
    field<&OperatorTypeRow::operators>("operators", Unit::kCount, "different operators"),
    field<&OperatorTypeRow::count>("count", Unit::kCount, "calls"),
    field<&OperatorTypeRow::total_ns>("total_ns", Unit::kNanoseconds, "sum over its operators"),
    field<&OperatorTypeRow::self_ns>("self_ns", Unit::kNanoseconds, "sum over its operators"),
    field<&OperatorTypeRow::share>("share", Unit::kShare, "of the self time of its category"),
    field<&OperatorTypeRow::mean_ns>("mean_ns", Unit::kNanoseconds, "mean length of a call"),
    field<&OperatorTypeRow::min_ns>("min_ns", Unit::kNanoseconds, "shortest call"),
    field<&OperatorTypeRow::max_ns>("max_ns", Unit::kNanoseconds, "longest call"),
    field<&OperatorTypeRow::stddev_ns>("stddev_ns", Unit::kNanoseconds, "standard deviation"),
    field<&OperatorTypeRow::median_ns>("median_ns", Unit::kNanoseconds, "median call"),
    field<&OperatorTypeRow::p90_ns>("p90_ns", Unit::kNanoseconds, "90 % of calls are not longer"),
    field<&OperatorTypeRow::p99_ns>("p99_ns", Unit::kNanoseconds, "99 % of calls are not longer"),
    field<&OperatorTypeRow::device_self_ns>("device_self_ns", Unit::kNanoseconds,
                                            "sum of the device work they launched"),
    field<&OperatorTypeRow::device_share>("device_share", Unit::kShare,
                                          "of the device time of its category"),
};

struct OperatorShapeRow {
  int64_t rank = 0;
  int64_t window = 0;
  std::string_view category;
  std::string_view name;
  std::string_view type;
  std::optional<std::string_view> input_shapes;
  std::optional<std::string_view> input_types;
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t self_ns = 0;
  double mean_ns = 0;
  int64_t min_ns = 0;
  int64_t max_ns = 0;
  int64_t launches = 0;
  int64_t device_self_ns = 0;
  int64_t device_total_ns = 0;
};
inline constexpr Field<OperatorShapeRow> kOperatorShapeFields[] = {
    field<&OperatorShapeRow::rank>("rank", Unit::kNone, "rank"),
    field<&OperatorShapeRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&OperatorShapeRow::category>("category", Unit::kNone, "as in operators"),
    field<&OperatorShapeRow::name>("name", Unit::kNone, "name"),
    field<&OperatorShapeRow::type>("type", Unit::kNone, "operator type"),
    field<&OperatorShapeRow::input_shapes>("input_shapes", Unit::kNone,
                                           "shapes of the inputs; NULL when not recorded"),
    field<&OperatorShapeRow::input_types>("input_types", Unit::kNone,
                                          "data types of the inputs; NULL when not recorded"),
    field<&OperatorShapeRow::count>("count", Unit::kCount, "calls"),
    field<&OperatorShapeRow::total_ns>("total_ns", Unit::kNanoseconds, "as in operators"),
    field<&OperatorShapeRow::self_ns>("self_ns", Unit::kNanoseconds, "as in operators"),
    field<&OperatorShapeRow::mean_ns>("mean_ns", Unit::kNanoseconds, "mean length of a call"),
    field<&OperatorShapeRow::min_ns>("min_ns", Unit::kNanoseconds, "shortest call"),
    field<&OperatorShapeRow::max_ns>("max_ns", Unit::kNanoseconds, "longest call"),
    field<&OperatorShapeRow::launches>("launches", Unit::kCount,
                                       "pieces of device work it launched"),
    field<&OperatorShapeRow::device_self_ns>("device_self_ns", Unit::kNanoseconds,
                                             "sum of the device work it launched itself"),
    field<&OperatorShapeRow::device_total_ns>("device_total_ns", Unit::kNanoseconds,
                                              "the same with what it called"),
};

struct OperatorTables {
  std::vector<OperatorRow> operators;    // by category, then self time (device time for HOST)
  std::vector<OperatorTypeRow> types;    // by category, then total time
  std::vector<OperatorShapeRow> shapes;  // by category, then self time
  int64_t left_out = 0;                  // impossible events
};

// The rank's operators on the host.
OperatorTables host_operators(const StoreReader& store, const RankId& rank, const OpTree& tree);
// The rank's tasks on devices that run operators. CUDA kernels and copies are not operators: for
// them there is a row of types by kind only.
OperatorTables device_operators(const StoreReader& store, const RankId& rank);

// Category of a kind of host operator.
std::string_view host_category(const StoreReader& store, const OpTree& tree, uint32_t kind);
// The operator type in a task's name where the source gives none: "Default/net/Conv2D-op3" and
// "aclnnAddmm_MatMulCommon_MatMulV2".
std::string_view operator_type_in(std::string_view name);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_OPERATORS_OPERATORS_H_
