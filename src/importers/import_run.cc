#include "importers/import_run.h"

#include <sys/sysinfo.h>
#include <unistd.h>

#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/abandoned_outputs.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/intervals.h"
#include "base/parallel.h"
#include "base/user_folder.h"
#include "importers/discover.h"
#include "importers/native/executions.h"
#include "json/json_members.h"
#include "json/json_tree.h"
#include "store/store_reader.h"
#include "store/store_writer.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view kPackedSuffixes[] = {".gz", ".zst", ".zip", ".db"};

bool is_store(const std::string& path) {
  auto file = InputFile::open(path);
  char magic[sizeof kStoreMagic] = {};
  if (!file) return false;
  auto got = file->read_at(0, magic, sizeof magic);
  return got && *got == sizeof magic &&
         std::string_view(magic, sizeof magic) == std::string_view(kStoreMagic, 8);
}

std::string beside_input(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return path + "/run" + std::string(kStoreSuffix);
  return path + std::string(kStoreSuffix);
}

// "" when the user has no folder for it.
std::string in_cache(const std::string& path) {
  std::string folder = writable_user_folder(cache_folder());
  if (folder.empty()) return {};
  folder += "/stores";
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  const std::string absolute = fs::absolute(path, ignored).lexically_normal().string();
  std::string name = fs::path(absolute).filename().string();
  if (name.empty()) name = "run";
  return folder + "/" + name + "-" + std::to_string(hash_bytes(absolute)) +
         std::string(kStoreSuffix);
}

bool folder_is_writable(const std::string& file) {
  const std::string folder = fs::path(file).parent_path().string();
  return ::access(folder.empty() ? "." : folder.c_str(), W_OK) == 0;
}

// Why the store at `path` cannot be used for these inputs, or "" when it can; `notes` then gets
// what there is to know about it.
std::string stale_reason(const std::string& path, uint64_t stamp,
                         const std::vector<std::string>& paths, const ImportOptions& options,
                         std::vector<std::string>& notes) {
  auto store = StoreReader::open(path);
  if (!store)
    return store.error().code == ErrorCode::kUnsupported ? "it was made by another version"
                                                         : store.error().why;
  const json info = json_tree((*store)->run_info_json());
  if (!info.is_object()) return "its description cannot be read";
  if (info.value("stamp", std::string()) != std::to_string(stamp)) return "the input changed since";
  // A program that is killed leaves its file as it is: who reads it again shall be told.
  if (info.value("still_recording", false)) return "the recording was still going on";
  // A store of another form serves those who did not ask for one: they get what was chosen last.
  if (!options.form.empty() && info.value("form", std::string()) != options.form)
    return "another form was asked for";
  // Args are read from the inputs, so the store must know where they are now.
  if (info.value("paths", json()) != json(paths)) return "the input was moved";
  if (const std::string executions = text_in(info, "executions"); !executions.empty())
    notes.push_back(executions);
  return {};
}

uint64_t estimated_memory(const Candidate& candidate) {
  uint64_t text_bytes = candidate.text_bytes > 0 ? candidate.text_bytes : candidate.bytes;
  for (const std::string_view suffix : kPackedSuffixes) {
    if (candidate.path.ends_with(suffix)) text_bytes = candidate.bytes * 12;
  }
  return text_bytes / 4 + (8u << 20);
}

