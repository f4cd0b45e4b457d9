// Errors of src/ as Python exceptions.
#ifndef STEPSCOPE_PYTHON_NATIVE_ERRORS_H_
#define STEPSCOPE_PYTHON_NATIVE_ERRORS_H_

#include <utility>

#include "base/result.h"

namespace stepscope::python {

// Throws stepscope.StepscopeError with the parts of `error`. Needs the GIL.
[[noreturn]] void raise_error(const Error& error);

template <typename T>
T value_or_raise(Result<T> result) {
  if (!result) raise_error(result.error());
  return std::move(*result);
}

}  // namespace stepscope::python

#endif  // STEPSCOPE_PYTHON_NATIVE_ERRORS_H_
