#include "api/analyse.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string_view>

#include "analyses/run_analyses.h"
#include "analyses/user_settings.h"
#include "base/own_files.h"
#include "base/parallel.h"
#include "deliverables/profiler_output.h"
#include "importers/import_run.h"
#include "store/store_reader.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

bool is_cann_folder(const fs::path& path) { return path.filename().string().starts_with("PROF_"); }

bool is_run_folder(const fs::path& folder) {
  std::error_code error;
  for (const std::string_view name : {kFrameworkFolder, kProfilerOutputFolder}) {
    if (fs::is_directory(folder / name, error)) return true;
  }
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (is_cann_folder(at->path()) && at->is_directory(error)) return true;
  }
  return false;
}

// The folder of the run that a rank was read from; "" when it was not read from one.
std::string run_folder(const StoreReader& store, const RankId& rank) {
  std::error_code error;
  fs::path path(text_at(store, Table::kRanks, "source_path", rank.position));
  for (int up = 0; up < 3 && !path.empty(); ++up, path = path.parent_path()) {
    if (fs::is_directory(path, error) && is_run_folder(path)) return path.string();
  }
  return {};
}

// Files that the rank was read from lie in the folder, so nothing may be written there.
bool is_source_folder(const StoreReader& store, const RankId& rank, const std::string& folder) {
  bool inside = false;
  for_each_row<2>(store, Table::kSources, rank.position, {"path", "role"}, [&](const auto& row) {
    const auto [path, role] = row;
    inside |= store.string(path).starts_with(folder + "/") && store.string(role) != "ignored";
  });
  return inside;
}

void simplify(const StoreReader& store, const RankId& rank, const fs::path& run) {
  std::error_code error;
  std::vector<fs::path> products;
  const auto add = [&](const fs::path& path) {
    if (fs::exists(path, error) && !is_source_folder(store, rank, path.string()))
      products.push_back(path);
  };
  for (fs::directory_iterator at(run, error), end; !error && at != end; at.increment(error)) {
    if (!is_cann_folder(at->path())) continue;
    add(at->path() / "mindstudio_profiler_output");
    add(at->path() / "mindstudio_profiler_log");
    std::error_code inner;
    for (fs::directory_iterator part(at->path(), inner), last; !inner && part != last;
         part.increment(inner)) {
      const std::string name = part->path().filename().string();
      if (name != "host" && !name.starts_with("device_")) continue;
      add(part->path() / "sqlite");
      add(part->path() / "data" / "all_file.complete");
    }
  }
  for (const fs::path& path : products) fs::remove_all(path, error);
}

Error no_place(const std::string& path) {
  return {ErrorCode::kUnsupported, "cannot write the files", path,
          "it is not the folder of a run (with FRAMEWORK/, PROF_*/ or ASCEND_PROFILER_OUTPUT/)",
          "name a folder for them with -o"};
}

class Analysis {
 public:
  Analysis(const AnalyseOptions& options, Progress& progress,
           const std::function<void(const AnalysedRank&, const AnalyseProgress&)>& done)
      : options_(options), progress_(progress), done_(done) {}

  // Imports the path, and adds its ranks.
  Status open(const std::string& path) {
    auto analysis = analysis_options();
    if (!analysis) return std::move(analysis.error());
    ImportOptions settings;
    settings.jobs = options_.jobs;
    // A store beside an input that may not be written to goes to the cache, as always.
    auto imported = import_run({path}, settings, progress_);
    if (!imported) return std::move(imported.error());
    auto store = StoreReader::open(imported->store_path);
    if (!store) return std::move(store.error());
    analysis->threads = options_.jobs;
    runs_.push_back(std::make_unique<RunAnalyses>(*store, std::move(*analysis)));
    for (const RankId& rank : runs_.back()->ranks()) jobs_.push_back({runs_.back().get(), rank});
    return {};
  }

  Result<std::vector<AnalysedRank>> run() {
    std::vector<AnalysedRank> results(jobs_.size());
    const unsigned threads = options_.jobs == 0 ? available_cpus() : options_.jobs;
    size_t count = 0;
    parallel_for(jobs_.size(), threads, [&](size_t at) {
      if (progress_.cancelled()) return;
      results[at] = analyse(jobs_[at]);
      const std::scoped_lock lock(done_mutex_);
      if (done_ && !progress_.cancelled()) done_(results[at], {++count, jobs_.size()});
    });
    if (progress_.cancelled()) {
      return Error{ErrorCode::kCancelled, "cancelled", "",
                   "files of ranks that were not complete are not there", ""};
    }
    return results;
  }

