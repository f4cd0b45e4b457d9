// How many floating-point operations an operator needs, from the shapes of its inputs.
//
// A multiplication with addition is two operations. What is counted is what the mathematics needs:
// attention as if unmasked, without what a kernel computes twice to save memory; bias additions
// and scaling of a matrix product are not counted. See docs/analyses.md for every rule.
#ifndef STEPSCOPE_ANALYSES_FLOPS_FLOP_FORMULAS_H_
#define STEPSCOPE_ANALYSES_FLOPS_FLOP_FORMULAS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/flops/tensors.h"

namespace stepscope {

enum class FlopKind : uint8_t {
  kMatmul,
  kConvolution,
  kAttention,
  kNormalisation,
  kSoftmax,
  kElementwise,
  kReduction,
  kEmbedding,
  kCopy,
};
std::string_view flop_kind_name(FlopKind kind);
// The kinds that make up a model's FLOPs, done by tensor cores or cubes.
inline bool is_matrix_work(FlopKind kind) { return kind <= FlopKind::kAttention; }

struct FlopCount {
  FlopKind kind = FlopKind::kMatmul;
  DataType type = DataType::kUnknown;
  double flops = 0;
  double bytes = 0;  // inputs and outputs, each once; NaN when a data type is not known
};

// Arguments of an operator that are not tensors, as Kineto writes them: "[2, 2]", "True" ...
using ConcreteInputs = std::vector<std::string>;

struct OperatorCall {
  std::string_view name;  // of the operator or its type: aten::mm, MatMulV2 ...
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;  // where known
  ConcreteInputs concrete;      // where known
};

class ConvolutionShapes;

// Whether the operator is one of those with a formula for matrix work: they decide which call of a
// nest counts.
bool may_be_matrix_work(std::string_view operator_name);
// Nothing when there is no formula or a shape is missing.
std::optional<FlopCount> count_flops(const OperatorCall& call, const ConvolutionShapes& shapes);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_FLOPS_FLOP_FORMULAS_H_
