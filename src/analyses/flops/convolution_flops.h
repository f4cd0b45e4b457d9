// Convolutions, forward and backward. Their shapes are spread over several operators.
#ifndef STEPSCOPE_ANALYSES_FLOPS_CONVOLUTION_FLOPS_H_
#define STEPSCOPE_ANALYSES_FLOPS_CONVOLUTION_FLOPS_H_

#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/flops/flop_formulas.h"
#include "analyses/flops/operator_rules.h"

namespace stepscope {

// A convolution's output is not among the inputs of the operator that computes it. Its backward
// operators have it: they tell the others.
class ConvolutionShapes {
 public:
  // Learns from `calls` calls of an operator if it is one of a convolution.
  void learn(std::string_view operator_name, const std::vector<Tensor>& inputs, int64_t calls);

  // Output of input and weight; nullptr when nobody told.
  const Dims* output(const Dims& input, const Dims& weight) const;
  // Weights per output channel of a convolution with this input and output, the mean over calls
  // when several have these: then sums over all calls are right. NaN when nobody told.
  double weights_per_output(const Dims& input, const Dims& output) const;

 private:
  struct Weight {
    Dims dims;
    double calls;
  };
  std::map<std::pair<Dims, Dims>, Dims> outputs_;  // by input and weight
  std::multimap<Dims, Weight> weights_of_;         // by input
  std::multimap<Dims, Dims> outputs_of_;           // by input
};

// Nothing when a shape is missing.
std::optional<FlopCount> count_convolution(FlopRule rule, const OperatorCall& call,
                                           const ConvolutionShapes& shapes);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_FLOPS_CONVOLUTION_FLOPS_H_
