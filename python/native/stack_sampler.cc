#include "python/native/stack_sampler.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "collector/signals_blocked.h"
#include "stepscope/record.h"

namespace stepscope::python {
namespace {

constexpr size_t kDeepest = 128;        // frames of a sample, counted from the innermost
constexpr size_t kMostNodes = 200'000;  // different stacks; further ones end at what is known
constexpr size_t kMostCodes = 50'000;

constexpr bool kInterpreterAnswers = PY_VERSION_HEX >= 0x030C0000;

// A new reference, or null.
PyObject* attribute_of(const char* module, const char* name) {
  PyObject* const found = PyImport_ImportModule(module);
  PyObject* const value = found == nullptr ? nullptr : PyObject_GetAttrString(found, name);
  Py_XDECREF(found);
  PyErr_Clear();
  return value;
}

std::string attribute_text(PyObject* object, const char* name) {
  std::string text;
  PyObject* const value = PyObject_GetAttrString(object, name);
  if (value != nullptr) {
    Py_ssize_t size = 0;
    if (const char* const bytes = PyUnicode_AsUTF8AndSize(value, &size))
      text.assign(bytes, static_cast<size_t>(size));
    Py_DECREF(value);
  }
  PyErr_Clear();
  return text;
}

long attribute_number(PyObject* object, const char* name) {
  PyObject* const value = PyObject_GetAttrString(object, name);
  const long number = value == nullptr ? 0 : PyLong_AsLong(value);
  Py_XDECREF(value);
  PyErr_Clear();
  return number;
}

}  // namespace

StackSampler::StackSampler(double interval_ms)
    : interval_ms_(std::max(interval_ms, 0.1)), main_thread_(::getpid()), nodes_(1) {}

std::shared_ptr<StackSampler> StackSampler::start(double interval_ms) {
  std::shared_ptr<StackSampler> sampler(new StackSampler(interval_ms));
  if (!kInterpreterAnswers) {
    // Kept for good: a few references, once for each recording.
    sampler->current_frames_ = attribute_of("sys", "_current_frames");
    PyObject* const main_thread = attribute_of("threading", "_main_thread");
    if (main_thread != nullptr) sampler->main_ident_ = PyObject_GetAttrString(main_thread, "ident");
    Py_XDECREF(main_thread);
    PyErr_Clear();
  }
  const SignalsBlocked for_new_threads;
  sampler->thread_ = std::thread([raw = sampler.get()] { raw->run(); });
  return sampler;
}

void StackSampler::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void StackSampler::run() {
  ::pthread_setname_np(::pthread_self(), "stepscope-py");
  const auto interval = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double, std::milli>(interval_ms_));
  while (true) {
    {
      std::unique_lock lock(mutex_);
      if (wake_.wait_for(lock, interval, [this] { return stopping_; })) return;
    }
    if (kInterpreterAnswers) {
      ask_interpreter();
    } else {
      take_gil_and_look();
    }
  }
}

void StackSampler::ask_interpreter() {
  // One question at a time: the interpreter's queue is short.
  if (asked_.exchange(true)) return;
  auto* const question = new std::shared_ptr<StackSampler>(shared_from_this());
  if (Py_AddPendingCall(&StackSampler::answer, question) == 0) return;
  delete question;
  asked_ = false;
}

int StackSampler::answer(void* question) {
  const std::unique_ptr<std::shared_ptr<StackSampler>> asked(
      static_cast<std::shared_ptr<StackSampler>*>(question));
  StackSampler& self = **asked;
  auto* const frame = reinterpret_cast<PyObject*>(PyEval_GetFrame());
  Py_XINCREF(frame);
  self.take_sample(frame);
  self.asked_ = false;
  return 0;
}

void StackSampler::take_gil_and_look() {
  if (current_frames_ == nullptr || main_ident_ == nullptr) return;
  const PyGILState_STATE state = PyGILState_Ensure();
  PyObject* const frames = PyObject_CallObject(current_frames_, nullptr);
  PyObject* const frame = frames == nullptr ? nullptr : PyObject_GetItem(frames, main_ident_);
  Py_XDECREF(frames);
  take_sample(frame);
  PyGILState_Release(state);
}

void StackSampler::take_sample(PyObject* frame) {
  const uint64_t now = stepscope_ticks();
  uint32_t frames[kDeepest];
  size_t depth = 0;
  // The stable part of Python's C interface only: one build serves all versions from 3.12 on.
  while (frame != nullptr && frame != Py_None && depth < kDeepest) {
    PyCodeObject* const code = PyFrame_GetCode(reinterpret_cast<PyFrameObject*>(frame));
    frames[depth++] = frame_name(code);
    Py_DECREF(reinterpret_cast<PyObject*>(code));
    PyObject* const outer = PyObject_GetAttrString(frame, "f_back");
    Py_DECREF(frame);
    frame = outer;
  }
  Py_XDECREF(frame);
  PyErr_Clear();
  if (depth == 0 || !stepscope_is_recording()) return;
  uint32_t node = 0;
  while (depth > 0) node = child_of(node, frames[--depth]);
  stepscope_put(now, 0, STEPSCOPE_STACK | STEPSCOPE_VALUES, 0, node,
                static_cast<uint64_t>(main_thread_));
}

uint32_t StackSampler::frame_name(PyCodeObject* code) {
  const auto found = names_.find(code);
  if (found != names_.end()) return found->second;
  auto* const object = reinterpret_cast<PyObject*>(code);
  std::string name = attribute_text(object, "co_qualname");  // from Python 3.11 on
  if (name.empty()) name = attribute_text(object, "co_name");
  name += " (" + attribute_text(object, "co_filename") + ":" +
          std::to_string(attribute_number(object, "co_firstlineno")) + ")";
  const uint32_t id = stepscope_name(name.data(), name.size());
  if (names_.size() < kMostCodes) {
    Py_INCREF(object);  // so that its address is not given to another
    names_.emplace(code, id);
  }
  return id;
}

uint32_t StackSampler::child_of(uint32_t node, uint32_t frame) {
  const auto found = nodes_[node].find(frame);
  if (found != nodes_[node].end()) return found->second;
  if (nodes_.size() >= kMostNodes) return node;
  const auto added = static_cast<uint32_t>(nodes_.size());
  nodes_.emplace_back();
  nodes_[node].emplace(frame, added);
  stepscope_put(stepscope_ticks(), 0, STEPSCOPE_STACK_NODE | STEPSCOPE_VALUES, frame, added, node);
  return added;
}

}  // namespace stepscope::python
