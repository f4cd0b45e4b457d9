#include "bench/generate/catalogue.h"

#include <array>
#include <cstdio>

namespace stepscope::generate {
namespace {

constexpr int kMultiprocessors = 132;  // NVIDIA H200
constexpr int kWarpSize = 32;

// Picks one digit of `*variant` in a mixed-radix number, so that variants walk all combinations.
template <size_t kSize>
std::string Pick(const std::array<std::string_view, kSize>& choices, int* variant) {
  const std::string_view choice = choices[static_cast<size_t>(*variant) % kSize];
  *variant /= static_cast<int>(kSize);
  return std::string(choice);
}

Kernel MakeKernel(const std::string& name, int grid, int block, int registers, int shared_bytes,
                  int occupancy_percent, int64_t typical_ns, NamePool* names) {
  const double blocks_per_sm = static_cast<double>(grid) / kMultiprocessors;
  const double warps_per_sm = blocks_per_sm * block / kWarpSize;
  char text[512];
  std::snprintf(text, sizeof(text),
                "\"registers per thread\": %d,      \"shared memory\": %d,      "
                "\"blocks per SM\": %f,      \"warps per SM\": %f,      \"grid\": [%d, 1, 1],      "
                "\"block\": [%d, 1, 1],      \"est. achieved occupancy %%\": %d",
                registers, shared_bytes, blocks_per_sm, warps_per_sm, grid, block,
                occupancy_percent);
  return {names->Intern(name), text, typical_ns, false};
}

}  // namespace

NameId NamePool::Intern(std::string_view name) {
  const auto found = ids_.find(name);
  if (found != ids_.end()) return found->second;
  const auto id = static_cast<NameId>(names_.size());
  names_.emplace_back(name);
  ids_.emplace(names_.back(), id);
  return id;
}

Kernel GemmKernel(int variant, NamePool* names) {
  static constexpr std::array<std::string_view, 7> kTiles = {
      "256x128_64x4_1x2_h_bz_coopA", "192x128_64x5_1x2_h_bz_coopB", "128x160_64x5_2x4_h_bz",
      "128x128_64x6_4x2_h_bz",       "96x64_64x8_2x4_h_bz",         "64x64_64x13_1x1_v_bz",
      "320x128_64x3_1x2_h_bz_coopB"};
  static constexpr std::array<std::string_view, 5> kLayouts = {"TNT", "NNT", "NTT", "TNN", "NTN"};
  static constexpr std::array<std::string_view, 3> kEpilogues = {"_", "_bias_", "_splitK_"};
  const int seed = variant;
  const std::string tile = Pick(kTiles, &variant);
  const std::string layout = Pick(kLayouts, &variant);
  const std::string epilogue = Pick(kEpilogues, &variant);
  Kernel kernel = MakeKernel("nvjet_sm90_tst_" + tile + epilogue + layout, 132, 384, 168, 213'248,
                             18, 42'000 + seed % 7 * 9'000, names);
  kernel.launched_by_driver = true;
  return kernel;
}

Kernel ElementwiseKernel(int variant, NamePool* names) {
  static constexpr std::array<std::string_view, 11> kFunctors = {
      "at::native::CUDAFunctor_add<float>",
      "at::native::CUDAFunctorOnSelf_add<c10::BFloat16>",
      "at::native::AUnaryFunctor<float, float, float, "
      "at::native::binary_internal::MulFunctor<float> >",
      "at::native::BinaryFunctor<float, float, float, "
      "at::native::binary_internal::MulFunctor<float> "
      ">",
      "at::native::tanh_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}::operator()() "
      "const::{lambda(float)#1}",
      "at::native::FillFunctor<c10::BFloat16>",
      "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}",
      "at::native::sqrt_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}",
      "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&)::{lambda(float)#1}",
      "at::native::(anonymous namespace)::where_kernel_impl(at::TensorIterator&)::{lambda(bool)#1}",
      "at::native::compare_scalar_kernel<float>(at::TensorIteratorBase&)::{lambda(float)#1}"};
  static constexpr std::array<std::string_view, 3> kArity = {"3ul", "2ul", "1ul"};
  static constexpr std::array<std::string_view, 3> kWidths = {"4", "8", "2"};
  const int seed = variant;
  const std::string functor = Pick(kFunctors, &variant);
  const std::string array = "std::array<char*, " + Pick(kArity, &variant) + ">";
  const std::string width = Pick(kWidths, &variant);
  const std::string name = "void at::native::vectorized_elementwise_kernel<" + width + ", " +
                           functor + ", " + array + " >(int, " + functor + ", " + array + ")";
  return MakeKernel(name, 6144 >> (seed % 4), 128, 32, 0, 94, 5'200 + seed % 5 * 1'700, names);
}

Kernel ReductionKernel(int variant, NamePool* names) {
  static constexpr std::array<std::string_view, 4> kTypes = {"float", "c10::BFloat16", "double",
                                                             "c10::Half"};
  static constexpr std::array<std::string_view, 4> kOps = {"sum_functor", "mean_functor",
                                                           "norm_functor", "max_functor"};
  static constexpr std::array<std::string_view, 2> kWidths = {"512, 1", "128, 4"};
  const int seed = variant;
  const std::string type = Pick(kTypes, &variant);
  const std::string op = Pick(kOps, &variant);
  const std::string width = Pick(kWidths, &variant);
  const std::string reduce = "at::native::ReduceOp<" + type + ", at::native::func_wrapper_t<" +
                             type + ", at::native::" + op + "<" + type + ", float, " + type +
                             ">::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, "
                             "unsigned int, " +
                             type + ", 4, 4>";
  return MakeKernel(
      "void at::native::reduce_kernel<" + width + ", " + reduce + " >(" + reduce + ")", 1536, 128,
      40, 16, 71, 9'000 + seed % 6 * 1'100, names);
}

Kernel LayerNormKernel(int variant, bool backward, NamePool* names) {
  static constexpr std::array<std::string_view, 4> kTypes = {
      "float, float", "c10::BFloat16, float", "c10::BFloat16, c10::BFloat16", "c10::Half, float"};
  static constexpr std::array<std::string_view, 2> kFlags = {"false", "true"};
  const std::string types = Pick(kTypes, &variant);
  const std::string flag = Pick(kFlags, &variant);
  if (backward) {
    return MakeKernel(
        "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<" + types +
            ", " + flag + ">(float const*, float const*, float const*, float const*, float*, int)",
        4096, 256, 40, 2'080, 83, 17'000, names);
  }
  return MakeKernel("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<" +
                        types + ", " + flag +
                        ">(int, float, float const*, float const*, float*, float*)",
                    4096, 128, 32, 24, 88, 9'500, names);
}

Kernel AttentionKernel(int variant, bool backward, NamePool* names) {
  static constexpr std::array<std::string_view, 6> kKnobs = {"7", "26", "31", "12", "44", "3"};
  static constexpr std::array<std::string_view, 3> kTiles = {"64x128x64_4x1x1", "64x64x64_1x4x1",
                                                             "128x128x64_4x1x1"};
  const std::string knob = Pick(kKnobs, &variant);
  const std::string tile = Pick(kTiles, &variant);
  Kernel kernel = MakeKernel(
      std::string("cudnn_generated_fort_native_sdpa_sm90_flash_") + (backward ? "bprop" : "fprop") +
          "_wgmma_f16_knob_" + knob + "_" + tile + "_cga1x1x1_kernel0_0",
      backward ? 768 : 384, 384, 168, 180'224, 18, backward ? 148'000 : 61'000, names);
  kernel.launched_by_driver = true;
  return kernel;
}

Kernel FusedKernel(int variant, NamePool* names) {
  static constexpr std::array<std::string_view, 6> kKinds = {
      "poi_fused", "red_fused", "per_fused", "poi_fused__to_copy", "tem_fused", "for_fused"};
  static constexpr std::array<std::string_view, 7> kOps = {
      "add_mul",   "native_layer_norm_view", "gelu_tanh_mul_pow",       "native_dropout_add",
      "cat_split", "sum_backward",           "embedding_dense_backward"};
  constexpr int kFusedCount = 1009;  // A prime: every stride through it visits all.
  const int number = variant % kFusedCount;
  const std::string kind = Pick(kKinds, &variant);
  const std::string ops = Pick(kOps, &variant);
  Kernel kernel = MakeKernel("triton_" + kind + "_" + ops + "_" + std::to_string(number), 3072, 256,
                             26, 0, 97, 7'400 + number % 9 * 800, names);
  kernel.launched_by_driver = true;
  return kernel;
}

Kernel MultiTensorKernel(int variant, NamePool* names) {
  static constexpr std::array<std::string_view, 7> kFunctors = {
      "BinaryOpScalarFunctor<float, 1, 1, 0>, std::multiplies<float>",
      "BinaryOpListAlphaFunctor<float, 2, 2, 0>, std::plus<float>",
      "PointwiseOpScalarFunctor<float, 3, 3, 0>, std::multiplies<float>",
      "UnaryOpFunctor<float, 2, 1, 1>, at::native::Sqrt<float>",
      "BinaryOpScalarListFunctor<float, 1, 1, 0>, std::divides<float>",
      "TernaryOpScalarFunctor<float, 2, 2, 0>, at::native::LerpFunctor<float>",
      "PointwiseOpScalarListFunctor<float, 3, 3, 0>, std::divides<float>"};
  static constexpr std::array<std::string_view, 3> kDepths = {"2", "3", "4"};
  const std::string functor = Pick(kFunctors, &variant);
  const std::string metadata =
      "at::native::(anonymous namespace)::TensorListMetadata<" + Pick(kDepths, &variant) + ">";
  const std::string arguments = metadata + ", at::native::(anonymous namespace)::" + functor;
  return MakeKernel("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<" +
                        arguments + " >(" + arguments + ")",
                    320, 512, 32, 0, 61, 26'000, names);
}

}  // namespace stepscope::generate
