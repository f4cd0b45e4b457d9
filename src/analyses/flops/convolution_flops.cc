#include "analyses/flops/convolution_flops.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace stepscope {
namespace {

double weight_per_output(const Dims& weight) {
  return weight.empty() || weight[0] == 0 ? 0 : elements(weight) / static_cast<double>(weight[0]);
}

FlopCount convolution_count(const Tensor& input, double flops, double bytes) {
  return {FlopKind::kConvolution, input.type, flops, bytes};
}

bool is_convolution_pair(const Dims& input, const Dims& weight) {
  return input.size() >= 3 && weight.size() == input.size();
}

std::vector<int64_t> numbers_in(std::string_view text) {
  std::vector<int64_t> numbers;
  for (const char* at = text.data(); at < text.data() + text.size();) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(at, text.data() + text.size(), number);
    if (error == std::errc()) numbers.push_back(number);
    at = error == std::errc() ? end : at + 1;
  }
  return numbers;
}

// Of aten::convolution and its kin: input, weight, bias, stride, padding, dilation. Those of cuDNN
// have padding, stride, dilation at places 2, 3, 4; only the common ones are understood.
std::optional<Dims> output_from_arguments(std::string_view name, const Dims& input,
                                          const Dims& weight, const ConcreteInputs& concrete) {
  if (name.find("cudnn") != std::string_view::npos ||
      name.find("miopen") != std::string_view::npos || concrete.size() < 6)
    return std::nullopt;
  const auto strides = numbers_in(concrete[3]);
  const auto paddings = numbers_in(concrete[4]);
  const auto dilations = numbers_in(concrete[5]);
  if (strides.empty() || paddings.empty() || dilations.empty()) return std::nullopt;
  const auto at = [](const std::vector<int64_t>& values, size_t i) {
    return values.size() == 1 ? values[0] : i < values.size() ? values[i] : 0;
  };
  Dims output = {input[0], weight[0]};
  for (size_t i = 2; i < input.size(); ++i) {
    const int64_t stride = at(strides, i - 2);
    if (stride <= 0) return std::nullopt;
    const int64_t reach = at(dilations, i - 2) * (weight[i] - 1);
    const int64_t size = (input[i] + 2 * at(paddings, i - 2) - reach - 1) / stride + 1;
    if (size <= 0) return std::nullopt;
    output.push_back(size);
  }
  return output;
}

// Ascend's own layout: input N, C1, H, W, C0 and weight C1 * kernel, N1, N0, C0, both padded to
// whole blocks. What the cube really multiplies, so more than the mathematics needs.
std::optional<FlopCount> padded_convolution(const OperatorCall& call) {
  if (call.inputs.size() < 2 || call.outputs.empty()) return std::nullopt;
  const Dims& input = call.inputs[0].dims;
  const Dims& weight = call.inputs[1].dims;
  const Dims& output = call.outputs[0].dims;
  if (input.size() != 5 || weight.size() != 4 || output.size() != 5) return std::nullopt;
  const double places = static_cast<double>(output[0]) * static_cast<double>(output[2]) *
                        static_cast<double>(output[3]);
  return convolution_count(call.inputs[0], 2 * places * elements(weight),
                           bytes_of(call.inputs) + bytes_of(call.outputs));
}

std::optional<FlopCount> convolution(const OperatorCall& call, const ConvolutionShapes& shapes) {
  const auto& inputs = call.inputs;
  if (inputs.size() < 2) return std::nullopt;
  const Dims& input = inputs[0].dims;
  const Dims& weight = inputs[1].dims;
  if (!is_convolution_pair(input, weight)) return padded_convolution(call);
  Dims output;
  if (!call.outputs.empty() && call.outputs[0].dims.size() == input.size()) {
    output = call.outputs[0].dims;
  } else if (const Dims* known = shapes.output(input, weight)) {
    output = *known;
  } else if (const auto computed = output_from_arguments(call.name, input, weight, call.concrete)) {
    output = *computed;
  } else {
    return std::nullopt;
  }
  return convolution_count(inputs[0], 2 * elements(output) * weight_per_output(weight),
                           bytes_of(inputs) + elements(output) * inputs[0].element_bytes);
}

std::optional<FlopCount> convolution_transposed(const std::vector<Tensor>& inputs) {
  if (inputs.size() < 2 || !is_convolution_pair(inputs[0].dims, inputs[1].dims))
    return std::nullopt;
  // Every input element meets the whole kernel of its channel; the output's size is not needed.
  const double flops = 2 * elements(inputs[0].dims) * weight_per_output(inputs[1].dims);
  return convolution_count(inputs[0], flops, std::nan(""));
}

// Of the gradients of input and weight, those that were asked for: "[True, True, False]".
double gradients_wanted(const ConcreteInputs& concrete) {
  if (concrete.empty() || concrete.back().find("rue") == std::string::npos) return 2;
  const std::string& mask = concrete.back();
  const size_t comma = mask.find(',');
  const size_t second = std::min(mask.find(',', comma + 1), mask.size());
  const bool input = mask.substr(0, comma).find("rue") != std::string::npos;
  const bool weight = comma != std::string::npos &&
                      mask.substr(comma, second - comma).find("rue") != std::string::npos;
  return (input ? 1 : 0) + (weight ? 1 : 0);
}

