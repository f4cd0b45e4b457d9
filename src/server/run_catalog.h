// The runs under a folder: found, imported in the background, watched.
//
// A run is an entry of the folder that an importer recognises; a folder with the ranks of a job is
// one run, a folder with several jobs is gone into, and ranks of one job that lie beside each other
// in the folder are one run (find_runs.h). A thread looks every few seconds: new runs
// appear, changed ones are imported again, removed ones disappear. A run that cannot be read stays
// in the list with its reason.
//
// Nothing outside of the folder is ever opened: entries that lead out of it by a symbolic link are
// left out.
#ifndef STEPSCOPE_SERVER_RUN_CATALOG_H_
#define STEPSCOPE_SERVER_RUN_CATALOG_H_

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "server/find_runs.h"
#include "server/open_run.h"

namespace stepscope {

enum class RunState : uint8_t { kFound, kImporting, kReady, kFailed };
std::string_view run_state_name(RunState state);

struct RunEntry {
  std::string id;    // stable: made from the path below the folder
  std::string name;  // the path below the folder
  std::string path;
  std::vector<std::string> more_paths;  // of other ranks
  // Of ranks that lie beside each other: the ids that each had, or would have, by itself. Links
  // from before another one came lead to the run by them.
  std::vector<std::string> former_ids;
  RunState state = RunState::kFound;
  std::string reason;  // of kFailed
  uint64_t done_bytes = 0;
  uint64_t total_bytes = 0;
  uint64_t input_bytes = 0;
  int64_t modified_ns = 0;
  // Once ready.
  int64_t ranks = 0;
  int64_t steps = 0;
  std::string devices;
  int64_t losses = 0;    // conditions of the quality report that mean lost data
  int64_t suspects = 0;  // ... doubtful data
  uint64_t store_bytes = 0;
};

struct CatalogOptions {
  std::string base;               // folder with runs, or one run itself
  bool base_is_run = false;       // also where it is a folder: its files may be the ranks of a job
  unsigned import_threads = 0;    // 0: all CPUs
  double look_every_seconds = 3;  // 0: only when asked
};

class RunCatalog {
 public:
  explicit RunCatalog(CatalogOptions options);
  ~RunCatalog();
  RunCatalog(const RunCatalog&) = delete;
  RunCatalog& operator=(const RunCatalog&) = delete;

  // Looks once, then starts the thread that imports and keeps looking.
  Status start();
  void stop();

  std::vector<RunEntry> entries() const;
  // Whether a file that is put there becomes a run: not a part of the only one.
  bool takes_files() const;
  // Ready runs only; others are an error that says how far they are, and a former id is one that
  // says the present. The first call opens the run, which may close the one that nobody looked at
  // for longest.
  Result<std::shared_ptr<OpenRun>> open(const std::string& id);
  // By its id or a former one, as below.
  Result<std::string> path_of(const std::string& id) const;
  // Looks now: a file was put into the folder. The id of its run, which is imported next.
  Result<std::string> add(const std::string& path);
  // Puts a run at the head of the line, also one that failed.
  Status want(const std::string& id);

 private:
  struct Run;
  struct Looked {
    uint64_t stamp = 0;
    std::vector<std::string> ids;  // of what was found
  };

  void work();
  Status look();
  Result<Run*> find(const std::string& id) const;
  std::string keep(const FoundRun& found, const std::string& base);
  bool import_next(std::unique_lock<std::mutex>& lock);
  std::shared_ptr<OpenRun> close_oldest();

  CatalogOptions options_;
  std::mutex looking_;  // one at a time: what an older look did not see would be removed
  std::map<std::vector<std::string>, Looked> looked_;  // by paths; guarded by looking_
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::map<std::string, std::shared_ptr<Run>> runs_;  // by id
  std::thread worker_;
  std::shared_ptr<Progress> importing_;
  int64_t looks_ = 0;
};

}  // namespace stepscope

#endif  // STEPSCOPE_SERVER_RUN_CATALOG_H_
