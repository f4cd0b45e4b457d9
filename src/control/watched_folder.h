// A folder that the ranks of a training watch.
//
//   profiler_config.json      who writes it chooses the steps
//   .stepscope/rank_N.json    rank N, written by it about once a second while it is busy
//   .stepscope/lock           held while the configuration is read and written again
#ifndef STEPSCOPE_CONTROL_WATCHED_FOLDER_H_
#define STEPSCOPE_CONTROL_WATCHED_FOLDER_H_

#include "control/watched_place.h"

namespace stepscope {

class WatchedFolder : public WatchedPlace {
 public:
  // `path`: the folder, or the configuration file in it.
  explicit WatchedFolder(const std::string& path);

  Result<std::vector<WatchingRank>> ranks() const override;
  // Holds the lock while it lives; waits some seconds for another writer.
  Result<std::unique_ptr<ConfigEdit>> edit() const override;
  std::string name() const override { return file_; }

 private:
  std::string folder_;
  std::string file_;
};

// Of a process of this user on this machine, or one of its ancestors, or a job's name.
Result<std::string> registered_folder(const std::string& target);

}  // namespace stepscope

#endif  // STEPSCOPE_CONTROL_WATCHED_FOLDER_H_
