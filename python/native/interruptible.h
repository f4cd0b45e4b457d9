// Long work without the GIL that Ctrl-C ends.
#ifndef STEPSCOPE_PYTHON_NATIVE_INTERRUPTIBLE_H_
#define STEPSCOPE_PYTHON_NATIVE_INTERRUPTIBLE_H_

#include <chrono>
#include <exception>
#include <future>
#include <utility>

#include <nanobind/nanobind.h>

#include "base/progress.h"

namespace stepscope::python {

// Runs work(progress) on a thread of its own, while this one looks for signals and calls
// `tick(progress)` some twenty times a second. When either raises, the work is cancelled and waited
// for, and the exception goes on. Costs a thread: about 30 us.
template <typename Work, typename Tick>
auto run_interruptibly(Work&& work, Tick&& tick) {
  constexpr auto kTick = std::chrono::milliseconds(50);
  Progress progress;
  auto running = std::async(std::launch::async, [&] { return work(progress); });
  const auto wait = [&] {
    const nanobind::gil_scoped_release release;
    return running.wait_for(kTick) == std::future_status::ready;
  };
  try {
    while (!wait()) {
      if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
      tick(progress);
    }
  } catch (...) {
    progress.cancel();
    const nanobind::gil_scoped_release release;
    running.wait();
    throw;
  }
  return running.get();
}

template <typename Work>
auto run_interruptibly(Work&& work) {
  return run_interruptibly(std::forward<Work>(work), [](const Progress&) {});
}

}  // namespace stepscope::python

#endif  // STEPSCOPE_PYTHON_NATIVE_INTERRUPTIBLE_H_
