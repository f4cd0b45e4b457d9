#include "analyses/flops/flop_kernels.h"

#include <cmath>

#include "analyses/common/key_index.h"
#include "analyses/flops/convolution_flops.h"
#include "analyses/operators/device_properties.h"
#include "analyses/operators/operators.h"

namespace stepscope {
namespace {

// Names of the counters in the generations of Ascend's files (metrics ArithmeticUtilization).
constexpr std::string_view kCubeCounters[] = {"aic_cube_fops", "cube_fops"};
constexpr std::string_view kVectorCounters[] = {"aiv_vec_fops", "vec_fops", "vector_fops"};

template <size_t N>
double first_of(std::string_view counters, const std::string_view (&names)[N]) {
  for (const std::string_view name : names) {
    const double value = number_in_json(counters, name);
    if (std::isfinite(value) && value > 0) return value;
  }
  return 0;
}

std::optional<std::string_view> text_or_null(const StoreReader& store, int64_t id) {
  return id == kNull ? std::nullopt : std::optional(store.string(id));
}

std::string_view scope_of(std::string_view name) {
  const size_t end = name.rfind('/');
  return end == std::string_view::npos ? std::string_view() : name.substr(0, end);
}

DataType first_type(const StoreReader& store, int64_t types) {
  if (types == kNull) return DataType::kUnknown;
  const std::string_view text = store.string(types);
  return parse_data_type(text.substr(0, text.find_first_of(";,")));
}

}  // namespace

bool count_kernel_counters(const StoreReader& store, const RankId& rank, FlopSums& sums) {
  enum KeyPart : uint8_t { kType, kName, kShapes, kTypes };
  struct Kind {
    uint32_t cube = kNoGroup;
    uint32_t vector = kNoGroup;
    uint32_t scope = 0;
  };
  KeyIndex<4> index;
  std::vector<Kind> kinds;
  bool any = false;
  for_each_row<9>(
      store, Table::kKernels, rank.position,
      {"counters", "type", "name", "input_shapes", "input_types", "step", "ts", "dur", "flags"},
      [&](const auto& row) {
        const auto [counters, type, name, shapes, types, step, ts, dur, flags] = row;
        if (counters == kNull || dur < 0 || (flags & kFlagImpossible) != 0) return;
        const std::string_view text = store.string(counters);
        const double cube = first_of(text, kCubeCounters);
        const double vector = first_of(text, kVectorCounters);
        if (cube <= 0 && vector <= 0) return;
        any = true;
        const uint32_t at = index.group({type, name, shapes, types});
        if (at == kinds.size()) {
          kinds.emplace_back();
          kinds[at].scope = sums.scopes.at_path(scope_of(store.string(name)));
        }
        Kind& kind = kinds[at];
        const auto row_of = [&](uint32_t& known, FlopKind flop_kind, std::string_view unit) {
          if (known != kNoGroup) return known;
          FlopRow labels;
          labels.category = store.string(type);
          labels.name = store.string(name);
          if (!scope_of(labels.name).empty()) labels.module = scope_of(labels.name);
          labels.input_shapes = text_or_null(store, shapes);
          labels.input_types = text_or_null(store, types);
          labels.kind = unit;
          labels.source = kFromCounters;
          return known =
                     sums.add_kind(labels, {flop_kind, first_type(store, types), 0, std::nan("")});
        };
        // The time of a task with both goes to the cube's part, so that it is counted once.
        if (cube > 0)
          sums.add_call(row_of(kind.cube, FlopKind::kMatmul, "cube"), step, ts, dur, cube);
        if (vector > 0)
          sums.add_call(row_of(kind.vector, FlopKind::kElementwise, "vector"), step, ts,
                        cube > 0 ? 0 : dur, vector);
        sums.scopes.add(kind.scope, cube + vector);
      });
  return any;
}

bool count_kernel_shapes(const StoreReader& store, const RankId& rank, FlopSums& sums) {
  enum KeyPart : uint8_t { kType, kName, kOpType, kShapes, kTypes, kOutputs };
  KeyIndex<6> index;
  std::vector<uint32_t> rows;
  std::vector<uint32_t> scopes;
  const ConvolutionShapes nothing_learnt;
  bool any = false;
  for_each_row<10>(
      store, Table::kKernels, rank.position,
      {"type", "name", "op_type", "input_shapes", "input_types", "output_shapes", "step", "ts",
       "dur", "flags"},
      [&](const auto& row) {
        const auto [type, name, op_type, shapes, types, outputs, step, ts, dur, flags] = row;
        if (shapes == kNull || dur < 0 || (flags & kFlagImpossible) != 0) return;
        const uint32_t at = index.group({type, name, op_type, shapes, types, outputs});
        if (at == rows.size()) {
          FlopRow labels;
          labels.category = store.string(type);
          labels.name = store.string(name);
          if (!scope_of(labels.name).empty()) labels.module = scope_of(labels.name);
          labels.input_shapes = store.string(shapes);
          labels.input_types = text_or_null(store, types);
          labels.source = kFromShapes;
          OperatorCall call;
          call.name = op_type == kNull ? operator_type_in(labels.name) : store.string(op_type);
          const std::string_view words = types == kNull ? std::string_view() : store.string(types);
          call.inputs = parse_tensors(store.string(shapes), words);
          if (outputs != kNull) call.outputs = parse_tensors(store.string(outputs), words);
          const auto count = count_flops(call, nothing_learnt);
          rows.push_back(count ? sums.add_kind(labels, *count) : kNoGroup);
          scopes.push_back(sums.scopes.at_path(scope_of(labels.name)));
        }
        if (rows[at] == kNoGroup) return;
        any = true;
        sums.add_call(rows[at], step, ts, dur);
        sums.scopes.add(scopes[at], sums.count_of(rows[at]).flops);
      });
  return any;
}

}  // namespace stepscope
