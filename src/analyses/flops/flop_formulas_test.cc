#include "analyses/flops/flop_formulas.h"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "analyses/flops/convolution_flops.h"
#include "analyses/flops/device_peaks.h"

namespace stepscope {
namespace {

double flops(std::string_view name, std::string_view shapes, std::string_view types = "",
             const ConcreteInputs& concrete = {}, std::string_view outputs = "") {
  OperatorCall call;
  call.name = name;
  call.inputs = parse_tensors(shapes, types);
  call.outputs = parse_tensors(outputs, "");
  call.concrete = concrete;
  ConvolutionShapes shapes_known;
  shapes_known.learn(name, call.inputs, 1);
  const auto count = count_flops(call, shapes_known);
  return count ? count->flops : -1;
}

TEST(FlopFormulas, MatrixProducts) {
  EXPECT_EQ(flops("aten::mm", "[[2, 3], [3, 5]]"), 2 * 2 * 3 * 5);
  EXPECT_EQ(flops("aten::addmm", "[[5], [2, 3], [3, 5], [], []]"), 60);
  EXPECT_EQ(flops("aten::bmm", "[[7, 2, 3], [7, 3, 5]]"), 7 * 60);
  EXPECT_EQ(flops("aten::baddbmm", "[[7, 2, 5], [7, 2, 3], [7, 3, 5], [], []]"), 7 * 60);
  EXPECT_EQ(flops("aten::linear", "[[4, 2, 3], [5, 3], [5]]"), 4 * 60);
  EXPECT_EQ(flops("aten::matmul", "[[4, 1, 2, 3], [6, 3, 5]]"), 4 * 6 * 60);
  EXPECT_EQ(flops("aten::matmul", "[[3], [3, 5]]"), 30);
  EXPECT_EQ(flops("aten::mv", "[[2, 3], [3]]"), 12);
  EXPECT_EQ(flops("aten::mm", "[[2, 3], [4, 5]]"), -1) << "shapes that cannot be multiplied";
  EXPECT_EQ(flops("aten::mm", ""), -1);
}

TEST(FlopFormulas, TransposedOperandsAreFoundByTheSharedSize) {
  EXPECT_EQ(flops("MatMul", "[[32, 120], [84, 120], [], []]"), 2 * 32 * 120 * 84);
  EXPECT_EQ(flops("MatMul", "[[32, 84], [32, 120]]"), 2 * 84 * 32 * 120);
  EXPECT_EQ(flops("MatMulV2", "32,10;10,84;84"), 2 * 32 * 10 * 84);
  EXPECT_EQ(flops("BatchMatMul", "[[8, 12, 64], [8, 12, 64]]"), 8 * 2 * 12 * 64 * 12);
  EXPECT_EQ(flops("BatchMatMul", "[[8, 12, 64], [8, 12, 64]]", "", {}, "[[8, 64, 64]]"),
            8 * 2 * 64 * 12 * 64)
      << "the output decides";
}

TEST(FlopFormulas, Convolutions) {
  const double forward = 2.0 * 32 * 64 * 112 * 112 * 3 * 7 * 7;
  EXPECT_EQ(flops("aten::convolution_backward",
                  "[[32, 64, 112, 112], [32, 3, 224, 224], [64, 3, 7, 7], [0], [], [], []]"),
            2 * forward);
  EXPECT_EQ(
      flops("aten::convolution_backward", "[[32, 64, 112, 112], [32, 3, 224, 224], [64, 3, 7, 7]]",
            "", {"", "", "", "", "[False, True, False]"}),
      forward)
      << "the first layer needs no gradient of its input";
  EXPECT_EQ(flops("aten::convolution", "[[32, 3, 224, 224], [64, 3, 7, 7]]", "",
                  {"", "", "", "[2, 2]", "[3, 3]", "[1, 1]", "False", "[0, 0]", "1"}),
            forward);
  EXPECT_EQ(flops("aten::conv2d", "[[32, 3, 224, 224], [64, 3, 7, 7]]"), -1)
      << "the size of the output is not known";
  // Groups: the weight has a part of the channels.
  EXPECT_EQ(flops("aten::convolution_backward", "[[1, 8, 4, 4], [1, 8, 4, 4], [8, 1, 3, 3]]"),
            2 * 2 * 8 * 16 * 9);
  EXPECT_EQ(flops("aten::conv_transpose2d", "[[1, 8, 4, 4], [8, 16, 2, 2]]"), 2 * 8 * 16 * 16 * 4);
  EXPECT_EQ(flops("Conv2DBackpropInput", "[[32, 16, 10, 10], [16, 6, 5, 5], [4]]"),
            2.0 * 32 * 16 * 100 * 6 * 25);
  EXPECT_EQ(flops("Conv2D", "32,1,32,32,16;25,1,16,16", "FLOAT16;FLOAT16", {}, "32,1,28,28,16"),
            2.0 * 32 * 28 * 28 * 25 * 16 * 16)
      << "Ascend's blocks";
}

TEST(FlopFormulas, ConvolutionsLearnFromOneAnother) {
  ConvolutionShapes shapes;
  const auto learn = [&](std::string_view name, std::string_view text, int64_t calls) {
    shapes.learn(name, parse_tensors(text, ""), calls);
  };
  // Two weights with one input and output; three calls of the one, one of the other.
  learn("aten::cudnn_convolution", "[[1, 8, 4, 4], [8, 8, 3, 3]]", 3);
  learn("aten::cudnn_convolution", "[[1, 8, 4, 4], [8, 8, 1, 1]]", 1);
  learn("aten::cudnn_convolution_backward_weight", "[[], [1, 8, 4, 4], [1, 8, 4, 4]]", 4);
  EXPECT_EQ(shapes.weights_per_output({1, 8, 4, 4}, {1, 8, 4, 4}), (3 * 72 + 8) / 4.0);
  const Dims* output = shapes.output({1, 8, 4, 4}, {8, 8, 3, 3});
  ASSERT_NE(output, nullptr);
  EXPECT_EQ(*output, (Dims{1, 8, 4, 4}));
  EXPECT_EQ(shapes.output({1, 9, 4, 4}, {8, 9, 3, 3}), nullptr);
  EXPECT_TRUE(std::isnan(shapes.weights_per_output({1, 9, 4, 4}, {1, 8, 4, 4})));
}

TEST(FlopFormulas, Attention) {
  const double forward = 4.0 * 8 * 12 * 512 * 512 * 64;
  EXPECT_EQ(flops("aten::_scaled_dot_product_flash_attention",
                  "[[8, 12, 512, 64], [8, 12, 512, 64], [8, 12, 512, 64], [], []]"),
            forward);
  EXPECT_EQ(flops("aten::_flash_attention_forward",
                  "[[8, 512, 12, 64], [8, 512, 12, 64], [8, 512, 12, 64]]"),
            forward);
  EXPECT_EQ(flops("aten::_cudnn_attention_backward",
                  "[[8, 12, 512, 64], [8, 12, 512, 64], [8, 12, 512, 64], [8, 12, 512, 64]]"),
            2 * forward);
  // Fewer heads of keys and values, other length.
  EXPECT_EQ(flops("aten::scaled_dot_product_attention",
                  "[[1, 8, 10, 64], [1, 2, 20, 64], [1, 2, 20, 64]]"),
            4.0 * 8 * 10 * 20 * 64);
}

TEST(FlopFormulas, TheRestIsByElement) {
  EXPECT_EQ(flops("aten::add_", "[[4, 1], [3]]"), 12);
  EXPECT_EQ(flops("aten::native_layer_norm", "[[2, 10], [], [10], [10], []]"), 100);
  EXPECT_EQ(flops("aten::_softmax", "[[2, 10], [], []]"), 100);
  EXPECT_EQ(flops("aten::sum", "[[2, 10], []]"), 20);
  EXPECT_EQ(flops("aten::embedding", "[[100, 10], [2, 3]]"), 0);
  EXPECT_EQ(flops("aten::copy_", "[[2, 10], [2, 10], []]"), 0);
  EXPECT_EQ(flops("ReduceMeanD", "[[2, 10]]"), 20);
  EXPECT_EQ(flops("aten::view", "[[2, 10], []]"), -1);
  EXPECT_EQ(flops("autograd::engine::evaluate_function: MmBackward0", "[[2, 3], [3, 5]]"), -1);
}

TEST(FlopFormulas, BytesFollowTheTypes) {
  OperatorCall call;
  call.name = "aten::mm";
  call.inputs = parse_tensors("[[2, 3], [3, 5]]", R"(["c10::BFloat16", "c10::BFloat16"])");
  const auto count = count_flops(call, ConvolutionShapes());
  ASSERT_TRUE(count.has_value());
  EXPECT_EQ(count->type, DataType::kBFloat16);
  EXPECT_EQ(count->bytes, 2 * (6 + 15 + 10));
  call.inputs = parse_tensors("[[2, 3], [3, 5]]", "");
  EXPECT_TRUE(std::isnan(count_flops(call, ConvolutionShapes())->bytes));
}

TEST(Tensors, EveryNotation) {
  const auto text = [](std::string_view shapes, std::string_view types) {
    std::string all;
    for (const Tensor& tensor : parse_tensors(shapes, types)) {
      for (const int64_t size : tensor.dims) all += std::to_string(size) + " ";
      all += std::string(data_type_name(tensor.type)) + "|";
    }
    return all;
  };
  EXPECT_EQ(text("[[2, 3], [], [4]]", R"(["float", "Scalar", "long int"])"),
            "2 3 float32|4 other|");
  EXPECT_EQ(text("32,3;\r\n64;\r\n;\r\n", "float;\r\nc10::Half;\r\nNone;\r\n"),
            "32 3 float32|64 float16|");
  EXPECT_EQ(text("32,3;64", "FLOAT;DT_BF16"), "32 3 float32|64 bfloat16|");
  EXPECT_EQ(text("[[2, 3]]", "NUMBER_TYPE_FLOAT16"), "2 3 float16|");
  EXPECT_EQ(text("float;\r\nScalar", "32,3;\r\n"), "32 3 float32|") << "exchanged columns";
  EXPECT_EQ(text("[[[2, 3], [4]], [5]]", R"(["TensorList", "float"])"), "5 float32|");
  EXPECT_EQ(text("[[-1, 3]]", ""), "") << "a dynamic size is not known";
  EXPECT_EQ(text("[[2, x]]", ""), "");
  EXPECT_EQ(text("[[2, 3]", ""), "");
  EXPECT_EQ(text("]]][[[", ""), "");
  EXPECT_EQ(text("[[99999999999999999999]]", ""), "");
  EXPECT_EQ(text(std::string(100'000, '['), ""), "");
}

TEST(DevicePeaks, NamesOfDevices) {
  EXPECT_EQ(known_peaks("NVIDIA H200")->bfloat16, 989.4e12);
  EXPECT_EQ(known_peaks("NVIDIA H100 PCIe")->bfloat16, 756e12);
  EXPECT_EQ(known_peaks("NVIDIA H20")->bfloat16, 148e12);
  EXPECT_EQ(known_peaks("NVIDIA A100-SXM4-80GB")->float16, 312e12);
  EXPECT_EQ(known_peaks("NVIDIA A10")->float16, 125e12);
  EXPECT_EQ(known_peaks("Tesla V100-SXM2-32GB")->matrix_rate(DataType::kFloat32), 15.7e12);
  EXPECT_EQ(known_peaks("Tesla V100-SXM2-32GB")->matrix_rate(DataType::kTensorFloat32), 15.7e12);
  EXPECT_EQ(known_peaks("NVIDIA GB200")->bfloat16, 2500e12);
  EXPECT_EQ(known_peaks("AMD Instinct MI300X")->float16, 1307.4e12);
  EXPECT_EQ(known_peaks("Ascend910B3")->float16, 294.9e12);
  EXPECT_EQ(known_peaks("Ascend910B3")->matrix_rate(DataType::kFloat32), 73.72e12);
  EXPECT_EQ(known_peaks("Ascend910_9391")->float16, 353.9e12);
  EXPECT_FALSE(known_peaks("Ascend910B").has_value()) << "the variant is not said";
  EXPECT_FALSE(known_peaks("").has_value());
  DeviceProperties ascend;
  ascend.ai_cores = 32;
  ascend.ai_core_hz = 1e9;
  EXPECT_EQ(device_peaks(ascend)->float16, 1e9 * 32 * 4096 * 2);
}

}  // namespace
}  // namespace stepscope