// Lets ranks in while their estimated memory fits; one is always let in.
class MemoryGate {
 public:
  explicit MemoryGate(uint64_t budget) : budget_(budget) {}
  void enter(uint64_t bytes) {
    std::unique_lock lock(mutex_);
    free_.wait(lock, [&] { return inside_ == 0 || used_ + bytes <= budget_; });
    ++inside_;
    used_ += bytes;
  }
  void leave(uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    --inside_;
    used_ -= bytes;
    free_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable free_;
  const uint64_t budget_;
  uint64_t used_ = 0;
  int inside_ = 0;
};

std::string other_forms(const RankSource& source) {
  if (source.others.empty()) return {};
  json list = json::array();
  for (const Candidate& other : source.others)
    list.push_back({{"form", other.importer->name()}, {"path", other.path}});
  return write_json(list);
}

// The part comes first: its importer sees a rank with nothing else in it. Who the rank is and which
// steps it has is said by the chosen form, as far as it knows.
Status import_with_part(const RankSource& source, const ImportContext& context, RankBuilder& rank) {
  if (!source.part) return source.chosen.importer->import(source.chosen, context, rank);
  const RankInfo own = rank.info;
  if (auto read = source.part->importer->import(*source.part, context, rank); !read) {
    if (read.error().code == ErrorCode::kCancelled) return read;
    rank.quality.add(QualityCode::kUnreadableFile, read.error().message());
  }
  const RankInfo of_part = std::exchange(rank.info, own);
  std::vector<StepRecord> steps = std::exchange(rank.steps, {});
  if (auto read = source.chosen.importer->import(source.chosen, context, rank); !read) return read;
  if (rank.steps.empty()) rank.steps = std::move(steps);
  if (rank.info.device_kind.empty() || rank.info.device_kind == "CPU")
    rank.info.device_kind = of_part.device_kind;
  json versions = json_tree(rank.info.versions_json);
  if (!versions.is_object()) versions = json::object();
  json more = json_tree(of_part.versions_json);
  if (more.is_object()) versions[source.part->importer->name()] = std::move(more);
  rank.info.versions_json = write_json(versions);
  return {};
}

// From the first start to the last end of what has a length.
Interval time_of(RankBuilder& rank) {
  Interval time{0, 0};
  for (TrackId track = 0; track < rank.track_count(); ++track) {
    for (const SliceRecord& slice : rank.slices(track)) {
      if (slice.dur_ns <= 0 || (slice.flags & (kFlagImpossible | kFlagInstant)) != 0) continue;
      const int64_t end_ns = slice.ts_ns + slice.dur_ns;
      const bool first = time.start_ns == time.end_ns;
      time.start_ns = first ? slice.ts_ns : std::min(time.start_ns, slice.ts_ns);
      time.end_ns = first ? end_ns : std::max(time.end_ns, end_ns);
    }
  }
  return time;
}

class RunImport {
 public:
  // `stamps`: the files as they were before the first was read.
  RunImport(const std::vector<RankSource>& sources, const FileStamps& stamps,
            const ImportOptions& options, StoreWriter& writer, Progress& progress)
      : sources_(sources),
        stamps_(stamps),
        writer_(writer),
        progress_(progress),
        gate_(budget(options)) {
    const unsigned cpus = options.jobs == 0 ? available_cpus() : options.jobs;
    ranks_at_once_ = static_cast<unsigned>(std::min<size_t>(cpus, sources.size()));
    threads_per_rank_ = std::max(1u, cpus / std::max(1u, ranks_at_once_));
    for (const RankSource& source : sources) {
      ++windows_of_[source.chosen.rank];
      progress.add_total_bytes(source.chosen.bytes);
      if (source.part) progress.add_total_bytes(source.part->bytes);
    }
  }

  // Of any rank, once all are read.
  bool still_recording() const { return still_recording_; }

  Status run(std::vector<std::string>& notes) {
    parallel_for(sources_.size(), ranks_at_once_, [&](size_t at) { import_rank(at); });
    if (progress_.cancelled())
      return Error{ErrorCode::kCancelled, "cancelled", "", "nothing was written", ""};
    if (!write_error_.ok()) return write_error_;
    if (failures_.size() == sources_.size()) return failures_.begin()->second;
    for (const auto& [position, error] : failures_) {
      notes.push_back("rank " + std::to_string(sources_[position].chosen.rank) +
                      " could not be read: " + error.message());
    }
    note_missing_ranks();
    note_overlapping_windows();
    return {};
  }

 private:
  static uint64_t budget(const ImportOptions& options) {
    if (options.memory_bytes != 0) return options.memory_bytes;
    struct sysinfo machine{};
    ::sysinfo(&machine);
    return static_cast<uint64_t>(machine.totalram) * machine.mem_unit / 2;
  }

