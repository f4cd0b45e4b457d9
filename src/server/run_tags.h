// Words that users gave to runs, in a file of the workspace: {"/path/of/the/run": ["word", ...]}.
//
// Servers that share a workspace see each other's tags: the file is read again when it changed.
// Thread-safe.
#ifndef STEPSCOPE_SERVER_RUN_TAGS_H_
#define STEPSCOPE_SERVER_RUN_TAGS_H_

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace stepscope {

class RunTags {
 public:
  // `workspace` "": there is none, and tags cannot be set.
  explicit RunTags(const std::string& workspace);

  std::vector<std::string> of(const std::string& run_path);
  // Sorted, without repetitions; an empty list removes the run.
  Status set(const std::string& run_path, std::vector<std::string> tags);

 private:
  Status refresh();

  std::string path_;
  std::mutex mutex_;
  std::optional<FileStamp> seen_;
  std::map<std::string, std::vector<std::string>> tags_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_SERVER_RUN_TAGS_H_
