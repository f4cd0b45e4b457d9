#include "base/folder.h"

namespace stepscope {

std::vector<std::filesystem::path> paths_in(const std::filesystem::path& folder,
                                            std::error_code& problem) {
  std::vector<std::filesystem::path> paths;
  for (std::filesystem::directory_iterator at(folder, problem), end; !problem && at != end;
       at.increment(problem))
    paths.push_back(at->path());
  return paths;
}

}  // namespace stepscope
