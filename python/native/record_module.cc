// stepscope._record: recording as Python sees it. Stands on the C functions of record.h alone, so
// that Python, PyTorch's callbacks and C++ code of one process record into the same file.
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include "python/native/python_stacks.h"
#include "python/native/stack_sampler.h"
#include "stepscope/record.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace stepscope::python {
namespace {

// Unsigned numbers of the options; what is missing or of another type is 0, which means the
// default. The least that can be asked for is 1: a budget of half a megabyte is not the default.
uint32_t number_in(const nb::dict& options, const char* key, double scale = 1) {
  if (!options.contains(key)) return 0;
  double value = 0;
  if (!nb::try_cast(options[key], value) || !(value > 0)) return 0;
  value *= scale;
  return value < UINT32_MAX ? std::max(static_cast<uint32_t>(value), 1u) : UINT32_MAX;
}

nb::dict dict_in(const nb::dict& options, const char* key) {
  nb::dict found;
  if (options.contains(key)) nb::try_cast(options[key], found);
  return found;
}

// The names of Profiler's parameters, and what they are called in record.h.
constexpr struct {
  std::string_view name;
  uint32_t bit;
} kNpuData[] = {
    {"l2_cache", STEPSCOPE_NPU_L2_CACHE},
    {"profile_memory", STEPSCOPE_NPU_MEMORY},
    {"mstx", STEPSCOPE_NPU_MSTX},
    {"hbm_ddr", STEPSCOPE_NPU_HBM_DDR},
    {"pcie", STEPSCOPE_NPU_PCIE},
    {"sys_io", STEPSCOPE_NPU_IO},
    {"sys_interconnection", STEPSCOPE_NPU_INTERCONNECTION},
    {"host_sys cpu", STEPSCOPE_NPU_HOST_CPU},
    {"host_sys mem", STEPSCOPE_NPU_HOST_MEMORY},
    {"host_sys disk", STEPSCOPE_NPU_HOST_DISK},
    {"host_sys network", STEPSCOPE_NPU_HOST_NETWORK},
    {"host_sys osrt", STEPSCOPE_NPU_HOST_OSRT},
};

void choose_npu(const nb::dict& npu, stepscope_options& chosen) {
  chosen.npu_level = number_in(npu, "level");
  chosen.npu_metrics = number_in(npu, "metrics");
  chosen.npu_device = number_in(npu, "device");
  nb::list names;
  if (!npu.contains("data") || !nb::try_cast(npu["data"], names)) return;
  for (const nb::handle name : names) {
    for (const auto& row : kNpuData) {
      if (nb::cast<std::string>(name) == row.name) chosen.npu_data |= row.bit;
    }
  }
}

nb::dict parsed(const std::string& json) {
  return nb::cast<nb::dict>(nb::module_::import_("json").attr("loads")(json));
}

stepscope_options chosen_in(const nb::dict& options) {
  const nb::dict sources = dict_in(options, "sources");
  stepscope_options chosen{};
  chosen.size = sizeof chosen;
  chosen.rank = options.contains("rank") ? nb::cast<int64_t>(options["rank"]) : 0;
  chosen.max_host_mb = number_in(options, "max_host_mb");
  chosen.max_disk_mb = number_in(options, "max_disk_gb", 1024);
  chosen.min_free_mb = number_in(options, "min_free_gb", 1024);
  chosen.ring_kb = number_in(options, "ring_kb");
  chosen.system_interval_ms = number_in(dict_in(sources, "system"), "interval_ms");
  chosen.gpu_tier = number_in(dict_in(sources, "gpu"), "tier");
  choose_npu(dict_in(sources, "npu"), chosen);
  return chosen;
}

stepscope_watch_options watch_rules_in(const nb::dict& rules) {
  stepscope_watch_options chosen{};
  chosen.size = sizeof chosen;
  chosen.keep_ms = number_in(rules, "keep_seconds", 1000);
  chosen.keep_mb = number_in(rules, "keep_mb");
  chosen.capture_steps = number_in(rules, "capture_steps");
  chosen.capture_ms = number_in(rules, "capture_seconds", 1000);
  if (rules.contains("slow_factor")) nb::try_cast(rules["slow_factor"], chosen.slow_factor);
  chosen.slow_steps = number_in(rules, "slow_steps");
  chosen.no_progress_ms = number_in(rules, "no_progress_s", 1000);
  chosen.signals = number_in(rules, "signals");
  chosen.most_captures = number_in(rules, "at_most");
  chosen.within_s = number_in(rules, "per_seconds");
  chosen.stacks = write_python_stacks;
  return chosen;
}

// One recording into one folder, or a part of the one that runs. After the constructor nothing
// raises.
class Recording {
 public:
  Recording(const std::string& folder, const std::string& options_json) {
    const nb::dict options = parsed(options_json);
    const stepscope_options chosen = chosen_in(options);
    int failed = 0;
    {
      const nb::gil_scoped_release release;
      failed = stepscope_start(folder.c_str(), &chosen);
    }
    if (failed != 0) throw std::runtime_error(stepscope_last_error());
    active_ = true;
    try {
      begin(options);
    } catch (...) {  // nobody has this object yet who could stop it
      stop();
      throw;
    }
  }

