// Shapes and data types of tensors as the inputs write them.
#ifndef STEPSCOPE_ANALYSES_FLOPS_TENSORS_H_
#define STEPSCOPE_ANALYSES_FLOPS_TENSORS_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace stepscope {

enum class DataType : uint8_t {
  kUnknown,
  kFloat64,
  kFloat32,
  kTensorFloat32,  // 32-bit numbers that tensor cores multiply with fewer bits
  kFloat16,
  kBFloat16,
  kFloat8,
  kInt8,
  kOther,
};
inline constexpr size_t kDataTypeCount = 9;

std::string_view data_type_name(DataType type);
// "c10::BFloat16", "DT_BF16", "NUMBER_TYPE_FLOAT32", "Half" ...
DataType parse_data_type(std::string_view word);
// NaN when the word says nothing.
double bytes_of_type(std::string_view word);

using Dims = std::vector<int64_t>;
double elements(const Dims& dims);

struct Tensor {
  Dims dims;
  DataType type = DataType::kUnknown;
  double element_bytes = 0;  // NaN: not known
};

// NaN when a data type is not known.
double bytes_of(const Tensor& tensor);
double bytes_of(const std::vector<Tensor>& tensors);

// The tensors among the inputs, in order: scalars, lists and absent inputs are left out. Knows the
// notations of Kineto ("[[2, 3], []]"), of Ascend ("2,3;4") and of MindSpore; empty when a shape is
// not a shape, has negative sizes (dynamic), or there is nothing.
std::vector<Tensor> parse_tensors(std::string_view shapes, std::string_view types);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_FLOPS_TENSORS_H_
