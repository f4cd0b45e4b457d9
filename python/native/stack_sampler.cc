#include "python/native/stack_sampler.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "base/json_text.h"
#include "collector/signals_blocked.h"
#include "stepscope/record.h"

namespace stepscope::python {
namespace {

constexpr size_t kDeepest = 128;        // frames of a sample, counted from the innermost
constexpr size_t kMostNodes = 200'000;  // different stacks; further ones end at what is known
constexpr size_t kMostCodes = 50'000;
constexpr size_t kMostThreads = 64;  // of a sample
constexpr size_t kMostSeen = 4096;   // threads that are remembered
constexpr int kUnansweredMost = 10;  // intervals; then the main thread is taken to wait
// Threads but the main one say only this often that they are where they were. The importer takes
// samples that are further apart than a second for a gap.
constexpr std::chrono::milliseconds kSayAgain(100);

// Of the interpreter that runs: one build serves all versions from 3.12 on.
bool interpreter_answers() {
#if PY_VERSION_HEX >= 0x030B0000
  return Py_Version >= 0x030D0000;
#else
  return false;
#endif
}

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

std::string type_name(PyObject* object) {
  PyObject* const type = PyObject_Type(object);
  std::string name = type == nullptr ? "" : attribute_text(type, "__name__");
  Py_XDECREF(type);
  return name;
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
  sampler->current_frames_ = attribute_of("sys", "_current_frames");
  sampler->active_ = attribute_of("threading", "_active");
  // Asked for every frame: without it Python makes the word anew each time.
  sampler->f_back_ = PyUnicode_InternFromString("f_back");
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

void StackSampler::forget_codes() {
  for (const auto& [code, name] : names_) Py_DECREF(reinterpret_cast<PyObject*>(code));
  names_.clear();
  Py_CLEAR(current_frames_);
  Py_CLEAR(active_);
  Py_CLEAR(f_back_);
}

void StackSampler::run() {
  ::pthread_setname_np(::pthread_self(), "stepscope-py");
  const auto interval = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double, std::milli>(interval_ms_));
  const bool answers = interpreter_answers();
  while (true) {
    {
      std::unique_lock lock(mutex_);
      if (wake_.wait_for(lock, interval, [this] { return stopping_.load(); })) return;
    }
    if (answers) {
      ask_interpreter();
    } else {
      take_gil_and_look();
    }
  }
}

void StackSampler::ask_interpreter() {
  // One question at a time: the interpreter's queue is short.
  if (asked_.exchange(true)) {
    if (++unanswered_ >= kUnansweredMost) take_gil_and_look();
    return;
  }
  unanswered_ = 0;
  auto* const question = new (std::nothrow) std::shared_ptr<StackSampler>(shared_from_this());
  if (question != nullptr && Py_AddPendingCall(&StackSampler::answer, question) == 0) return;
  delete question;
  asked_ = false;
}

int StackSampler::answer(void* question) {
  const std::unique_ptr<std::shared_ptr<StackSampler>> asked(
      static_cast<std::shared_ptr<StackSampler>*>(question));
  StackSampler& self = **asked;
  // Behind stop() there may be another recording, whose nodes have the same numbers.
  if (!self.stopping_) self.look();
  self.asked_ = false;
  return 0;
}

void StackSampler::take_gil_and_look() {
  const PyGILState_STATE state = PyGILState_Ensure();
  if (!stopping_) look();
  PyGILState_Release(state);
}

void StackSampler::look() noexcept try {
  // A forked child that is asked what its parent's sampler wanted to know has no recording.
  if (stepscope_is_recording()) look_at_all_threads();
} catch (const std::exception&) {
  PyErr_Clear();
}

void StackSampler::look_at_all_threads() {
  PyObject* const frames =
      current_frames_ == nullptr ? nullptr : PyObject_CallObject(current_frames_, nullptr);
  Py_ssize_t position = 0;
  PyObject* ident = nullptr;
  PyObject* frame = nullptr;
  for (size_t seen = 0; frames != nullptr && seen < kMostThreads; ++seen) {
    if (PyDict_Next(frames, &position, &ident, &frame) == 0) break;
    const int64_t thread = thread_of(ident);
    Py_INCREF(frame);
    take_sample(frame, thread);
  }
  if (frames != nullptr) say_who_ended();
  Py_XDECREF(frames);
  PyErr_Clear();
}

void StackSampler::say_who_ended() {
  for (auto& [thread, last] : threads_) {
    const bool ended = !std::exchange(last.here, false) && last.node != 0;
    if (!ended || !stepscope_is_recording()) continue;
    stepscope_put(stepscope_ticks(), 0, STEPSCOPE_STACK | STEPSCOPE_VALUES, 0, 0,
                  static_cast<uint64_t>(thread));
    last.node = 0;
  }
}

int64_t StackSampler::thread_of(PyObject* ident) {
  PyObject* const object = active_ == nullptr ? nullptr : PyDict_GetItem(active_, ident);
  int64_t thread = object == nullptr ? 0 : attribute_number(object, "_native_id");
  // Threads that Python did not start have no object, or one that does not know its number.
  if (thread <= 0) thread = static_cast<int64_t>(PyLong_AsUnsignedLongMask(ident));
  PyErr_Clear();
  if (threads_.size() >= kMostSeen) threads_.clear();  // programs that start threads without end
  LastSample& last = threads_[thread];
  last.here = true;
  // The recording names those that live when it begins or ends. Threads that Python did not start
  // have only a made-up name here.
  if (!std::exchange(last.named, true) && object != nullptr &&
      type_name(object) != "_DummyThread") {
    const std::string name = attribute_text(object, "_name");
    const std::string note =
        JsonObject().add(std::to_string(thread), std::string_view(name)).text();
    stepscope_metadata("python_threads", note.c_str());
  }
  return thread;
}

void StackSampler::take_sample(PyObject* frame, int64_t thread) {
  const uint64_t now = stepscope_ticks();
  uint32_t frames[kDeepest];
  size_t depth = 0;
  // The stable part of Python's C interface only: one build serves all versions from 3.12 on.
  while (frame != nullptr && frame != Py_None && depth < kDeepest) {
    PyCodeObject* const code = PyFrame_GetCode(reinterpret_cast<PyFrameObject*>(frame));
    frames[depth++] = frame_name(code);
    Py_DECREF(reinterpret_cast<PyObject*>(code));
    PyObject* const outer = f_back_ == nullptr ? nullptr : PyObject_GetAttr(frame, f_back_);
    Py_DECREF(frame);
    frame = outer;
  }
  Py_XDECREF(frame);
  PyErr_Clear();
  if (depth == 0 || !stepscope_is_recording()) return;
  uint32_t node = 0;
  while (depth > 0) node = child_of(node, frames[--depth]);
  LastSample& last = threads_[thread];
  const auto when = std::chrono::steady_clock::now();
  if (thread != main_thread_ && last.node == node && when - last.when < kSayAgain) return;
  const uint64_t before = stepscope_thread.head;
  stepscope_put(now, 0, STEPSCOPE_STACK | STEPSCOPE_VALUES, 0, node, static_cast<uint64_t>(thread));
  if (stepscope_thread.head == before) return;  // there was no room: say it the next time
  last.node = node;
  last.when = when;
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
  const uint64_t before = stepscope_thread.head;
  stepscope_put(stepscope_ticks(), 0, STEPSCOPE_STACK_NODE | STEPSCOPE_VALUES, frame, added, node);
  // Without room in the ring the recording does not know it; then neither do we, or every later
  // sample would end there.
  if (stepscope_thread.head == before) return node;
  nodes_.emplace_back();
  nodes_[node].emplace(frame, added);
  return added;
}

}  // namespace stepscope::python