std::optional<FlopCount> convolution_backward(const Tensor& gradient, const Tensor& input,
                                              const Tensor& weight, double gradients) {
  if (!is_convolution_pair(input.dims, weight.dims) || gradient.dims.size() != input.dims.size())
    return std::nullopt;
  const double flops = gradients * 2 * elements(gradient.dims) * weight_per_output(weight.dims);
  // Each gradient reads two of the three and writes the third.
  const double bytes = gradients * (bytes_of(gradient) + bytes_of(input) + bytes_of(weight));
  return convolution_count(input, flops, bytes);
}

std::optional<FlopCount> convolution_backward_input(const std::vector<Tensor>& inputs) {
  if (inputs.size() < 2 || inputs[0].dims.size() < 3 ||
      inputs[1].dims.size() != inputs[0].dims.size())
    return std::nullopt;
  return convolution_count(
      inputs[0], 2 * elements(inputs[0].dims) * weight_per_output(inputs[1].dims), std::nan(""));
}

std::optional<FlopCount> convolution_backward_weight(const std::vector<Tensor>& inputs,
                                                     const ConvolutionShapes& shapes) {
  if (inputs.size() < 2) return std::nullopt;
  const Dims& output = inputs[0].dims;
  const double weights = shapes.weights_per_output(inputs[1].dims, output);
  if (std::isnan(weights)) return std::nullopt;
  const double bytes = bytes_of(inputs[0]) + bytes_of(inputs[1]) +
                       weights * static_cast<double>(output[1]) * inputs[0].element_bytes;
  return convolution_count(inputs[0], 2 * elements(output) * weights, bytes);
}

}  // namespace

void ConvolutionShapes::learn(std::string_view operator_name, const std::vector<Tensor>& inputs,
                              int64_t calls) {
  const auto add = [&](const Dims& input, const Dims& weight, const Dims& output) {
    if (!is_convolution_pair(input, weight) || output.size() != input.size()) return;
    outputs_.try_emplace({input, weight}, output);
  };
  if (inputs.size() < 2) return;
  switch (flop_rule(operator_name)) {
    case FlopRule::kConvolution:
      if (is_convolution_pair(inputs[0].dims, inputs[1].dims))
        weights_of_.emplace(inputs[0].dims, Weight{inputs[1].dims, static_cast<double>(calls)});
      return;
    case FlopRule::kConvolutionBackward:
      if (inputs.size() > 2) add(inputs[1].dims, inputs[2].dims, inputs[0].dims);
      return;
    case FlopRule::kConvolutionBackwardOld:
      if (inputs.size() > 2) add(inputs[0].dims, inputs[2].dims, inputs[1].dims);
      return;
    case FlopRule::kConvolutionBackwardWeight:
      outputs_of_.emplace(inputs[1].dims, inputs[0].dims);
      return;
    default:
      return;
  }
}

const Dims* ConvolutionShapes::output(const Dims& input, const Dims& weight) const {
  const auto known = outputs_.find({input, weight});
  if (known != outputs_.end()) return &known->second;
  const auto [first, last] = outputs_of_.equal_range(input);
  for (auto at = first; at != last; ++at) {
    if (at->second.size() > 1 && at->second[1] == weight[0]) return &at->second;
  }
  return nullptr;
}

double ConvolutionShapes::weights_per_output(const Dims& input, const Dims& output) const {
  double sum = 0;
  double calls = 0;
  const auto [first, last] = weights_of_.equal_range(input);
  for (auto at = first; at != last; ++at) {
    const Weight& weight = at->second;
    if (output.size() < 2 || weight.dims[0] != output[1]) continue;
    const auto known = outputs_.find({input, weight.dims});
    if (known != outputs_.end() && known->second != output) continue;
    sum += weight_per_output(weight.dims) * weight.calls;
    calls += weight.calls;
  }
  return calls > 0 ? sum / calls : std::nan("");
}

std::optional<FlopCount> count_convolution(FlopRule rule, const OperatorCall& call,
                                           const ConvolutionShapes& shapes) {
  const std::vector<Tensor>& inputs = call.inputs;
  switch (rule) {
    case FlopRule::kConvolution:
      return convolution(call, shapes);
    case FlopRule::kConvolutionTransposed:
      return convolution_transposed(inputs);
    case FlopRule::kConvolutionBackward:
      if (inputs.size() < 3) return std::nullopt;
      return convolution_backward(inputs[0], inputs[1], inputs[2], gradients_wanted(call.concrete));
    case FlopRule::kConvolutionBackwardOld:
      if (inputs.size() < 3) return std::nullopt;
      return convolution_backward(inputs[1], inputs[0], inputs[2], 2);
    case FlopRule::kConvolutionBackwardInput:
      return convolution_backward_input(inputs);
    case FlopRule::kConvolutionBackwardWeight:
      return convolution_backward_weight(inputs, shapes);
    default:
      return std::nullopt;
  }
}

}  // namespace stepscope
