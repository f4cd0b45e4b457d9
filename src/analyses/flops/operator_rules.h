// Which formula an operator has, by its name.
#ifndef STEPSCOPE_ANALYSES_FLOPS_OPERATOR_RULES_H_
#define STEPSCOPE_ANALYSES_FLOPS_OPERATOR_RULES_H_

#include <cstdint>
#include <string_view>

namespace stepscope {

// The order of the tensors among the inputs is part of the rule.
enum class FlopRule : uint8_t {
  kNone,
  kMatmul,          // a, b in order
  kMatmulAdd,       // c, a, b
  kMatmulAnyOrder,  // a, b, either may be transposed
  kLinear,          // x, w
  kConvolution,     // x, w
  kConvolutionTransposed,
  kConvolutionBackward,        // gradient, x, w: both gradients
  kConvolutionBackwardOld,     // x, gradient, w: both gradients
  kConvolutionBackwardInput,   // gradient, w
  kConvolutionBackwardWeight,  // gradient, x
  kAttention,                  // q, k, v: batch, head, sequence, size
  kAttentionBackward,          // gradient, q, k, v
  kAttentionSequenceFirst,     // q, k, v: batch, sequence, head, size
  kAttentionSequenceFirstBackward,
  kNormalisation,
  kNormalisationBackward,
  kSoftmax,
  kSoftmaxBackward,
  kElementwise,
  kMomentum,  // weight, moment, gradient: four operations an element
  kReduction,
  kEmbedding,
  kEmbeddingBackward,
  kCopy,      // one input
  kCopyInto,  // destination, source
};

// "aten::mm", "MatMulV2", "Conv2DBackpropInput", "aten::add_" ...
FlopRule flop_rule(std::string_view operator_name);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_FLOPS_OPERATOR_RULES_H_