  // Takes the stacks, the NPU and the metadata of the options; everything else is the outer
  // recording's.
  static std::unique_ptr<Recording> join(const std::string& options_json) {
    if (!stepscope_is_recording()) throw std::runtime_error("nothing is being recorded");
    std::unique_ptr<Recording> joined(new Recording);
    joined->active_ = true;
    joined->is_part_ = true;
    const nb::dict options = parsed(options_json);
    joined->begin(options);
    joined->begin_npu(chosen_in(options));
    return joined;
  }

  // Keeps the last seconds, and writes what happens into folders of `output`.
  static std::unique_ptr<Recording> watch(const std::string& output, const std::string& rules_json,
                                          const std::string& options_json) {
    const nb::dict options = parsed(options_json);
    const stepscope_options chosen = chosen_in(options);
    const stepscope_watch_options rules = watch_rules_in(parsed(rules_json));
    int failed = 0;
    {
      const nb::gil_scoped_release release;
      failed = stepscope_watch(output.c_str(), &rules, &chosen);
    }
    if (failed != 0) throw std::runtime_error(stepscope_last_error());
    std::unique_ptr<Recording> watching(new Recording);
    watching->active_ = true;
    watching->begin(options);
    return watching;
  }

  ~Recording() { stop(); }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  std::string stop() {
    if (active_ && ::getpid() != process_) {
      // A forked child: the threads to wait for are its parent's.
      active_ = false;
      new std::shared_ptr<StackSampler>(std::move(sampler_));
    } else if (active_) {
      active_ = false;
      {
        const nb::gil_scoped_release release;
        if (sampler_ != nullptr) sampler_->stop();
        if (has_npu_) stepscope_end_npu();
        if (!is_part_) statistics_ = stepscope_stop();
      }
      if (sampler_ != nullptr) sampler_->forget_codes();
      sampler_.reset();
    }
    return statistics_;
  }

  void add_metadata(const std::string& key, const std::string& json) const {
    if (active_) stepscope_metadata(key.c_str(), json.c_str());
  }

  std::string problems() const {
    if (!active_ || (is_part_ && without_npu_.empty())) return "[]";
    if (!is_part_) return stepscope_problems();
    nb::list sentences;
    sentences.append("npu: " + without_npu_);
    return nb::cast<std::string>(nb::module_::import_("json").attr("dumps")(sentences));
  }
  bool active() const { return active_; }

 private:
  Recording() = default;

  void begin_npu(const stepscope_options& chosen) {
    if (chosen.npu_level == 0) return;
    const nb::gil_scoped_release release;
    has_npu_ = stepscope_begin_npu(&chosen) == 0;
    if (!has_npu_) without_npu_ = stepscope_last_error();
  }

  void begin(const nb::dict& options) {
    const nb::dict sources = dict_in(options, "sources");
    if (const nb::dict stacks = dict_in(sources, "python_stacks"); stacks.size() > 0) {
      double interval_ms = 1;
      if (stacks.contains("interval_ms")) nb::try_cast(stacks["interval_ms"], interval_ms);
      sampler_ = StackSampler::start(interval_ms);
    }
    const nb::object dumps = nb::module_::import_("json").attr("dumps");
    for (const auto& [key, value] : dict_in(options, "metadata"))
      add_metadata(nb::cast<std::string>(key), nb::cast<std::string>(dumps(value)));
  }

  bool active_ = false;
  bool is_part_ = false;
  bool has_npu_ = false;     // of a part
  std::string without_npu_;  // why, when it was asked for
  const pid_t process_ = ::getpid();
  std::shared_ptr<StackSampler> sampler_;
  std::string statistics_ = "{}";
};

// The name that an object is. Whatever it is: a name is no reason to end a training. Where text is
// no Unicode (lone surrogates) it has question marks.
uint32_t name_of(nb::handle what) {
  const nb::object text =
      PyUnicode_Check(what.ptr()) ? nb::borrow(what) : nb::steal(PyObject_Str(what.ptr()));
  Py_ssize_t size = 0;
  if (text.is_valid()) {
    if (const char* const bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size))
      return stepscope_name(bytes, static_cast<size_t>(size));
    PyErr_Clear();
    const nb::object replaced =
        nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "replace"));
    char* bytes = nullptr;
    if (replaced.is_valid() && PyBytes_AsStringAndSize(replaced.ptr(), &bytes, &size) == 0)
      return stepscope_name(bytes, static_cast<size_t>(size));
  }
  PyErr_Clear();
  return stepscope_name("?", 1);
}

