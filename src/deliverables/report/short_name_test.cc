#include "deliverables/report/short_name.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST(ShortName, KernelsCanBeToldApart) {
  const auto name = [](const char* text) { return short_name(text, 64); };
  EXPECT_EQ(
      name("void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda("
           "at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#7}::"
           "operator()() const::{lambda(float)#1}, std::array<char*, 2ul>, 4, "
           "TrivialOffsetCalculator<1, unsigned int>, at::native::memory::StoreWithCast<1> >("
           "int, at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3})"),
      "unrolled_elementwise_kernel<direct_copy_kernel_cuda, …>");
  EXPECT_EQ(
      name("void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<float, "
           "float, float, at::native::binary_internal::MulFunctor<float> >, std::array<char*, "
           "2ul> >(int, std::array<char*, 2ul>)"),
      "vectorized_elementwise_kernel<AUnaryF…<MulFunctor<float>, …>, …>");
  EXPECT_EQ(name("void at::native::(anonymous namespace)::cunn_SoftMaxBackward<4, float, float, "
                 "at::native::(anonymous namespace)::LogSoftMaxBackwardEpilogue>(float*, long)"),
            "cunn_SoftMaxBackward<LogSoftMaxBackwardEpilogue, …>");
  EXPECT_EQ(name("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_128x128_tn_align8>("
                 "cutlass_80_tensorop_bf16_s16816gemm_128x128_tn_align8::Params)"),
            "Kernel2<cutlass_80_tensorop_bf16_s16816gemm_128x128_tn_align8>");
}

TEST(ShortName, WhatFitsStaysAsItIs) {
  EXPECT_EQ(short_name("void at::native::k<4, float>(int)", 60),
            "void at::native::k<4, float>(int)");
  EXPECT_EQ(short_name("", 10), "");
}

TEST(ShortName, NamesThatAreNotUnderstoodLoseTheirMiddle) {
  EXPECT_EQ(short_name("nccl_0123456789_0123456789_ring", 21), "nccl_0123456…789_ring");
  // Unbalanced, or cut by whoever recorded them; none may be read behind its end.
  for (const char* text : {"void a::b<c<d, e::f", "a::b>c::d(e", "x::operator<(y)", "a::(((((((",
                           "::::::::::", "void <<<<<<<<<", "a::b(c)::{lambda("}) {
    const std::string shown = short_name(text, 8);
    EXPECT_LE(shown_width(shown), 8u) << text;
    EXPECT_FALSE(shown.empty()) << text;
  }
  EXPECT_EQ(shown_width(short_name("a::" + std::string(100'000, '<'), 40)), 40u);
}

TEST(ShortName, CharactersStayWhole) {
  EXPECT_EQ(short_name("训练步骤前向传播反向传播优化器", 9), "训练步骤…播优化器");
}

}  // namespace
}  // namespace stepscope
