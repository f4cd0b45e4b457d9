#include "python/native/arrays.h"

#include <nanobind/ndarray.h>

namespace nb = nanobind;

namespace stepscope::python {
namespace {

template <typename Element, typename T>
nb::object as_array(PodVector<T> values) {
  static_assert(sizeof(Element) == sizeof(T));
  static Element nothing{};  // NumPy wants an address even for no elements
  const size_t size = values.size();
  auto* owned = new PodVector<T>(std::move(values));
  const nb::capsule owner(owned,
                          [](void* held) noexcept { delete static_cast<PodVector<T>*>(held); });
  auto* data = size == 0 ? &nothing : reinterpret_cast<Element*>(owned->data());
  return nb::cast(nb::ndarray<nb::numpy, Element, nb::ndim<1>>(data, {size}, owner));
}

nb::object as_int(__int128 value) {
  const auto high = static_cast<long long>(value >> 64);
  const auto low = static_cast<unsigned long long>(value);
  const nb::object shifted = nb::int_(high) << nb::int_(64);
  return shifted | nb::int_(low);
}

nb::object values_of(ColumnData& column) {
  switch (column.type) {
    case ColumnType::kBool:
      return as_array<bool>(std::move(column.bools));
    case ColumnType::kInt64:
      return as_array<int64_t>(std::move(column.integers));
    case ColumnType::kFloat64:
      return as_array<double>(std::move(column.floats));
    case ColumnType::kText:
      return as_array<int32_t>(std::move(column.codes));
    case ColumnType::kInt128:
      break;
  }
  nb::list numbers;
  for (const __int128 value : column.wide_integers) numbers.append(as_int(value));
  return numbers;
}

const char* type_name(ColumnType type) {
  switch (type) {
    case ColumnType::kBool:
      return "bool";
    case ColumnType::kInt64:
      return "int64";
    case ColumnType::kInt128:
      return "int128";
    case ColumnType::kFloat64:
      return "float64";
    case ColumnType::kText:
      break;
  }
  return "text";
}

}  // namespace

nb::list as_numpy(TableData data) {
  nb::list out;
  for (ColumnData& column : data.columns) {
    nb::object categories = nb::none();
    if (column.type == ColumnType::kText) {
      nb::list texts;
      for (const std::string& text : column.categories)
        texts.append(nb::str(text.data(), text.size()));
      categories = std::move(texts);
    }
    nb::object nulls = nb::none();
    if (!column.nulls.empty()) nulls = as_array<bool>(std::move(column.nulls));
    out.append(nb::make_tuple(nb::str(column.name.data(), column.name.size()),
                              type_name(column.type), values_of(column), nulls, categories));
  }
  return out;
}

}  // namespace stepscope::python
