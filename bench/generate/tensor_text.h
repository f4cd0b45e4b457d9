// Shapes and types of an operator's inputs as Kineto writes them.

#ifndef STEPSCOPE_BENCH_GENERATE_TENSOR_TEXT_H_
#define STEPSCOPE_BENCH_GENERATE_TENSOR_TEXT_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace stepscope::generate {

// "[2, 3]"
inline std::string Shape(std::initializer_list<int64_t> sizes) {
  std::string text;
  for (const int64_t size : sizes) text += (text.empty() ? "[" : ", ") + std::to_string(size);
  return text + "]";
}

// The arguments of an operator whose inputs have these shapes; "[]" is a scalar.
inline std::string Tensors(std::initializer_list<std::string_view> dims) {
  std::string types;
  std::string sizes;
  for (const std::string_view dim : dims) {
    const char* comma = types.empty() ? "" : ", ";
    types += comma;
    sizes += comma;
    types += dim == "[]" ? "\"Scalar\"" : "\"c10::BFloat16\"";
    sizes += dim;
  }
  return "\"Input type\": [" + types + "], \"Input Dims\": [" + sizes + "]";
}

}  // namespace stepscope::generate

#endif  // STEPSCOPE_BENCH_GENERATE_TENSOR_TEXT_H_
