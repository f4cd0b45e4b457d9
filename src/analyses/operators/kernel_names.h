// What the name of a GPU kernel says about it.
#ifndef STEPSCOPE_ANALYSES_OPERATORS_KERNEL_NAMES_H_
#define STEPSCOPE_ANALYSES_OPERATORS_KERNEL_NAMES_H_

#include <string_view>

namespace stepscope {

// Whether the kernel uses tensor cores: the words of NVIDIA's libraries up to Ampere, which the
// TensorBoard plugin knows, and those of Hopper and Blackwell, which it does not.
bool uses_tensor_cores(std::string_view kernel_name);

// Whether the kernel computes in 64 bits, as far as its name says so: a library's word for it or a
// template's type.
bool is_double_precision(std::string_view kernel_name);

// gemm, convolution, attention, normalisation, softmax, embedding, reduction, optimizer,
// elementwise, copy, set, communication or other.
std::string_view kernel_kind(std::string_view kernel_name);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_OPERATORS_KERNEL_NAMES_H_
