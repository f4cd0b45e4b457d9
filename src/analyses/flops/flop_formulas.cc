#include "analyses/flops/flop_formulas.h"

#include <algorithm>
#include <cmath>

#include "analyses/flops/convolution_flops.h"
#include "analyses/flops/operator_rules.h"

namespace stepscope {
namespace {

// Operations for each element.
constexpr double kNormalisationFlops = 5;  // mean, variance, difference, scale, shift
constexpr double kNormalisationBackwardFlops = 10;
constexpr double kSoftmaxFlops = 5;  // largest, difference, exponential, sum, quotient
constexpr double kSoftmaxBackwardFlops = 4;

// Sizes of the leading dimensions of both, where one may be 1 or missing.
double batch_of(const Dims& a, const Dims& b) {
  double batch = 1;
  const size_t most = std::max(a.size(), b.size());
  for (size_t i = 2; i < most; ++i) {
    const int64_t in_a = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t in_b = i < b.size() ? b[b.size() - 1 - i] : 1;
    batch *= static_cast<double>(std::max(in_a, in_b));
  }
  return batch;
}

struct Product {
  double flops = 0;
  double outputs = 0;
};

Product product_of(double batch, int64_t m, int64_t n, int64_t k) {
  const double outputs = batch * static_cast<double>(m) * static_cast<double>(n);
  return {2 * outputs * static_cast<double>(k), outputs};
}

std::optional<Product> multiply(const Dims& a, const Dims& b) {
  if (a.empty() || b.empty()) return std::nullopt;
  const int64_t k = a.back();
  const int64_t m = a.size() > 1 ? a[a.size() - 2] : 1;
  const int64_t b_rows = b.size() > 1 ? b[b.size() - 2] : b.back();
  const int64_t n = b.size() > 1 ? b.back() : 1;
  if (k != b_rows) return std::nullopt;
  return product_of(batch_of(a, b), m, n, k);
}

// The dimension that both share is the one that is summed over; where several are equal the order
// without transposition is taken first, then that of a dense layer.
std::optional<Product> multiply_any_order(const Dims& a, const Dims& b, const Dims* output) {
  if (a.size() < 2 || b.size() < 2) return std::nullopt;
  const int64_t p = a[a.size() - 2];
  const int64_t q = a.back();
  const int64_t r = b[b.size() - 2];
  const int64_t s = b.back();
  const double batch = batch_of(a, b);
  struct Order {
    bool possible;
    int64_t m, n, k;
  };
  const Order orders[] = {
      {q == r, p, s, q}, {q == s, p, r, q}, {p == r, q, s, p}, {p == s, q, r, p}};
  for (const Order& order : orders) {
    if (!order.possible) continue;
    if (output != nullptr && output->size() >= 2 &&
        (output->back() != order.n || (*output)[output->size() - 2] != order.m))
      continue;
    return product_of(batch, order.m, order.n, order.k);
  }
  return std::nullopt;
}

std::optional<FlopCount> matrix_product(const std::vector<Tensor>& inputs, size_t first,
                                        const std::optional<Product>& product) {
  if (!product) return std::nullopt;
  FlopCount count;
  count.kind = FlopKind::kMatmul;
  count.type = inputs[first].type;
  count.flops = product->flops;
  count.bytes = bytes_of(inputs) + product->outputs * inputs[first].element_bytes;
  return count;
}

// Scores and their product with the values forward; four products of that size backward.
std::optional<FlopCount> attention(const std::vector<Tensor>& inputs, size_t first,
                                   bool sequence_first, bool backward) {
  if (inputs.size() < first + 3) return std::nullopt;
  const Dims& q = inputs[first].dims;
  const Dims& k = inputs[first + 1].dims;
  const Dims& v = inputs[first + 2].dims;
  if (q.size() != 4 || k.size() != 4 || v.size() != 4) return std::nullopt;
  const size_t sequence = sequence_first ? 1 : 2;
  const double head_rows = elements(q) / static_cast<double>(std::max<int64_t>(q[3], 1));
  const double keys = static_cast<double>(k[sequence]);
  const double forward =
      2 * head_rows * keys * (static_cast<double>(q[3]) + static_cast<double>(v[3]));
  FlopCount count;
  count.kind = FlopKind::kAttention;
  count.type = inputs[first].type;
  count.flops = backward ? 2 * forward : forward;
  const double once =
      bytes_of(inputs[first]) + bytes_of(inputs[first + 1]) + bytes_of(inputs[first + 2]);
  const double output = bytes_of(inputs[first]);
  count.bytes = backward ? 2 * once + 2 * output : once + output;
  return count;
}

FlopCount per_element(FlopKind kind, const Tensor& tensor, double each, double bytes) {
  return {kind, tensor.type, each * elements(tensor.dims), bytes};
}

// Elements of the output of inputs that are stretched to one another's size.
double broadcast_elements(const std::vector<Tensor>& inputs) {
  size_t most = 0;
  for (const Tensor& tensor : inputs) most = std::max(most, tensor.dims.size());
  double product = 1;
  for (size_t i = 0; i < most; ++i) {
    int64_t size = 1;
    for (const Tensor& tensor : inputs) {
      if (i < tensor.dims.size()) size = std::max(size, tensor.dims[tensor.dims.size() - 1 - i]);
    }
    product *= static_cast<double>(size);
  }
  return product;
}

std::optional<FlopCount> elementwise(const std::vector<Tensor>& inputs, double each) {
  const double outputs = broadcast_elements(inputs);
  return FlopCount{FlopKind::kElementwise, inputs[0].type, each * outputs,
                   bytes_of(inputs) + outputs * inputs[0].element_bytes};
}

}  // namespace

std::string_view flop_kind_name(FlopKind kind) {
  constexpr std::string_view kNames[] = {"matmul",        "convolution", "attention",
                                         "normalisation", "softmax",     "elementwise",
                                         "reduction",     "embedding",   "copy"};
  return kNames[static_cast<size_t>(kind)];
}

bool may_be_matrix_work(std::string_view operator_name) {
  const FlopRule rule = flop_rule(operator_name);
  return rule != FlopRule::kNone && rule < FlopRule::kNormalisation;
}

std::optional<FlopCount> count_flops(const OperatorCall& call, const ConvolutionShapes& shapes) {
  const FlopRule rule = flop_rule(call.name);
  const std::vector<Tensor>& inputs = call.inputs;
  if (rule == FlopRule::kNone || inputs.empty()) return std::nullopt;
  const Tensor& first = inputs[0];
  const double twice = 2 * bytes_of(first);
  switch (rule) {
    case FlopRule::kNone:
      return std::nullopt;
    case FlopRule::kMatmul:
      if (inputs.size() < 2) return std::nullopt;
      return matrix_product(inputs, 0, multiply(inputs[0].dims, inputs[1].dims));
    case FlopRule::kMatmulAdd:
      if (inputs.size() < 3) return std::nullopt;
      return matrix_product(inputs, 1, multiply(inputs[1].dims, inputs[2].dims));
    case FlopRule::kMatmulAnyOrder:
      if (inputs.size() < 2) return std::nullopt;
      return matrix_product(
          inputs, 0,
          multiply_any_order(inputs[0].dims, inputs[1].dims,
                             call.outputs.empty() ? nullptr : &call.outputs[0].dims));
    case FlopRule::kLinear: {
      if (inputs.size() < 2 || inputs[1].dims.size() != 2 || first.dims.empty() ||
          first.dims.back() != inputs[1].dims[1])
        return std::nullopt;
      const double rows =
          elements(first.dims) / static_cast<double>(std::max<int64_t>(first.dims.back(), 1));
      const double outputs = rows * static_cast<double>(inputs[1].dims[0]);
      return matrix_product(inputs, 0,
                            Product{2 * outputs * static_cast<double>(first.dims.back()), outputs});
    }
    case FlopRule::kConvolution:
    case FlopRule::kConvolutionTransposed:
    case FlopRule::kConvolutionBackward:
    case FlopRule::kConvolutionBackwardOld:
    case FlopRule::kConvolutionBackwardInput:
    case FlopRule::kConvolutionBackwardWeight:
      return count_convolution(rule, call, shapes);
    case FlopRule::kAttention:
      return attention(inputs, 0, /*sequence_first=*/false, /*backward=*/false);
    case FlopRule::kAttentionBackward:
      return attention(inputs, 1, /*sequence_first=*/false, /*backward=*/true);
    case FlopRule::kAttentionSequenceFirst:
      return attention(inputs, 0, /*sequence_first=*/true, /*backward=*/false);
    case FlopRule::kAttentionSequenceFirstBackward:
      return attention(inputs, 1, /*sequence_first=*/true, /*backward=*/true);
    case FlopRule::kNormalisation:
      return per_element(FlopKind::kNormalisation, first, kNormalisationFlops, twice);
    case FlopRule::kNormalisationBackward:
      return per_element(FlopKind::kNormalisation, first, kNormalisationBackwardFlops, 1.5 * twice);
    case FlopRule::kSoftmax:
      return per_element(FlopKind::kSoftmax, first, kSoftmaxFlops, twice);
    case FlopRule::kSoftmaxBackward:
      return per_element(FlopKind::kSoftmax, first, kSoftmaxBackwardFlops, 1.5 * twice);
    case FlopRule::kElementwise:
      return elementwise(inputs, 1);
    case FlopRule::kMomentum:
      return elementwise(inputs, 4);
    case FlopRule::kReduction:
      return per_element(FlopKind::kReduction, first, 1, bytes_of(first));
    case FlopRule::kEmbedding: {
      // As many rows as there are indices are read and written.
      if (inputs.size() < 2 || first.dims.size() < 2) return std::nullopt;
      const double row = bytes_of(first) / static_cast<double>(std::max<int64_t>(first.dims[0], 1));
      return FlopCount{FlopKind::kEmbedding, first.type, 0, 2 * row * elements(inputs[1].dims)};
    }
    case FlopRule::kEmbeddingBackward:
      return per_element(FlopKind::kEmbedding, first, 1, twice);
    case FlopRule::kCopy:
      return per_element(FlopKind::kCopy, first, 0, twice);
    case FlopRule::kCopyInto:
      return per_element(FlopKind::kCopy, first, 0,
                         bytes_of(first) + (inputs.size() > 1 ? bytes_of(inputs[1]) : 0));
  }
  return std::nullopt;
}

}  // namespace stepscope
