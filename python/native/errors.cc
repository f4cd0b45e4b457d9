#include "python/native/errors.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "base/utf8.h"

namespace nb = nanobind;

namespace stepscope::python {

void raise_error(const Error& error) {
  // Paths and pieces of input may be any bytes.
  const auto text = [](const std::string& bytes) { return repair_utf8(bytes); };
  const nb::object type = nb::module_::import_("stepscope._errors").attr("StepscopeError");
  const nb::object value =
      type(std::string(error_code_name(error.code)), text(error.what), text(error.where),
           text(error.why), text(error.remedy), text(error.message()));
  PyErr_SetObject(type.ptr(), value.ptr());
  throw nb::python_error();
}

}  // namespace stepscope::python
