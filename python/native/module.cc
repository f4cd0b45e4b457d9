// stepscope._native: src/api as Python sees it. Thin on purpose; what users touch is the Python
// code of the package, which documents and types it.
#include <atomic>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "api/analyse.h"
#include "api/run.h"
#include "base/utf8.h"
#include "python/native/arrays.h"
#include "python/native/errors.h"
#include "python/native/interruptible.h"

namespace nb = nanobind;

namespace stepscope::python {
namespace {

using Names = std::vector<std::string>;

// Paths may be any bytes; Python has them as str with its own escapes for what is no UTF-8.
nb::object as_path(const std::string& bytes) {
  return nb::steal(
      PyUnicode_DecodeFSDefaultAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size())));
}

std::shared_ptr<Run> open_run(const std::vector<nb::bytes>& paths, const std::string& form,
                              unsigned jobs, uint64_t memory_bytes, bool force,
                              const nb::object& on_progress) {
  Names names;
  for (const nb::bytes& path : paths) names.emplace_back(path.c_str(), path.size());
  const OpenOptions options{form, jobs, memory_bytes, force};
  const auto tell = [&](const Progress& progress) {
    if (!on_progress.is_none()) on_progress(progress.done_bytes(), progress.total_bytes());
  };
  uint64_t total_bytes = 0;
  auto run = run_interruptibly(
      [&](Progress& progress) {
        auto opened = Run::open(names, options, progress);
        total_bytes = progress.total_bytes();
        return opened;
      },
      tell);
  auto opened = value_or_raise(std::move(run));
  if (!on_progress.is_none() && opened->imported()) on_progress(total_bytes, total_bytes);
  return opened;
}

nb::tuple table(const std::shared_ptr<Run>& run, const std::string& name,
                const std::optional<Names>& columns) {
  auto data = value_or_raise(run_interruptibly(
      [&](const Progress& progress) { return run->table(name, columns, progress); }));
  const size_t rows = data.rows;
  return nb::make_tuple(rows, as_numpy(std::move(data)));
}

nb::tuple query(const std::shared_ptr<Run>& run, const std::string& sql, double seconds) {
  auto data = value_or_raise(run_interruptibly(
      [&](const Progress& progress) { return run->query(sql, seconds, progress); }));
  const size_t rows = data.rows;
  return nb::make_tuple(rows, as_numpy(std::move(data)));
}

// Result tables; `make` returns a Result<TableData>.
template <typename Make>
nb::tuple computed(Make&& make) {
  auto data = value_or_raise(run_interruptibly([&](const Progress&) { return make(); }));
  const size_t rows = data.rows;
  return nb::make_tuple(rows, as_numpy(std::move(data)));
}

nb::tuple analysis(const std::shared_ptr<Run>& run, const std::string& name) {
  return computed([&] { return run->analysis(name); });
}

using Number = std::optional<int64_t>;

nb::tuple critical_path(const std::shared_ptr<Run>& run, Number rank, Number step) {
  return computed([&] { return run->critical_path(rank, step); });
}

nb::tuple critical_path_segments(const std::shared_ptr<Run>& run, Number rank, Number step) {
  return computed([&] { return run->critical_path_segments(rank, step); });
}

nb::tuple what_if(const std::shared_ptr<Run>& run, const std::string& what, double factor,
                  Number rank, Number step) {
  return computed([&] { return run->what_if(what, factor, rank, step); });
}

nb::tuple find_operators(const std::shared_ptr<Run>& run, const std::string& search, size_t limit) {
  return computed([&] { return Result<TableData>(run->find_operators(search, limit)); });
}

nb::list describe(const std::vector<TableInfo>& tables) {
  nb::list out;
  for (const TableInfo& info : tables) {
    nb::list columns;
    for (const auto& column : info.columns) columns.append(nb::make_tuple(column.name, column.doc));
    out.append(nb::make_tuple(info.name, info.doc, columns));
  }
  return out;
}

nb::list tables(const std::shared_ptr<Run>& run) { return describe(value_or_raise(run->tables())); }
nb::list analyses(const std::shared_ptr<Run>& run) { return describe(run->analyses()); }

std::string analysis_reason(const std::shared_ptr<Run>& run, const std::string& name) {
  return value_or_raise(run->analysis_reason(name));
}

std::string report(const std::shared_ptr<Run>& run, const std::string& format) {
  return repair_utf8(
      value_or_raise(run_interruptibly([&](const Progress&) { return run->report(format); })));
}