// A named range around a block. The same object may be entered again inside itself and by several
// threads at once, as a decorated function is; the GIL guards the list.
class Range {
 public:
  Range(const nb::object& name, const std::string& kind)
      : name_(name_of(name)), kind_(kind_of(kind)) {}

  void enter() {
    const uint64_t start = begin();
    open_.push_back({::pthread_self(), start, recording_});
    if (start != 0) ++open_in_recording_;
  }
  void exit() {
    const auto innermost = std::find_if(open_.rbegin(), open_.rend(), [](const Open& open) {
      return ::pthread_equal(open.thread, ::pthread_self());
    });
    if (innermost == open_.rend()) return;
    const uint64_t start = innermost->start;
    if (start != 0 && innermost->recording == recording_) --open_in_recording_;
    open_.erase(std::next(innermost).base());
    end(start);
  }
  // Ranges that were entered in this recording and not left: its end loses them.
  static int64_t open_in_recording() { return open_in_recording_; }
  static void recording_begins() {
    ++recording_;
    open_in_recording_ = 0;
  }
  // For those that take turns on one thread, as coroutines do: the caller keeps the start.
  static uint64_t begin() { return stepscope_is_recording() ? stepscope_ticks() : 0; }
  void end(uint64_t start) const {
    if (start != 0) stepscope_range(start, kind_, name_);
  }

 private:
  struct Open {
    pthread_t thread;
    uint64_t start;  // 0: nothing was recording
    uint64_t recording;
  };
  static uint32_t kind_of(const std::string& word) {
    if (word == "range") return STEPSCOPE_USER;
    if (word == "operator") return STEPSCOPE_OPERATOR;
    if (word == "module") return STEPSCOPE_MODULE;
    if (word == "collective") return STEPSCOPE_COLLECTIVE;
    throw std::invalid_argument(
        "kind is \"range\", \"operator\", \"module\" or \"collective\", not \"" + word + "\"");
  }

  inline static uint64_t recording_ = 0;
  inline static int64_t open_in_recording_ = 0;

  uint32_t name_;
  uint32_t kind_;
  std::vector<Open> open_;
};

// Sizes that are not known are -1 in Python.
void add_pipeline(nb::module_& module) {
  module.def(
      "stage",
      [](const std::string& name, const std::string& kind, uint32_t workers, uint32_t capacity,
         uint32_t input) {
        const stepscope_stage_options about{sizeof about, kind.c_str(), workers, capacity, input};
        return stepscope_stage(name.data(), name.size(), &about);
      },
      "name"_a, "kind"_a, "workers"_a, "capacity"_a, "input"_a);
  module.def("stage_input", &stepscope_stage_input, "stage"_a, "input"_a);
  module.def("stage_worker", &stepscope_stage_worker, "stage"_a, "task"_a);
  module.def("end_stage", &stepscope_end_stage, "stage"_a);
  module.def(
      "queue_size",
      [](uint32_t stage, int64_t items) {
        stepscope_queue_size(stage, static_cast<uint64_t>(items));
      },
      "stage"_a, "items"_a);
  module.def(
      "queue_get",
      [](uint64_t start, uint32_t stage, int64_t items, int64_t number) {
        stepscope_queue_get(start, stage, static_cast<uint64_t>(items), number);
      },
      "start"_a, "stage"_a, "items"_a, "number"_a);
  module.def(
      "queue_put",
      [](uint64_t start, uint32_t stage, int64_t items, int64_t number) {
        stepscope_queue_put(start, stage, static_cast<uint64_t>(items), number);
      },
      "start"_a, "stage"_a, "items"_a, "number"_a);
  module.def("worker_address", []() -> std::optional<std::string> {
    const char* const address = stepscope_worker_address();
    if (address == nullptr) return std::nullopt;
    return address;
  });
  module.def(
      "join", [](const std::string& address) { return stepscope_join(address.c_str()) == 0; },
      "address"_a);
}

}  // namespace