 private:
  struct Job {
    RunAnalyses* run;
    RankId rank;
  };

  std::string target_of(const Job& job) const {
    const std::string folder(kProfilerOutputFolder);
    if (options_.output.empty()) {
      const std::string run = run_folder(job.run->store(), job.rank);
      return run.empty() ? "" : run + "/" + folder;
    }
    std::string target = options_.output;
    if (jobs_.size() > 1) target += "/rank" + std::to_string(job.rank.rank);
    if (jobs_.size() > 1 && job.rank.window > 0)
      target += "_window" + std::to_string(job.rank.window);
    return target + "/" + folder;
  }

  // The chosen steps by their numbers in the run. Fails when the rank has none of them: files
  // without a step would look like those of a run in which nothing happened.
  Result<std::vector<int64_t>> steps_of(const Job& job, const std::string& source) const {
    if (options_.steps.empty()) return std::vector<int64_t>{};
    std::vector<int64_t> numbers;
    for (const StepRow& step : job.run->steps()) {
      if (step.rank == job.rank.rank && step.window == job.rank.window)
        numbers.push_back(step.step);
    }
    if (numbers.empty())
      return Error{ErrorCode::kNotFound, "cannot choose steps", source, "it has none", ""};
    std::vector<int64_t> chosen = options_.steps;
    if (options_.steps_from_first) {
      for (int64_t& step : chosen) step += numbers.front() - 1;
    }
    if (std::ranges::find_first_of(numbers, chosen) != numbers.end()) return chosen;
    return Error{ErrorCode::kNotFound, "none of the chosen steps is there", source,
                 "its steps have the numbers " + std::to_string(numbers.front()) + " to " +
                     std::to_string(numbers.back()) +
                     (options_.steps_from_first ? "; 1 stands for the first of them" : ""),
                 "choose some of them"};
  }

  AnalysedRank analyse(const Job& job) {
    const StoreReader& store = job.run->store();
    AnalysedRank result;
    result.rank = job.rank.rank;
    result.window = job.rank.window;
    const std::string source(text_at(store, Table::kRanks, "source_path", job.rank.position));
    const std::string target = target_of(job);
    if (target.empty()) {
      result.error = no_place(source).message();
      return result;
    }
    if (is_source_folder(store, job.rank, target)) {
      result.error = Error{ErrorCode::kUnsupported, "cannot write the files", target,
                           "the run is read from files in it", "name another folder with -o"}
                         .message();
      return result;
    }
    ProfilerOutputOptions options;
    auto steps = steps_of(job, source);
    if (!steps) {
      result.error = steps.error().message();
      return result;
    }
    options.steps = std::move(*steps);
    options.pretty = options_.pretty;
    options.progress = &progress_;
    auto output = write_profiler_output(*job.run, job.rank, target, options);
    if (!output) {
      result.error = output.error().message();
      return result;
    }
    result.folder = target;
    result.files = std::move(output->files);
    for (OmittedFile& file : output->omitted)
      result.omitted.emplace_back(std::move(file.name), std::move(file.why));
    const std::string run = run_folder(store, job.rank);
    if (options_.simplify && !run.empty()) simplify(store, job.rank, run);
    return result;
  }

  const AnalyseOptions& options_;
  Progress& progress_;
  const std::function<void(const AnalysedRank&, const AnalyseProgress&)>& done_;
  std::mutex done_mutex_;
  std::vector<std::unique_ptr<RunAnalyses>> runs_;
  std::vector<Job> jobs_;
};

}  // namespace

Result<std::vector<AnalysedRank>> analyse_runs(
    const std::vector<std::string>& paths, const AnalyseOptions& options, Progress& progress,
    const std::function<void(const AnalysedRank&, const AnalyseProgress&)>& done) {
  Analysis analysis(options, progress, done);
  for (const std::string& path : paths) {
    if (auto status = analysis.open(path); !status) return std::move(status.error());
  }
  return analysis.run();
}

}  // namespace stepscope
