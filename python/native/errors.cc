#include "python/native/errors.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "base/utf8.h"

namespace nb = nanobind;

namespace stepscope::python {
namespace {

const char* code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kNotRecognised:
      return "not_recognised";
    case ErrorCode::kBadInput:
      return "bad_input";
    case ErrorCode::kPermission:
      return "permission";
    case ErrorCode::kNoSpace:
      return "no_space";
    case ErrorCode::kLimit:
      return "limit";
    case ErrorCode::kChanged:
      return "changed";
    case ErrorCode::kCancelled:
      return "cancelled";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kIo:
      return "io";
  }
  return "io";
}

}  // namespace

void raise_error(const Error& error) {
  // Paths and pieces of input may be any bytes.
  const auto text = [](const std::string& bytes) { return repair_utf8(bytes); };
  const nb::object type = nb::module_::import_("stepscope._errors").attr("StepscopeError");
  const nb::object value = type(code_name(error.code), text(error.what), text(error.where),
                                text(error.why), text(error.remedy), text(error.message()));
  PyErr_SetObject(type.ptr(), value.ptr());
  throw nb::python_error();
}

}  // namespace stepscope::python
