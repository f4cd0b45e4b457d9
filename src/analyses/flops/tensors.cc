#include "analyses/flops/tensors.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <string>

namespace stepscope {
namespace {

// Bounds for hostile inputs; no operator comes near them.
constexpr size_t kMostTensors = 4096;
constexpr size_t kMostDims = 32;

struct TypeWord {
  std::string_view word;  // in small letters, without the prefixes below
  DataType type;
  double bytes;
};
constexpr TypeWord kTypeWords[] = {
    {"double", DataType::kFloat64, 8},
    {"float64", DataType::kFloat64, 8},
    {"float", DataType::kFloat32, 4},
    {"float32", DataType::kFloat32, 4},
    {"hf32", DataType::kTensorFloat32, 4},
    {"half", DataType::kFloat16, 2},
    {"float16", DataType::kFloat16, 2},
    {"bfloat16", DataType::kBFloat16, 2},
    {"bf16", DataType::kBFloat16, 2},
    {"float8_e4m3fn", DataType::kFloat8, 1},
    {"float8_e5m2", DataType::kFloat8, 1},
    {"float8_e4m3fnuz", DataType::kFloat8, 1},
    {"float8_e5m2fnuz", DataType::kFloat8, 1},
    {"int8", DataType::kInt8, 1},
    {"signed char", DataType::kInt8, 1},
    {"char", DataType::kInt8, 1},
    {"uint8", DataType::kInt8, 1},
    {"unsigned char", DataType::kInt8, 1},
    {"bool", DataType::kOther, 1},
    {"short", DataType::kOther, 2},
    {"int16", DataType::kOther, 2},
    {"uint16", DataType::kOther, 2},
    {"int", DataType::kOther, 4},
    {"int32", DataType::kOther, 4},
    {"uint32", DataType::kOther, 4},
    {"long int", DataType::kOther, 8},
    {"long", DataType::kOther, 8},
    {"int64", DataType::kOther, 8},
    {"uint64", DataType::kOther, 8},
    {"long long", DataType::kOther, 8},
    {"complex64", DataType::kOther, 8},
    {"complex128", DataType::kOther, 16},
};

const TypeWord* find_type(std::string_view word) {
  std::string small;
  for (const char c : word.substr(0, 64))
    small += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  std::string_view rest = small;
  for (const std::string_view prefix : {"c10::", "number_type_", "dt_", "torch."}) {
    if (rest.starts_with(prefix)) rest.remove_prefix(prefix.size());
  }
  const auto* found = std::find_if(std::begin(kTypeWords), std::end(kTypeWords),
                                   [&](const TypeWord& entry) { return entry.word == rest; });
  return found == std::end(kTypeWords) ? nullptr : found;
}

bool is_space(char c) { return c == ' ' || c == '\r' || c == '\n' || c == '\t' || c == '"'; }
std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// "2, 3" -> {2, 3}; false when it is something else.
bool parse_dims(std::string_view text, Dims& dims) {
  dims.clear();
  text = trim(text);
  while (!text.empty()) {
    int64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || size < 0 || dims.size() == kMostDims) return false;
    dims.push_back(size);
    text = trim(text.substr(static_cast<size_t>(end - text.data())));
    if (text.empty()) break;
    if (text.front() != ',') return false;
    text = trim(text.substr(1));
  }
  return true;
}

// "[[2, 3], [], [[4], [5]]]": what is at depth two is a tensor; deeper ones are those of a list,
// which are left out: their place among the inputs is that of the list.
bool split_brackets(std::string_view text, std::vector<Dims>& shapes) {
  int depth = 0;
  size_t begin = 0;
  bool has_inner = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') {
      ++depth;
      if (depth == 2) {
        begin = i + 1;
        has_inner = false;
      }
      if (depth > 2) has_inner = true;
    } else if (text[i] == ']') {
      if (depth == 2) {
        Dims dims;
        if (!has_inner && !parse_dims(text.substr(begin, i - begin), dims)) return false;
        if (shapes.size() == kMostTensors) return false;
        shapes.push_back(std::move(dims));
      }
      if (--depth < 0) return false;
    }
  }
  return depth == 0;
}

// "2,3;4;;" with line ends anywhere.
bool split_semicolons(std::string_view text, std::vector<Dims>& shapes) {
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(';', begin), text.size());
    Dims dims;
    if (!parse_dims(text.substr(begin, end - begin), dims)) return false;
    if (shapes.size() == kMostTensors) return false;
    shapes.push_back(std::move(dims));
    begin = end + 1;
  }
  return true;
}

// One word for each input: a JSON list, or separated by semicolons or commas.
std::vector<std::string_view> split_types(std::string_view text) {
  text = trim(text);
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  const char separator = text.find(';') != std::string_view::npos ? ';' : ',';
  std::vector<std::string_view> words;
  if (text.empty()) return words;
  for (size_t begin = 0; begin <= text.size() && words.size() < kMostTensors;) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    words.push_back(trim(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return words;
}

bool has_letters(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

}  // namespace

std::string_view data_type_name(DataType type) {
  constexpr std::string_view kNames[kDataTypeCount] = {
      "unknown", "float64", "float32", "tf32", "float16", "bfloat16", "float8", "int8", "other"};
  return kNames[static_cast<size_t>(type)];
}

DataType parse_data_type(std::string_view word) {
  const TypeWord* found = find_type(word);
  return found == nullptr ? DataType::kUnknown : found->type;
}

double bytes_of_type(std::string_view word) {
  const TypeWord* found = find_type(word);
  return found == nullptr ? std::nan("") : found->bytes;
}

double elements(const Dims& dims) {
  double product = 1;
  for (const int64_t size : dims) product *= static_cast<double>(size);
  return product;
}

double bytes_of(const Tensor& tensor) { return elements(tensor.dims) * tensor.element_bytes; }

double bytes_of(const std::vector<Tensor>& tensors) {
  double bytes = 0;
  for (const Tensor& tensor : tensors) bytes += bytes_of(tensor);
  return bytes;
}

std::vector<Tensor> parse_tensors(std::string_view shapes, std::string_view types) {
  // A writer of Ascend's databases exchanges the two columns.
  if (has_letters(shapes) && !has_letters(types)) std::swap(shapes, types);
  std::vector<Dims> all;
  const std::string_view text = trim(shapes);
  if (text.empty()) return {};
  const bool read = text.front() == '[' ? split_brackets(text, all) : split_semicolons(text, all);
  if (!read) return {};
  const std::vector<std::string_view> words = split_types(types);
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < all.size(); ++i) {
    const TypeWord* type = i < words.size() ? find_type(words[i]) : nullptr;
    // Without sizes it is a tensor of one element only if its type is one of tensors': Python's own
    // numbers are "Scalar", and "double" or "int" there mean a number too.
    if (all[i].empty()) continue;
    Tensor tensor;
    tensor.dims = std::move(all[i]);
    tensor.type = type == nullptr ? DataType::kUnknown : type->type;
    tensor.element_bytes = type == nullptr ? std::nan("") : type->bytes;
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace stepscope
