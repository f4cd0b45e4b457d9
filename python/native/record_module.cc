// stepscope._record: recording as Python sees it. Stands on the C functions of record.h alone, so
// that Python, PyTorch's callbacks and C++ code of one process record into the same file.
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "python/native/stack_sampler.h"
#include "stepscope/record.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace stepscope::python {
namespace {

// Unsigned numbers of the options; what is missing or of another type is 0, which means the
// default.
uint32_t number_in(const nb::dict& options, const char* key, double scale = 1) {
  if (!options.contains(key)) return 0;
  double value = 0;
  if (!nb::try_cast(options[key], value) || !(value > 0)) return 0;
  value *= scale;
  return value < UINT32_MAX ? static_cast<uint32_t>(value) : UINT32_MAX;
}

nb::dict dict_in(const nb::dict& options, const char* key) {
  nb::dict found;
  if (options.contains(key)) nb::try_cast(options[key], found);
  return found;
}

// One recording into one folder. After the constructor nothing raises.
class Recording {
 public:
  Recording(const std::string& folder, const std::string& options_json) {
    const nb::module_ json = nb::module_::import_("json");
    const auto options = nb::cast<nb::dict>(json.attr("loads")(options_json));
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
    int failed = 0;
    {
      const nb::gil_scoped_release release;
      failed = stepscope_start(folder.c_str(), &chosen);
    }
    if (failed != 0) throw std::runtime_error(stepscope_last_error());
    active_ = true;
    if (const nb::dict stacks = dict_in(sources, "python_stacks"); stacks.size() > 0) {
      double interval_ms = 1;
      nb::try_cast(stacks["interval_ms"], interval_ms);
      sampler_ = StackSampler::start(interval_ms);
    }
    for (const auto& [key, value] : dict_in(options, "metadata"))
      add_metadata(nb::cast<std::string>(key), nb::cast<std::string>(json.attr("dumps")(value)));
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
      const nb::gil_scoped_release release;
      if (sampler_ != nullptr) sampler_->stop();
      sampler_.reset();
      statistics_ = stepscope_stop();
    }
    return statistics_;
  }

  void add_metadata(const std::string& key, const std::string& json) const {
    if (active_) stepscope_metadata(key.c_str(), json.c_str());
  }

  bool active() const { return active_; }

 private:
  bool active_ = false;
  const pid_t process_ = ::getpid();
  std::shared_ptr<StackSampler> sampler_;
  std::string statistics_ = "{}";
};

// A named range around a block. The same object may be entered again inside itself and by several
// threads at once, as a decorated function is; the GIL guards the list.
class Range {
 public:
  explicit Range(const std::string& name) : name_(stepscope_name(name.data(), name.size())) {}

  void enter() {
    open_.push_back({::pthread_self(), stepscope_is_recording() ? stepscope_ticks() : 0});
  }
  void exit() {
    const auto innermost = std::find_if(open_.rbegin(), open_.rend(), [](const Open& open) {
      return ::pthread_equal(open.thread, ::pthread_self());
    });
    if (innermost == open_.rend()) return;
    const uint64_t start = innermost->start;
    open_.erase(std::next(innermost).base());
    if (start != 0) stepscope_range(start, STEPSCOPE_USER, name_);
  }

 private:
  struct Open {
    pthread_t thread;
    uint64_t start;  // 0: nothing was recording
  };
  uint32_t name_;
  std::vector<Open> open_;
};

uint32_t name_of(const std::string& text) { return stepscope_name(text.data(), text.size()); }

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
      .def(nb::init<const std::string&, const std::string&>(), "folder"_a, "options"_a = "{}")
      .def("stop", &Recording::stop)
      .def("add_metadata", &Recording::add_metadata, "key"_a, "json_value"_a)
      .def_prop_ro("active", &Recording::active);
  nb::class_<Range>(module, "record_function")
      .def(nb::init<const std::string&>(), "name"_a)
      .def("__enter__",
           [](nb::handle_t<Range> self) {
             nb::cast<Range&>(self).enter();
             return nb::borrow(self);
           })
      .def("__exit__", [](Range& range, const nb::args&) { range.exit(); })
      .def("__call__", [](nb::handle_t<Range> self, const nb::object& function) {
        return nb::module_::import_("stepscope._decorate").attr("recorded")(self, function);
      });
  module.def("is_recording", [] { return stepscope_is_recording() != 0; });
  module.def("step", &stepscope_step, "number"_a);
  module.def("end_step", &stepscope_end_step);
  module.def("mark", [](const std::string& name) { stepscope_mark(name_of(name)); }, "name"_a);
  module.def(
      "counter",
      [](const std::string& name, double value) { stepscope_counter(name_of(name), value); },
      "name"_a, "value"_a);
  // For sources that are written in Python: see record.h.
  module.def("name", &name_of, "text"_a);
  module.def("now", &stepscope_now);
  module.def("end_range", &stepscope_end_range, "start"_a, "kind"_a, "name"_a);
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
