#include "server/run_catalog.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <utility>

#include <malloc.h>

#include "analyses/common/rank_rows.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/hash.h"
#include "importers/discover.h"
#include "importers/import_run.h"
#include "server/confinement.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

// What was computed of a run (3 MB of one with 300 steps, more of larger ones) stays while it is
// open. Only those looked at last are; another is opened again, and computed, when it is asked for.
constexpr size_t kMostOpen = 12;

int64_t modified_ns(const std::string& path) {
  std::error_code problem;
  const auto time = fs::last_write_time(path, problem);
  if (problem) return 0;
  const auto system = std::chrono::file_clock::to_sys(time);
  return std::chrono::duration_cast<std::chrono::nanoseconds>(system.time_since_epoch()).count();
}

std::vector<FoundRun> as_list(std::optional<FoundRun> run) {
  if (!run) return {};
  return {std::move(*run)};
}

std::string id_of(const std::string& name) {
  static constexpr char kDigits[] = "0123456789abcdef";
  uint64_t hash = hash_bytes(name);
  std::string id;
  for (int i = 0; i < 16; ++i, hash >>= 4) id += kDigits[hash & 15];
  return id;
}

}  // namespace

std::string_view run_state_name(RunState state) {
  switch (state) {
    case RunState::kFound:
      return "found";
    case RunState::kImporting:
      return "importing";
    case RunState::kReady:
      return "ready";
    case RunState::kFailed:
      return "failed";
  }
  return "";
}

struct RunCatalog::Run {
  RunEntry entry;
  uint64_t stamp = 0;
  int64_t turn = 0;  // higher ones are imported first
  std::string store_path;
  Error error;                    // of kFailed
  std::shared_ptr<OpenRun> open;  // while it is among those looked at last
  int64_t looked_at = 0;          // higher ones later
};

RunCatalog::RunCatalog(CatalogOptions options) : options_(std::move(options)) {}

RunCatalog::~RunCatalog() { stop(); }

Status RunCatalog::start() {
  if (auto status = look(); !status) return status;
  worker_ = std::thread([this] { work(); });
  return {};
}

void RunCatalog::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    if (importing_) importing_->cancel();
  }
  wake_.notify_all();
  if (worker_.joinable()) worker_.join();
}

void RunCatalog::work() {
  std::unique_lock lock(mutex_);
  const auto pause = std::chrono::duration<double>(
      options_.look_every_seconds > 0 ? options_.look_every_seconds : 3600);
  while (!stopping_) {
    while (!stopping_ && import_next(lock)) {
    }
    if (stopping_) return;
    wake_.wait_for(lock, pause);
    if (stopping_ || options_.look_every_seconds <= 0) continue;
    lock.unlock();
    (void)look();  // a folder that is gone for a moment may come back
    lock.lock();
  }
}

Status RunCatalog::look() {
  const std::scoped_lock alone(looking_);
  std::error_code problem;
  const fs::path base = fs::canonical(options_.base, problem);
  if (problem)
    return Error{ErrorCode::kNotFound, "cannot look for runs", options_.base, problem.message(),
                 "name a folder with recordings, or a trace"};
  std::vector<std::string> entries;
  if (takes_files()) {
    for (const fs::path& entry : paths_in(base, problem)) {
      if (is_own_store(entry.filename().string())) continue;
      const fs::path real = fs::canonical(entry, problem);
      // Links may not lead out of the folder.
      if (problem || !is_below(real, base)) continue;
      entries.push_back(entry.string());
    }
  } else {
    entries.push_back(base.string());
  }

  std::set<std::string> seen;
  std::map<std::vector<std::string>, Looked> looked;
  // Where nothing changed, what was found there is still right.
  const auto look_at = [&](const std::vector<std::string>& paths, uint64_t stamp,
                           const auto& find) -> bool {
    Looked& now = looked[paths];
    const auto before = looked_.find(paths);
    if (before != looked_.end() && before->second.stamp == stamp) {
      now = std::move(before->second);
    } else {
      now.stamp = stamp;
      for (const FoundRun& run : find()) now.ids.push_back(keep(run, base.string()));
    }
    seen.insert(now.ids.begin(), now.ids.end());
    return !now.ids.empty();
  };
  for (const std::vector<std::string>& group : siblings(std::move(entries))) {
    std::vector<std::pair<std::string, uint64_t>> stamps;
    uint64_t all = group.size();
    for (const std::string& path : group) {
      const auto stamp = stamp_paths({path});
      if (!stamp) continue;
      stamps.emplace_back(path, *stamp);
      all = mix64(all, *stamp);
    }
    if (group.size() > 1 && look_at(group, all, [&] { return as_list(find_ranks(group)); }))
      continue;
    for (const auto& [path, stamp] : stamps)
      look_at({path}, stamp, [&, &path = path] { return find_runs(path); });
  }
  looked_ = std::move(looked);
  const std::scoped_lock lock(mutex_);
  std::erase_if(runs_, [&](const auto& item) { return !seen.contains(item.first); });
  return {};
}

