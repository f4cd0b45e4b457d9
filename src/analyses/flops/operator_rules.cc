#include "analyses/flops/operator_rules.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace stepscope {
namespace {

using enum FlopRule;

struct NamedRule {
  std::string_view name;
  FlopRule rule;
};

// PyTorch: names behind "aten::" without the underscore of in-place forms.
constexpr NamedRule kTorchRules[] = {
    {"mm", kMatmul},
    {"bmm", kMatmul},
    {"matmul", kMatmul},
    {"mv", kMatmul},
    {"dot", kMatmul},
    {"_int_mm", kMatmul},
    {"_scaled_mm", kMatmul},
    {"addmm", kMatmulAdd},
    {"_addmm_activation", kMatmulAdd},
    {"baddbmm", kMatmulAdd},
    {"addmv", kMatmulAdd},
    {"linear", kLinear},
    {"mkldnn_linear", kLinear},
    {"_mkl_linear", kLinear},
    {"_linear_pointwise", kLinear},
    {"npu_linear", kLinear},
    {"conv1d", kConvolution},
    {"conv2d", kConvolution},
    {"conv3d", kConvolution},
    {"convolution", kConvolution},
    {"_convolution", kConvolution},
    {"convolution_overrideable", kConvolution},
    {"cudnn_convolution", kConvolution},
    {"cudnn_convolution_relu", kConvolution},
    {"miopen_convolution", kConvolution},
    {"mkldnn_convolution", kConvolution},
    {"_convolution_pointwise", kConvolution},
    {"thnn_conv2d", kConvolution},
    {"_slow_conv2d_forward", kConvolution},
    {"slow_conv3d", kConvolution},
    {"slow_conv3d_forward", kConvolution},
    {"slow_conv_dilated2d", kConvolution},
    {"_conv_depthwise2d", kConvolution},
    {"conv_depthwise3d", kConvolution},
    {"npu_conv2d", kConvolution},
    {"npu_conv3d", kConvolution},
    {"conv_transpose1d", kConvolutionTransposed},
    {"conv_transpose2d", kConvolutionTransposed},
    {"conv_transpose3d", kConvolutionTransposed},
    {"cudnn_convolution_transpose", kConvolutionTransposed},
    {"miopen_convolution_transpose", kConvolutionTransposed},
    {"slow_conv_transpose2d", kConvolutionTransposed},
    {"slow_conv_transpose3d", kConvolutionTransposed},
    {"npu_conv_transpose2d", kConvolutionTransposed},
    {"convolution_backward", kConvolutionBackward},
    {"convolution_backward_overrideable", kConvolutionBackward},
    {"cudnn_convolution_backward", kConvolutionBackwardOld},
    {"miopen_convolution_backward", kConvolutionBackwardOld},
    {"mkldnn_convolution_backward", kConvolutionBackwardOld},
    {"npu_conv2d_backward", kConvolutionBackwardOld},
    {"cudnn_convolution_backward_input", kConvolutionBackwardInput},
    {"miopen_convolution_backward_input", kConvolutionBackwardInput},
    {"cudnn_convolution_backward_weight", kConvolutionBackwardWeight},
    {"miopen_convolution_backward_weight", kConvolutionBackwardWeight},
    {"scaled_dot_product_attention", kAttention},
    {"_scaled_dot_product_flash_attention", kAttention},
    {"_scaled_dot_product_flash_attention_for_cpu", kAttention},
    {"_scaled_dot_product_efficient_attention", kAttention},
    {"_scaled_dot_product_cudnn_attention", kAttention},
    {"_scaled_dot_product_fused_attention_overrideable", kAttention},
    {"_cudnn_attention_forward", kAttention},
    {"_scaled_dot_product_flash_attention_backward", kAttentionBackward},
    {"_scaled_dot_product_flash_attention_for_cpu_backward", kAttentionBackward},
    {"_scaled_dot_product_efficient_attention_backward", kAttentionBackward},
    {"_scaled_dot_product_cudnn_attention_backward", kAttentionBackward},
    {"_cudnn_attention_backward", kAttentionBackward},
    {"_flash_attention_forward", kAttentionSequenceFirst},
    {"_efficient_attention_forward", kAttentionSequenceFirst},
    {"_flash_attn_forward", kAttentionSequenceFirst},
    {"_flash_attention_backward", kAttentionSequenceFirstBackward},
    {"_efficient_attention_backward", kAttentionSequenceFirstBackward},
    {"_flash_attn_backward", kAttentionSequenceFirstBackward},
    {"layer_norm", kNormalisation},
    {"native_layer_norm", kNormalisation},
    {"batch_norm", kNormalisation},
    {"native_batch_norm", kNormalisation},
    {"cudnn_batch_norm", kNormalisation},
    {"miopen_batch_norm", kNormalisation},
    {"group_norm", kNormalisation},
    {"native_group_norm", kNormalisation},
    {"instance_norm", kNormalisation},
    {"rms_norm", kNormalisation},
    {"_fused_rms_norm", kNormalisation},
    {"npu_rms_norm", kNormalisation},
    {"native_layer_norm_backward", kNormalisationBackward},
    {"native_batch_norm_backward", kNormalisationBackward},
    {"cudnn_batch_norm_backward", kNormalisationBackward},
    {"miopen_batch_norm_backward", kNormalisationBackward},
    {"native_group_norm_backward", kNormalisationBackward},
    {"npu_rms_norm_backward", kNormalisationBackward},
    {"softmax", kSoftmax},
    {"_softmax", kSoftmax},
    {"log_softmax", kSoftmax},
    {"_log_softmax", kSoftmax},
    {"_softmax_backward_data", kSoftmaxBackward},
    {"_log_softmax_backward_data", kSoftmaxBackward},
    {"embedding", kEmbedding},
    {"embedding_dense_backward", kEmbeddingBackward},
    {"index_select", kEmbedding},
    {"copy", kCopyInto},
    {"clone", kCopy},
    {"contiguous", kCopy},
    {"cat", kCopy},
    {"fill", kCopy},
    {"zero", kCopy},
};

constexpr std::string_view kTorchElementwise[] = {"add",
                                                  "sub",
                                                  "rsub",
                                                  "mul",
                                                  "div",
                                                  "pow",
                                                  "exp",
                                                  "log",
                                                  "sqrt",
                                                  "rsqrt",
                                                  "neg",
                                                  "abs",
                                                  "sin",
                                                  "cos",
                                                  "tanh",
                                                  "sigmoid",
                                                  "relu",
                                                  "relu6",
                                                  "leaky_relu",
                                                  "elu",
                                                  "gelu",
                                                  "silu",
                                                  "mish",
                                                  "hardswish",
                                                  "hardtanh",
                                                  "hardsigmoid",
                                                  "softplus",
                                                  "clamp",
                                                  "clamp_min",
                                                  "clamp_max",
                                                  "threshold",
                                                  "threshold_backward",
                                                  "tanh_backward",
                                                  "sigmoid_backward",
                                                  "gelu_backward",
                                                  "silu_backward",
                                                  "hardtanh_backward",
                                                  "hardswish_backward",
                                                  "leaky_relu_backward",
                                                  "native_dropout",
                                                  "native_dropout_backward",
                                                  "dropout",
                                                  "where",
                                                  "masked_fill",
                                                  "maximum",
                                                  "minimum",
                                                  "lerp",
                                                  "addcmul",
                                                  "addcdiv",
                                                  "reciprocal",
                                                  "square",
                                                  "eq",
                                                  "ne",
                                                  "gt",
                                                  "ge",
                                                  "lt",
                                                  "le",
                                                  "logical_and",
                                                  "logical_not",
                                                  "logical_or",
                                                  "bitwise_and",
                                                  "bitwise_or",
                                                  "bitwise_not",
                                                  "remainder",
                                                  "floor",
                                                  "ceil",
                                                  "round",
                                                  "sign",
                                                  "erf",
                                                  "mse_loss",
                                                  "mse_loss_backward",
                                                  "_masked_scale"};

constexpr std::string_view kTorchReductions[] = {
    "sum",    "mean",     "norm",   "linalg_vector_norm", "max",         "min",
    "amax",   "amin",     "var",    "var_mean",           "std",         "prod",
    "cumsum", "argmax",   "argmin", "nll_loss_forward",   "nll_loss_nd", "any",
    "all",    "logsumexp"};

// MindSpore and Ascend: operator types in small letters, without V2, V3, D or Ext at their end.
constexpr NamedRule kTypeRules[] = {
    {"matmul", kMatmulAnyOrder},
    {"batchmatmul", kMatmulAnyOrder},
    {"grouped_matmul", kNone},
    {"gemm", kMatmulAnyOrder},
    {"dense", kLinear},
    {"conv2d", kConvolution},
    {"conv3d", kConvolution},
    {"depthwiseconv2d", kConvolution},
    {"conv2dbackpropinput", kConvolutionBackwardInput},
    {"conv3dbackpropinput", kConvolutionBackwardInput},
    {"conv2dbackpropfilter", kConvolutionBackwardWeight},
    {"conv3dbackpropfilter", kConvolutionBackwardWeight},
    {"flashattentionscore", kAttention},
    {"layernorm", kNormalisation},
    {"rmsnorm", kNormalisation},
    {"batchnorm", kNormalisation},
    {"layernormgrad", kNormalisationBackward},
    {"rmsnormgrad", kNormalisationBackward},
    {"batchnormgrad", kNormalisationBackward},
    {"softmax", kSoftmax},
    {"logsoftmax", kSoftmax},
    {"softmaxcrossentropywithlogits", kSoftmax},
    {"sparsesoftmaxcrossentropywithlogits", kSoftmax},
    {"softmaxgrad", kSoftmaxBackward},
    {"logsoftmaxgrad", kSoftmaxBackward},
    {"applymomentum", kMomentum},
    {"biasadd", kElementwise},
    {"biasaddgrad", kReduction},
    {"reducesum", kReduction},
    {"reducemean", kReduction},
    {"reducemax", kReduction},
    {"gather", kEmbedding},
    {"cast", kCopy},
    {"transdata", kCopy},
    {"transpose", kCopy},
    {"tensormove", kCopy},
    {"concat", kCopy},
    {"memset", kCopy},
    {"zeroslike", kCopy},
    {"oneslike", kCopy},
};
constexpr std::string_view kTypeElementwise[] = {"add",
                                                 "addn",
                                                 "sub",
                                                 "mul",
                                                 "muls",
                                                 "adds",
                                                 "div",
                                                 "realdiv",
                                                 "pow",
                                                 "exp",
                                                 "log",
                                                 "sqrt",
                                                 "rsqrt",
                                                 "neg",
                                                 "abs",
                                                 "tanh",
                                                 "tanhgrad",
                                                 "sigmoid",
                                                 "sigmoidgrad",
                                                 "relu",
                                                 "relugrad",
                                                 "relu6",
                                                 "gelu",
                                                 "gelugrad",
                                                 "fastgelu",
                                                 "silu",
                                                 "silugrad",
                                                 "swish",
                                                 "swishgrad",
                                                 "assignadd",
                                                 "assignsub",
                                                 "maximum",
                                                 "minimum",
                                                 "select",
                                                 "dropout",
                                                 "dropoutdomask",
                                                 "axpy",
                                                 "square",
                                                 "foreachaddlist",
                                                 "foreachmul",
                                                 "foreachaddcdiv",
                                                 "foreachaddcmul",
                                                 "foreachsqrt",
                                                 "applyadam",
                                                 "applyadamw",
                                                 "equal",
                                                 "less",
                                                 "greater",
                                                 "logicalnot",
                                                 "logicaland",
                                                 "cumsum"};

template <size_t N>
bool is_one_of(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}
template <size_t N>
FlopRule find_rule(const NamedRule (&rules)[N], std::string_view name) {
  const auto* found = std::find_if(std::begin(rules), std::end(rules),
                                   [&](const NamedRule& entry) { return entry.name == name; });
  return found == std::end(rules) ? kNone : found->rule;
}

std::string small_letters(std::string_view text) {
  std::string small;
  for (const char c : text.substr(0, 128))
    small += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return small;
}

FlopRule torch_rule(std::string_view name) {
  if (name.size() > 1 && name.ends_with('_')) name.remove_suffix(1);
  if (const FlopRule rule = find_rule(kTorchRules, name); rule != kNone) return rule;
  if (is_one_of(kTorchElementwise, name)) return kElementwise;
  return is_one_of(kTorchReductions, name) ? kReduction : kNone;
}

FlopRule type_rule(std::string_view type) {
  if (type.ends_with("Ext")) type.remove_suffix(3);
  if (type.size() > 2 && type[type.size() - 2] == 'V' && type.back() >= '2' && type.back() <= '9')
    type.remove_suffix(2);
  // "ReduceMeanD", but not "Conv2D".
  if (type.size() > 2 && type.back() == 'D' && type[type.size() - 2] >= 'a') type.remove_suffix(1);
  const std::string small = small_letters(type);
  if (const FlopRule rule = find_rule(kTypeRules, small); rule != kNone) return rule;
  return is_one_of(kTypeElementwise, small) ? kElementwise : kNone;
}

}  // namespace

FlopRule flop_rule(std::string_view operator_name) {
  const size_t behind = operator_name.rfind("::");
  if (behind != std::string_view::npos) return torch_rule(operator_name.substr(behind + 2));
  return type_rule(operator_name);
}

}  // namespace stepscope
