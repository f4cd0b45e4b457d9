// Sums by kind of operator, folded into the tables by shape, by operator and by type.
#ifndef STEPSCOPE_ANALYSES_OPERATORS_OPERATOR_GROUPS_H_
#define STEPSCOPE_ANALYSES_OPERATORS_OPERATOR_GROUPS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyses/operators/operators.h"

namespace stepscope {

// One combination of operator, module and inputs. Ids are those of the store's strings, or kNull.
struct OperatorKind {
  std::string_view category;
  std::string_view type;
  std::string_view name;
  int64_t module = kNull;
  int64_t shapes = kNull;
  int64_t types = kNull;
  bool is_operator = true;  // else it counts by type only

  int64_t count = 0;
  int64_t length_ns = 0;  // of all calls; total_ns leaves out recursive ones
  int64_t total_ns = 0;
  int64_t self_ns = 0;
  int64_t min_ns = 0;
  int64_t max_ns = 0;
  int64_t runtime_ns = 0;
  int64_t launches = 0;
  int64_t device_self_ns = 0;
  int64_t device_total_ns = 0;

  void add_call(int64_t dur_ns);  // count, length, min, max
};

class OperatorGroups {
 public:
  // Only the labels of the kinds are needed here; sums are filled in afterwards.
  OperatorGroups(const StoreReader& store, std::vector<OperatorKind> kinds);

  // Number of the operator that a kind belongs to.
  uint32_t operator_of(uint32_t kind) const { return operator_of_[kind]; }
  OperatorKind& kind(uint32_t kind) { return kinds_[kind]; }

  // Prepares for exact quantiles; then every call again, in any order, and the tables.
  void begin_durations();
  void add_duration(uint32_t kind, int64_t dur_ns) { durations_->add(operator_of_[kind], dur_ns); }
  OperatorTables finish(const RankId& rank);

 private:
  OperatorRow make_operator(const RankId& rank, size_t first, size_t last);
  OperatorShapeRow make_shape(const RankId& rank, size_t first, size_t last) const;
  OperatorTypeRow make_type(const RankId& rank, size_t first, size_t last);

  const StoreReader& store_;
  std::vector<OperatorKind> kinds_;
  std::vector<uint32_t> order_;        // kinds by category, type, operator, inputs
  std::vector<uint32_t> operator_of_;  // by kind
  std::optional<DurationGroups> durations_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_OPERATORS_OPERATOR_GROUPS_H_