uint64_t write_chrome_trace(const std::shared_ptr<Run>& run, int64_t rank, const nb::bytes& path) {
  const std::string name(path.c_str(), path.size());
  return value_or_raise(run_interruptibly(
      [&](const Progress& progress) { return run->write_chrome_trace(rank, name, progress); }));
}

// `steps` count from 1, the first one of each rank.
// Folder, names of the files, [(name, why)] of those left out, and the reason when it failed, of
// each rank.
// `on_progress` is called with bytes read, bytes to read, ranks written, and all ranks (0: not
// known yet).
nb::list analyse(const std::vector<nb::bytes>& paths, const nb::bytes& output,
                 const std::vector<int64_t>& steps, bool pretty, bool simplify, unsigned jobs,
                 const nb::object& on_progress) {
  Names names;
  for (const nb::bytes& path : paths) names.emplace_back(path.c_str(), path.size());
  AnalyseOptions options;
  options.output = std::string(output.c_str(), output.size());
  options.steps = steps;
  options.steps_from_first = true;
  options.pretty = pretty;
  options.simplify = simplify;
  options.jobs = jobs;
  std::atomic<size_t> done = 0;
  std::atomic<size_t> all = 0;
  const auto ranks = value_or_raise(run_interruptibly(
      [&](Progress& progress) {
        return analyse_runs(names, options, progress,
                            [&](const AnalysedRank&, const AnalyseProgress& ranks_so_far) {
                              done = ranks_so_far.done;
                              all = ranks_so_far.all;
                            });
      },
      [&](const Progress& progress) {
        if (!on_progress.is_none())
          on_progress(progress.done_bytes(), progress.total_bytes(), done.load(), all.load());
      }));
  nb::list out;
  for (const AnalysedRank& rank : ranks) {
    nb::list files;
    for (const std::string& file : rank.files) files.append(file);
    nb::list omitted;
    for (const auto& [name, why] : rank.omitted)
      omitted.append(nb::make_tuple(name, repair_utf8(why)));
    out.append(nb::make_tuple(rank.rank, rank.window, as_path(rank.folder), files, omitted,
                              repair_utf8(rank.error)));
  }
  return out;
}

std::string info_json(const std::shared_ptr<Run>& run) {
  return value_or_raise(
      run_interruptibly([&](const Progress& progress) { return run->info_json(progress); }));
}

}  // namespace

NB_MODULE(_native, module) {
  // A run that a program keeps to its end is no leak, though the interpreter may end before it.
  nb::set_leak_warnings(false);
  module.attr("version") = STEPSCOPE_VERSION;
  nb::class_<Run>(module, "Run")
      .def_prop_ro("store_path", [](const Run& run) { return as_path(run.store_path()); })
      .def_prop_ro("store_bytes", &Run::store_bytes)
      .def_prop_ro("imported", &Run::imported)
      .def_prop_ro("notes",
                   [](const Run& run) {
                     nb::list notes;
                     for (const std::string& note : run.notes()) notes.append(repair_utf8(note));
                     return notes;
                   })
      .def("tables", &tables)
      .def("table", &table, nb::arg("name"), nb::arg("columns").none())
      .def("query", &query, nb::arg("sql"), nb::arg("seconds"))
      .def("analyses", &analyses)
      .def("analysis", &analysis, nb::arg("name"))
      .def("analysis_reason", &analysis_reason, nb::arg("name"))
      .def("critical_path", &critical_path, nb::arg("rank").none(), nb::arg("step").none())
      .def("critical_path_segments", &critical_path_segments, nb::arg("rank").none(),
           nb::arg("step").none())
      .def("what_if", &what_if, nb::arg("what"), nb::arg("factor"), nb::arg("rank").none(),
           nb::arg("step").none())
      .def("find_operators", &find_operators, nb::arg("search"), nb::arg("limit"))
      .def("report", &report, nb::arg("format"))
      .def("write_chrome_trace", &write_chrome_trace, nb::arg("rank"), nb::arg("path"))
      .def("info_json", &info_json);
  module.def("analyse", &analyse, nb::arg("paths"), nb::arg("output"), nb::arg("steps"),
             nb::arg("pretty"), nb::arg("simplify"), nb::arg("jobs"), nb::arg("progress").none());
  module.def("open_run", &open_run, nb::arg("paths"), nb::arg("form"), nb::arg("jobs"),
             nb::arg("memory_bytes"), nb::arg("force"), nb::arg("progress").none());
}

}  // namespace stepscope::python