// Puts a run into the list unless it is there as it is now. Its id.
std::string RunCatalog::keep(const FoundRun& found, const std::string& base) {
  const auto name_of = [&](const std::string& path) {
    return path == base ? fs::path(base).filename().string()
                        : fs::path(path).lexically_relative(base).string();
  };
  std::string below = name_of(found.path);
  if (!found.name.empty()) below = (fs::path(below).parent_path() / found.name).string();
  const std::string id = id_of(below);
  std::vector<std::string> paths = found.more_paths;
  paths.insert(paths.begin(), found.path);
  const auto stamp = stamp_paths(paths);
  const std::scoped_lock lock(mutex_);
  auto& run = runs_[id];
  if (run && stamp && run->stamp == *stamp && run->entry.path == found.path) return id;
  auto fresh = std::make_shared<Run>();
  fresh->entry.id = id;
  fresh->entry.name = below;
  fresh->entry.path = found.path;
  fresh->entry.more_paths = found.more_paths;
  if (!found.name.empty())
    for (const std::string& path : paths) fresh->entry.former_ids.push_back(id_of(name_of(path)));
  fresh->entry.input_bytes = found.bytes;
  fresh->entry.modified_ns = modified_ns(found.path);
  fresh->stamp = stamp ? *stamp : 0;
  fresh->turn = run ? run->turn : 0;
  run = std::move(fresh);
  return id;
}

// Imports one run without holding the lock; false when none is waiting.
bool RunCatalog::import_next(std::unique_lock<std::mutex>& lock) {
  std::shared_ptr<Run> next;
  for (const auto& [id, run] : runs_) {
    if (run->entry.state != RunState::kFound) continue;
    if (!next || run->turn > next->turn ||
        (run->turn == next->turn && run->entry.modified_ns > next->entry.modified_ns))
      next = run;
  }
  if (!next) return false;
  next->entry.state = RunState::kImporting;
  importing_ = std::make_shared<Progress>();
  const auto progress = importing_;
  std::vector<std::string> paths = next->entry.more_paths;
  paths.insert(paths.begin(), next->entry.path);
  lock.unlock();

  ImportOptions options;
  options.jobs = options_.import_threads;
  // A run that was named is opened as it is.
  Status links;
  for (size_t i = 0; i < paths.size() && links && !options_.base_is_run; ++i)
    links = check_links(paths[i], options_.base);
  auto imported =
      links ? import_run(paths, options, *progress) : Result<ImportedRun>(links.error());
  std::shared_ptr<OpenRun> open;
  std::optional<Error> error;
  if (!imported) {
    error = imported.error();
  } else if (auto opened = OpenRun::open(imported->store_path); opened) {
    open = std::move(*opened);
  } else {
    error = opened.error();
  }

  RunEntry facts;
  if (open) {
    const StoreReader& store = open->store();
    facts.ranks = static_cast<int64_t>(store.rank_count());
    facts.store_bytes = store.file_bytes();
    std::set<std::string> devices;
    for (size_t rank = 0; rank < store.rank_count(); ++rank) {
      facts.steps = std::max(facts.steps, static_cast<int64_t>(store.rows(Table::kSteps, rank)));
      const std::string_view name = text_at(store, Table::kRanks, "device_name", rank);
      const std::string_view kind = text_at(store, Table::kRanks, "device_kind", rank);
      if (!name.empty() || !kind.empty()) devices.emplace(name.empty() ? kind : name);
      for_each_row<1>(store, Table::kQuality, rank, {"severity"}, [&](const auto& row) {
        const std::string_view severity = store.string(row[0]);
        facts.losses += severity == "loss";
        facts.suspects += severity == "suspect";
      });
    }
    for (const std::string& device : devices)
      facts.devices += (facts.devices.empty() ? "" : ", ") + device;
  }

  lock.lock();
  importing_.reset();
  if (stopping_) return false;
  RunEntry& entry = next->entry;
  if (error) {
    entry.state = RunState::kFailed;
    entry.reason = error->message();
    next->error = std::move(*error);
  } else {
    entry.state = RunState::kReady;
    entry.ranks = facts.ranks;
    entry.steps = facts.steps;
    entry.devices = facts.devices;
    entry.losses = facts.losses;
    entry.suspects = facts.suspects;
    entry.store_bytes = facts.store_bytes;
    next->store_path = imported->store_path;
  }
  return true;
}

