// ColumnData as NumPy arrays.
#ifndef STEPSCOPE_PYTHON_NATIVE_ARRAYS_H_
#define STEPSCOPE_PYTHON_NATIVE_ARRAYS_H_

#include <nanobind/nanobind.h>

#include "api/column_data.h"

namespace stepscope::python {

// A list of (name, type, values, nulls, categories). The arrays take the columns' buffers over:
// nothing is copied, and the buffer is freed with the last array on it. `nulls` is a bool array or
// None; `categories` a list of str for text, whose values are codes, else None. Integers of more
// than 64 bits are a list of int.
nanobind::list as_numpy(TableData data);

}  // namespace stepscope::python

#endif  // STEPSCOPE_PYTHON_NATIVE_ARRAYS_H_