  void import_rank(size_t at) {
    if (progress_.cancelled()) return;
    const RankSource& source = sources_[at];
    const auto position = static_cast<uint32_t>(at);
    uint64_t memory = estimated_memory(source.chosen);
    if (source.part) memory += estimated_memory(*source.part);
    gate_.enter(memory);
    RankBuilder rank;
    rank.info.rank = source.chosen.rank;
    rank.info.rank_inferred = source.chosen.rank_inferred;
    rank.info.window = source.window;
    rank.info.source_format = source.chosen.importer->name();
    rank.info.source_path = source.chosen.path;
    rank.info.other_forms_json = other_forms(source);
    const ImportContext context{progress_, threads_per_rank_, memory};
    Status status = import_with_part(source, context, rank);
    if (status.ok()) status = check_unchanged(stamps_, rank.sources);
    if (!status.ok() && status.error().code != ErrorCode::kCancelled) {
      // The rank stays in the run, empty, with the reason.
      RankBuilder empty;
      empty.info = rank.info;
      empty.quality.add(QualityCode::kFailedRank, status.error().message());
      rank = std::move(empty);
    }
    if (!source.others.empty()) {
      std::string names;
      for (const Candidate& other : source.others)
        names += (names.empty() ? "" : ", ") + std::string(other.importer->name());
      rank.quality.add(QualityCode::kOtherForms, names, static_cast<int64_t>(source.others.size()));
    }
    // The parts of one recording run at the same time.
    const bool several = windows_of_.at(source.chosen.rank) > 1 && source.chosen.part.empty();
    const Interval time = several ? time_of(rank) : Interval();  // before the writer empties it
    const bool still_recording = rank.quality.entries().contains(QualityCode::kStillRecording);
    Status written;
    if (!progress_.cancelled()) written = writer_.add_rank(position, rank, threads_per_rank_);
    gate_.leave(memory);
    const std::lock_guard lock(mutex_);
    if (!status.ok()) failures_.emplace(at, status.error());
    if (!written.ok() && write_error_.ok()) write_error_ = written;
    numbers_.insert(rank.info.rank);
    still_recording_ = still_recording_ || still_recording;
    if (rank.info.world_size != kNull) world_size_ = std::max(world_size_, rank.info.world_size);
    if (several) windows_.push_back({rank.info.rank, time, position});
  }

  // Several files of one rank are taken as one recording after another.
  void note_overlapping_windows() {
    std::sort(windows_.begin(), windows_.end(), [](const Window& a, const Window& b) {
      return std::tie(a.rank, a.time.start_ns, a.position) <
             std::tie(b.rank, b.time.start_ns, b.position);
    });
    const Window* longest = nullptr;  // that of those before which ends last
    for (const Window& window : windows_) {
      if (window.time.end_ns <= window.time.start_ns) continue;
      const bool same = longest != nullptr && longest->rank == window.rank;
      if (same && window.time.start_ns < longest->time.end_ns) {
        writer_.quality(window.position)
            .add(QualityCode::kOverlappingWindows, sources_[window.position].chosen.path + " and " +
                                                       sources_[longest->position].chosen.path);
      }
      if (!same || window.time.end_ns > longest->time.end_ns) longest = &window;
    }
  }

  void note_missing_ranks() {
    const auto present = static_cast<int64_t>(numbers_.size());
    if (world_size_ <= present) return;
    writer_.quality(0).add(
        QualityCode::kMissingRank,
        std::to_string(present) + " of " + std::to_string(world_size_) + " ranks are here",
        world_size_ - present);
  }

