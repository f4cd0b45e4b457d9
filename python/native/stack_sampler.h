// StackSampler: where Python is, a thousand times a second.
//
// A thread asks the interpreter, and the interpreter's main thread answers at its next safe point
// (Py_AddPendingCall): nobody fights for the GIL, and no frame is read while it changes. While the
// main thread is inside a C function the answer comes when that returns, with the line that called
// it; samples carry the time of the answer. Cost: 1 to 3 us a sample, of the interpreter's time.
#ifndef STEPSCOPE_PYTHON_NATIVE_STACK_SAMPLER_H_
#define STEPSCOPE_PYTHON_NATIVE_STACK_SAMPLER_H_

#include <atomic>
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

 private:
  explicit StackSampler(double interval_ms);
  void run();
  static int answer(void* question);
  void take_sample();
  uint32_t frame_name(PyCodeObject* code);
  uint32_t child_of(uint32_t node, uint32_t frame);

  const double interval_ms_;
  std::atomic<bool> asked_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
  // The interpreter's main thread's own.
  // The children of every node by their frame; node 0 is around everything.
  std::vector<std::unordered_map<uint32_t, uint32_t>> nodes_;
  std::unordered_map<PyCodeObject*, uint32_t> names_;  // code objects are kept alive by us
};

}  // namespace stepscope::python

#endif  // STEPSCOPE_PYTHON_NATIVE_STACK_SAMPLER_H_
