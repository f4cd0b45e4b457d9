#include "python/native/python_stacks.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <utility>

namespace stepscope::python {
namespace {

// Used by threads of the collector, which know nothing of objects of ours.
PyObject* dump_function = nullptr;  // under the GIL
std::atomic<bool> ready = false;
std::mutex signal_mutex;  // of these two
int signal_number = 0;
int signal_file = -1;

int with_the_lock(int file, const int* given_up) {
  const PyGILState_STATE state = PyGILState_Ensure();
  int result = -1;
  if (ready && dump_function != nullptr && __atomic_load_n(given_up, __ATOMIC_ACQUIRE) == 0) {
    PyObject* const done = PyObject_CallFunction(dump_function, "ii", file, 1);
    result = done == nullptr ? -1 : 0;
    Py_XDECREF(done);
    PyErr_Clear();
  }
  PyGILState_Release(state);
  return result;
}

int past_the_lock(int file) {
  const std::lock_guard lock(signal_mutex);
  // Whatever the program has done with the signal meanwhile: unhandled, it would end the program.
  struct sigaction now{};
  if (signal_number == 0 || ::sigaction(signal_number, nullptr, &now) != 0 ||
      ((now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL)) {
    return -1;
  }
  if (::ftruncate(signal_file, 0) != 0 || ::lseek(signal_file, 0, SEEK_SET) != 0) return -1;
  // To this thread, which has it blocked: it is delivered before pthread_sigmask() returns.
  sigset_t only;
  sigset_t before;
  ::sigemptyset(&only);
  ::sigaddset(&only, signal_number);
  if (::pthread_kill(::pthread_self(), signal_number) != 0) return -1;
  ::pthread_sigmask(SIG_UNBLOCK, &only, &before);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  char buffer[4096];
  off_t at = 0;
  for (ssize_t got = 0; (got = ::pread(signal_file, buffer, sizeof buffer, at)) > 0; at += got) {
    if (::write(file, buffer, static_cast<size_t>(got)) != got) return -1;
  }
  return at > 0 ? 0 : -1;
}

}  // namespace

void prepare_python_stacks(PyObject* dump, int signal, int file) {
  Py_INCREF(dump);  // until the next watch
  Py_XDECREF(std::exchange(dump_function, dump));
  const std::lock_guard lock(signal_mutex);
  signal_number = signal;
  signal_file = file;
  ready = true;
}

void forget_python_stacks() {
  ready = false;
  const std::lock_guard lock(signal_mutex);
  signal_number = 0;
}

int write_python_stacks(int file, const int* given_up) {
  if (!ready) return -1;
  return given_up != nullptr ? with_the_lock(file, given_up) : past_the_lock(file);
}

}  // namespace stepscope::python