NB_MODULE(_record, module) {
  module.doc() = "Recording into a file that stepscope.open() reads.";
  nb::class_<Recording>(module, "Recording")
      .def(
          "__init__",
          [](Recording* recording, const std::string& folder, const std::string& options) {
            new (recording) Recording(folder, options);
            Range::recording_begins();
          },
          "folder"_a, "options"_a = "{}")
      .def_static("join", &Recording::join, "options"_a = "{}")
      .def_static("watch", &Recording::watch, "output"_a, "rules"_a, "options"_a = "{}")
      .def("stop", &Recording::stop)
      .def("problems", &Recording::problems)
      .def("add_metadata", &Recording::add_metadata, "key"_a, "json_value"_a)
      .def_prop_ro("active", &Recording::active);
  nb::class_<Range>(module, "record_function")
      .def(nb::init<const nb::object&, const std::string&>(), "name"_a.none(), "kind"_a = "range")
      .def("__enter__",
           [](nb::handle_t<Range> self) {
             nb::cast<Range&>(self).enter();
             return nb::borrow(self);
           })
      .def("__exit__", [](Range& range, const nb::args&) { range.exit(); })
      .def("begin", [](const Range&) { return Range::begin(); })
      .def("end", &Range::end, "start"_a)
      .def("__call__", [](nb::handle_t<Range> self, const nb::object& function) {
        return nb::module_::import_("stepscope._decorate").attr("recorded")(self, function);
      });
  module.def(
      "prepare",
      [](const std::string& options_json) {
        const stepscope_options chosen = chosen_in(parsed(options_json));
        const nb::gil_scoped_release release;
        stepscope_prepare(&chosen);
      },
      "options"_a = "{}");
  module.def("unprepare", &stepscope_unprepare);
  module.def(
      "trigger",
      [](const std::string& kind, const std::string& what) {
        return stepscope_trigger(kind.c_str(), what.c_str()) == 0;
      },
      "kind"_a, "what"_a);
  module.def("captures", [] { return std::string(stepscope_captures()); });
  module.def(
      "prepare_python_stacks",
      [](const nb::object& dump, int signal, int file) {
        prepare_python_stacks(dump.ptr(), signal, file);
      },
      "dump"_a, "signal"_a, "file"_a);
  module.def("forget_python_stacks", &forget_python_stacks);
  module.def("outer_folder", [] { return std::string(stepscope_outer_folder()); });
  module.def("flush", [] {
    const nb::gil_scoped_release release;
    return stepscope_flush() == 0;
  });
  module.def("open_ranges", &Range::open_in_recording);
  module.def("is_recording", [] { return stepscope_is_recording() != 0; });
  module.def("step", &stepscope_step, "number"_a);
  module.def("end_step", &stepscope_end_step);
  module.def(
      "unmarked_step",
      [](int64_t number, uint64_t start) {
        if (start == 0 || !stepscope_is_recording()) return;
        stepscope_put(start, 0, STEPSCOPE_STEP | STEPSCOPE_VALUES, 0, static_cast<uint64_t>(number),
                      1);
      },
      "number"_a, "start"_a);
  module.def(
      "mark", [](const nb::object& name) { stepscope_mark(name_of(name)); }, "name"_a.none());
  module.def(
      "counter",
      [](const nb::object& name, double value) { stepscope_counter(name_of(name), value); },
      "name"_a.none(), "value"_a);
  // For sources that are written in Python: see record.h.
  module.def("name", [](const nb::object& text) { return name_of(text); }, "text"_a.none());
  module.def("now", &stepscope_now);
  module.def("end_range", &stepscope_end_range, "start"_a, "kind"_a, "name"_a);
  // A range that began on another thread: `about` is what it says about itself, as JSON.
  module.def(
      "end_range_elsewhere",
      [](uint64_t start, uint32_t name, const nb::object& about) {
        if (start == 0 || !stepscope_is_recording()) return;
        stepscope_put(start, stepscope_ticks() - start, STEPSCOPE_USER | STEPSCOPE_VALUES, name,
                      name_of(about), 0);
      },
      "start"_a, "name"_a, "about"_a);
  module.attr("USER") = static_cast<int>(STEPSCOPE_USER);
  module.attr("MODULE") = static_cast<int>(STEPSCOPE_MODULE);
  module.attr("PIPELINE") = static_cast<int>(STEPSCOPE_PIPELINE);
  add_pipeline(module);
  module.def(
      "import_mindspore_window",
      [](const std::string& folder, int64_t from_ns, int64_t to_ns, bool shapes, bool memory) {
        uint32_t what = 0;
        if (shapes) what |= STEPSCOPE_MINDSPORE_SHAPES;
        if (memory) what |= STEPSCOPE_MINDSPORE_MEMORY;
        return stepscope_import_mindspore_window(folder.c_str(), from_ns, to_ns, what) == 0;
      },
      "folder"_a, "realtime_from_ns"_a, "realtime_to_ns"_a, "shapes"_a, "memory"_a);
}

}  // namespace stepscope::python
