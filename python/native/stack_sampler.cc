#include "python/native/stack_sampler.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "stepscope/record.h"

namespace stepscope::python {
namespace {

constexpr size_t kDeepest = 128;        // frames of a sample, counted from the innermost
constexpr size_t kMostNodes = 200'000;  // different stacks; further ones end at what is known
constexpr size_t kMostCodes = 50'000;

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
    : interval_ms_(std::max(interval_ms, 0.1)), nodes_(1) {}

std::shared_ptr<StackSampler> StackSampler::start(double interval_ms) {
  std::shared_ptr<StackSampler> sampler(new StackSampler(interval_ms));
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
  const auto interval = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double, std::milli>(interval_ms_));
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, interval, [this] { return stopping_; })) {
    // One question at a time: the interpreter's queue is short.
    if (asked_.exchange(true)) continue;
    auto* const question = new std::shared_ptr<StackSampler>(shared_from_this());
    if (Py_AddPendingCall(&StackSampler::answer, question) == 0) continue;
    delete question;
    asked_ = false;
  }
}

int StackSampler::answer(void* question) {
  const std::unique_ptr<std::shared_ptr<StackSampler>> asked(
      static_cast<std::shared_ptr<StackSampler>*>(question));
  StackSampler& self = **asked;
  if (stepscope_is_recording()) self.take_sample();
  self.asked_ = false;
  return 0;
}

void StackSampler::take_sample() {
  const uint64_t now = stepscope_ticks();
  uint32_t frames[kDeepest];
  size_t depth = 0;
  // The stable part of Python's C interface only: one build serves all versions from 3.12 on.
  auto* frame = reinterpret_cast<PyObject*>(PyEval_GetFrame());
  Py_XINCREF(frame);
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
  uint32_t node = 0;
  while (depth > 0) node = child_of(node, frames[--depth]);
  stepscope_put(now, 0, STEPSCOPE_STACK | STEPSCOPE_VALUES, 0, node, 0);
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
