// StackSampler: where the threads of a Python program are, a thousand times a second.
//
// From Python 3.13 on a thread asks and the interpreter answers at the main thread's next safe
// point (Py_AddPendingCall): nobody fights for the GIL. While the main thread waits in a C function
// it answers nothing; then, and before 3.13, where a call that is pending from another thread waits
// for something else to happen, the sampler takes the GIL and looks for itself. Python code that
// does not let go of it is then seen every 5 ms (sys.getswitchinterval()). Of a thread that is
// inside a C function a sample shows the function that called it. Cost: docs/performance.md.
#ifndef STEPSCOPE_PYTHON_NATIVE_STACK_SAMPLER_H_
#define STEPSCOPE_PYTHON_NATIVE_STACK_SAMPLER_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include <Python.h>

namespace stepscope::python {

// Shared, because a question that was asked before stop() may be answered behind it.
class StackSampler : public std::enable_shared_from_this<StackSampler> {
 public:
  static std::shared_ptr<StackSampler> start(double interval_ms);
  ~StackSampler() { stop(); }
  StackSampler(const StackSampler&) = delete;
  StackSampler& operator=(const StackSampler&) = delete;

  void stop();
  // Behind stop(), with the GIL: lets go of Python's objects.
  void forget_codes();

 private:
  explicit StackSampler(double interval_ms);
  void run();
  // One sample, one way or the other; asked on the sampler's thread.
  void ask_interpreter();
  void take_gil_and_look();
  static int answer(void* question);
  // With the GIL. Without memory a sample is left out.
  void look() noexcept;
  void look_at_all_threads();
  // The kernel's number of a thread that Python calls `ident`; told to the recording when it is
  // new.
  int64_t thread_of(PyObject* ident);
  // Takes over the reference to the frame.
  void take_sample(PyObject* frame, int64_t thread);
  // Whoever was not there this time has ended.
  void say_who_ended();
  uint32_t frame_name(PyCodeObject* code);
  uint32_t child_of(uint32_t node, uint32_t frame);

  const double interval_ms_;
  const int64_t main_thread_;  // the kernel's number of it: that of the process
  std::atomic<bool> asked_ = false;
  int unanswered_ = 0;  // times that a question was still open when the next was due
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<bool> stopping_ = false;  // set under the mutex
  std::thread thread_;
  PyObject* current_frames_ = nullptr;  // sys._current_frames
  PyObject* active_ = nullptr;          // threading._active: thread objects by ident
  PyObject* f_back_ = nullptr;          // the word
  // Under the GIL.
  struct LastSample {
    uint32_t node = 0;
    std::chrono::steady_clock::time_point when;
    bool named = false;
    bool here = false;  // in the sample that is being taken
  };
  std::unordered_map<int64_t, LastSample> threads_;
  // The children of every node by their frame; node 0 is around everything.
  std::vector<std::unordered_map<uint32_t, uint32_t>> nodes_;
  std::unordered_map<PyCodeObject*, uint32_t> names_;  // code objects are kept alive by us
};

}  // namespace stepscope::python

#endif  // STEPSCOPE_PYTHON_NATIVE_STACK_SAMPLER_H_
