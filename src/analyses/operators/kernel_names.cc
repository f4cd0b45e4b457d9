#include "analyses/operators/kernel_names.h"

#include <algorithm>
#include <span>

namespace stepscope {
namespace {

constexpr std::string_view kTensorCoreWords[] = {
    // up to Ampere, the list of the TensorBoard plugin
    "h884", "s884", "h1688", "s1688", "hmma", "i8816", "16816", "dgrad_1x1_stride_2x2",
    "first_layer_wgrad_kernel", "conv1x1", "conv2d_c1_k1", "direct_group", "xmma_implicit_gemm",
    "xmma_sparse_conv", "xmma_warp_specialized_implicit_gemm", "xmma_gemm", "xmma_sparse_gemm",
    "c1688",
    // CUTLASS, Hopper's wgmma, Blackwell's tcgen05, cuBLAS's generated kernels, flash attention
    "tensorop", "wgmma", "gmma", "utcmma", "tcgen05", "nvjet_", "flash_fwd", "flash_bwd",
    "FlashAttn", "fmha_cutlass", "fmha_v2"};

constexpr std::string_view kDoubleWords[] = {"dgemm", "zgemm", "dgemv", "d884", "f64", "double"};

struct KindRule {
  std::string_view word;
  std::string_view kind;
};
// The first that occurs in the name decides. Specific words come before general ones: a softmax is
// also a reduction.
constexpr KindRule kKindRules[] = {
    {"nccl", "communication"},
    {"Memcpy", "copy"},
    {"Memset", "set"},
    {"flash", "attention"},
    {"Flash", "attention"},
    {"fmha", "attention"},
    {"sdpa", "attention"},
    {"attention", "attention"},
    {"multi_tensor_apply", "optimizer"},
    {"FusedAdam", "optimizer"},
    {"fused_adam", "optimizer"},
    {"fprop", "convolution"},
    {"dgrad", "convolution"},
    {"wgrad", "convolution"},
    {"conv", "convolution"},
    {"Conv", "convolution"},
    {"winograd", "convolution"},
    {"fft2d", "convolution"},
    {"gemm", "gemm"},
    {"Gemm", "gemm"},
    {"GEMM", "gemm"},
    {"nvjet", "gemm"},
    {"gemv", "gemm"},
    {"cutlass", "gemm"},
    {"Cijk_", "gemm"},
    {"splitKreduce", "gemm"},
    {"matmul", "gemm"},
    {"layer_norm", "normalisation"},
    {"LayerNorm", "normalisation"},
    {"layernorm", "normalisation"},
    {"RMSNorm", "normalisation"},
    {"rms_norm", "normalisation"},
    {"GammaBeta", "normalisation"},
    {"batch_norm", "normalisation"},
    {"BatchNorm", "normalisation"},
    {"bn_fw", "normalisation"},
    {"bn_bw", "normalisation"},
    {"bnorm", "normalisation"},
    {"softmax", "softmax"},
    {"SoftMax", "softmax"},
    {"Softmax", "softmax"},
    {"embedding", "embedding"},
    {"Embedding", "embedding"},
    {"gather", "embedding"},
    {"scatter", "embedding"},
    {"index", "embedding"},
    {"copy_kernel", "copy"},
    {"CatArray", "copy"},
    {"transpose", "copy"},
    {"elementwise", "elementwise"},
    {"pointwise", "elementwise"},
    {"triton_poi", "elementwise"},
    {"triton_per", "reduction"},
    {"triton_red", "reduction"},
    {"reduce", "reduction"},
    {"Reduce", "reduction"},
    {"nll_loss", "reduction"},
};

bool has_any(std::string_view name, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return name.find(word) != std::string_view::npos;
  });
}

}  // namespace

bool uses_tensor_cores(std::string_view kernel_name) {
  return has_any(kernel_name, kTensorCoreWords);
}

bool is_double_precision(std::string_view kernel_name) {
  return has_any(kernel_name, kDoubleWords);
}

std::string_view kernel_kind(std::string_view kernel_name) {
  for (const KindRule& rule : kKindRules) {
    if (kernel_name.find(rule.word) != std::string_view::npos) return rule.kind;
  }
  return "other";
}

}  // namespace stepscope