  const std::vector<RankSource>& sources_;
  const FileStamps& stamps_;
  StoreWriter& writer_;
  Progress& progress_;
  MemoryGate gate_;
  unsigned ranks_at_once_ = 1;
  unsigned threads_per_rank_ = 1;
  std::mutex mutex_;
  std::map<size_t, Error> failures_;
  std::set<int64_t> numbers_;
  struct Window {
    int64_t rank = 0;
    Interval time;
    uint32_t position = 0;
  };
  std::vector<Window> windows_;
  std::map<int64_t, int> windows_of_;  // how many a rank has
  int64_t world_size_ = 0;
  bool still_recording_ = false;
  Status write_error_;
};

// A store is as confidential as what it was made of: nobody else may read it who may not read that.
uint32_t mode_of_store(const std::vector<std::string>& paths) {
  uint32_t mode = 0644;
  std::error_code error;
  for (const std::string& path : paths) {
    const fs::perms allowed = fs::status(path, error).permissions();
    if (!error) mode &= static_cast<uint32_t>(allowed);
  }
  return mode | 0600;
}

}  // namespace

Result<ImportedRun> import_run(const std::vector<std::string>& given_paths,
                               const ImportOptions& options, Progress& progress) {
  ImportedRun run;
  std::error_code ignored;
  // Absolute, because the store names its inputs and is read from other working folders.
  std::vector<std::string> paths;
  for (const std::string& path : given_paths) {
    std::string absolute = fs::absolute(path, ignored).lexically_normal().string();
    while (absolute.size() > 1 && absolute.back() == '/') absolute.pop_back();
    paths.push_back(absolute);
  }
  if (paths.empty())
    return Error{ErrorCode::kNotFound, "nothing to import", "", "no path was given",
                 "name a trace or a folder"};
  if (paths.size() == 1 && is_store(paths[0])) {
    run.store_path = paths[0];
    return run;
  }
  FileStamps stamps;  // what a rank reads must still be the same when it has been read
  const auto stamp = stamp_paths(paths, &stamps);
  if (!stamp) return stamp.error();
  std::vector<std::string> places = {options.output};
  if (options.output.empty()) places = {beside_input(paths[0]), in_cache(paths[0])};
  for (const std::string& place : places) {
    if (options.force || !fs::exists(place, ignored)) continue;
    const std::string reason = stale_reason(place, *stamp, paths, options, run.notes);
    if (reason.empty()) {
      run.store_path = place;
      return run;
    }
    run.notes.push_back("rebuilding " + place + ": " + reason);
  }
  run.store_path = folder_is_writable(places[0]) || places.size() == 1 ? places[0] : places[1];
  if (run.store_path.empty()) {
    return Error{ErrorCode::kPermission, "cannot write a store for", paths[0],
                 "neither its folder nor the cache folder nor " + temporary_user_folder() +
                     " can be written by this user alone",
                 "set XDG_CACHE_HOME to a folder you can write, or run stepscope import with -o"};
  }
  run.imported = true;

  std::vector<std::string> limits;
  std::vector<LeftOut> left_out;
  auto sources = discover(paths, options.form, &run.notes, &limits, &left_out);
  if (!sources) return std::move(sources.error());
  // Who names several recordings wants them together.
  const std::string executions = paths.size() == 1 ? keep_newest_execution(*sources) : "";
  if (!executions.empty()) run.notes.push_back(executions);
  remove_abandoned_outputs(run.store_path);
  auto writer = StoreWriter::create(run.store_path, static_cast<uint32_t>(sources->size()),
                                    mode_of_store(paths));
  if (!writer) return std::move(writer.error());
  for (const std::string& limit : limits) {
    run.notes.push_back(limit);
    (*writer)->quality(0).add(QualityCode::kLimitReached, limit);
  }
  for (const LeftOut& members : left_out) {
    run.notes.push_back(members.text);
    (*writer)->quality(0).add(QualityCode::kIgnoredFile, members.text, members.count);
  }
  RunImport import(*sources, stamps, options, **writer, progress);
  if (auto status = import.run(run.notes); !status) return std::move(status.error());

  json info;
  info["tool"] = "stepscope";
  info["stamp"] = std::to_string(*stamp);
  info["form"] = options.form;
  if (!executions.empty()) info["executions"] = executions;
  if (import.still_recording()) info["still_recording"] = true;
  info["paths"] = json::array();
  for (const std::string& path : paths) info["paths"].push_back(path);
  if (auto status = (*writer)->finish(write_json(info)); !status) {
    return std::move(status.error());
  }
  return run;
}

}  // namespace stepscope
