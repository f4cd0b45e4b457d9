// The stacks of all Python threads as text, also when the interpreter hangs: what a watch of the
// collector asks for at a stall (record.h, stepscope_watch_options).
#ifndef STEPSCOPE_PYTHON_NATIVE_PYTHON_STACKS_H_
#define STEPSCOPE_PYTHON_NATIVE_PYTHON_STACKS_H_

#include <Python.h>

namespace stepscope::python {

// With the GIL. `dump` is faulthandler.dump_traceback. `signal` is one that faulthandler answers by
// writing to `file`, whichever thread it comes to and without the GIL; 0: there is none.
void prepare_python_stacks(PyObject* dump, int signal, int file);
// Nothing is written from now on.
void forget_python_stacks();

// A stepscope_stacks_function.
int write_python_stacks(int file, const int* given_up);

}  // namespace stepscope::python

#endif  // STEPSCOPE_PYTHON_NATIVE_PYTHON_STACKS_H_