std::vector<RunEntry> RunCatalog::entries() const {
  const std::scoped_lock lock(mutex_);
  std::vector<RunEntry> all;
  for (const auto& [id, run] : runs_) {
    all.push_back(run->entry);
    if (run->entry.state == RunState::kImporting && importing_) {
      all.back().done_bytes = importing_->done_bytes();
      all.back().total_bytes = importing_->total_bytes();
    }
  }
  return all;
}

bool RunCatalog::takes_files() const {
  std::error_code problem;
  return !options_.base_is_run && fs::is_directory(options_.base, problem);
}

Result<std::shared_ptr<OpenRun>> RunCatalog::open(const std::string& id) {
  std::shared_ptr<OpenRun> closed;  // goes after the lock
  std::unique_lock lock(mutex_);
  const auto found = find(id);
  if (!found) return found.error();
  Run& run = **found;
  // Numbers of slices and tracks that the asker has are of the store of one rank.
  if (run.entry.id != id)
    return Error{ErrorCode::kChanged, "the run has more ranks now", run.entry.name,
                 "its files are one run, and numbers of the former one are not valid in it",
                 "ask for " + run.entry.id};
  if (run.entry.state == RunState::kFailed) {
    Error why = run.error;
    std::string remedy = std::exchange(why.remedy, "");
    if (remedy.empty()) remedy = "repair or replace the file: it is read again when it changes";
    return Error{why.code, "cannot open the run", run.entry.name, why.message(), remedy};
  }
  if (run.entry.state != RunState::kReady)
    return Error{ErrorCode::kCancelled, "not ready yet", run.entry.name, "it is being imported",
                 "ask again in a moment"};
  if (!run.open) {
    auto opened = OpenRun::open(run.store_path);
    if (!opened) {  // somebody removed the store: it is made again
      run.entry.state = RunState::kFound;
      wake_.notify_all();
      return std::move(opened.error());
    }
    run.open = std::move(*opened);
  }
  run.looked_at = ++looks_;
  closed = close_oldest();
  const std::shared_ptr<OpenRun> open = run.open;
  lock.unlock();
  if (closed.use_count() == 1) {
    closed.reset();
    malloc_trim(0);  // much of it lies between what stays
  }
  return open;
}

// The run that nobody looked at for longest, when more than kMostOpen are open.
std::shared_ptr<OpenRun> RunCatalog::close_oldest() {
  Run* oldest = nullptr;
  size_t open = 0;
  for (const auto& [id, run] : runs_) {
    if (!run->open) continue;
    ++open;
    if (oldest == nullptr || run->looked_at < oldest->looked_at) oldest = run.get();
  }
  return open > kMostOpen ? std::exchange(oldest->open, nullptr) : nullptr;
}

Result<std::string> RunCatalog::path_of(const std::string& id) const {
  const std::scoped_lock lock(mutex_);
  const auto found = find(id);
  if (!found) return found.error();
  return (*found)->entry.path;
}

// The lock is held.
Result<RunCatalog::Run*> RunCatalog::find(const std::string& id) const {
  if (const auto found = runs_.find(id); found != runs_.end()) return found->second.get();
  for (const auto& [other, run] : runs_) {
    const std::vector<std::string>& former = run->entry.former_ids;
    if (std::find(former.begin(), former.end(), id) != former.end()) return run.get();
  }
  return Error{ErrorCode::kNotFound, "no such run", id, "nothing of that id is in the folder",
               "it may have been removed; see the list of runs"};
}

Result<std::string> RunCatalog::add(const std::string& path) {
  if (auto status = look(); !status) return std::move(status.error());
  std::string id;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [one, run] : runs_) {
      const auto is_it = [&](const std::string& own) {
        std::error_code ignored;
        return fs::equivalent(own, path, ignored);
      };
      if (is_it(run->entry.path) || std::ranges::any_of(run->entry.more_paths, is_it)) id = one;
    }
  }
  if (id.empty())
    return Error{ErrorCode::kChanged, "the file is gone again", path, "", "send it again"};
  if (auto status = want(id); !status) return std::move(status.error());
  return id;
}

Status RunCatalog::want(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  const auto found = find(id);
  if (!found) return found.error();
  int64_t last = 0;
  for (const auto& [other, run] : runs_) last = std::max(last, run->turn);
  (*found)->turn = last + 1;
  if ((*found)->entry.state == RunState::kFailed) (*found)->entry.state = RunState::kFound;
  wake_.notify_all();
  return {};
}

}  // namespace stepscope
