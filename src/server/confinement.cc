#include "server/confinement.h"

#include <algorithm>

namespace stepscope {

namespace fs = std::filesystem;

bool is_below(const fs::path& path, const fs::path& base) {
  const auto [rest, _] = std::mismatch(base.begin(), base.end(), path.begin(), path.end());
  return rest == base.end();
}

Status check_links(const std::string& run, const std::string& base_path) {
  std::error_code problem;
  const fs::path base = fs::canonical(base_path, problem);
  const auto leads_out = [&](const fs::path& path) {
    std::error_code broken;  // a link to nothing shows nothing
    const fs::path real = fs::canonical(path, broken);
    return !broken && !is_below(real, base);
  };
  const auto refused = [](const fs::path& path) {
    return Error{ErrorCode::kPermission, "will not open the run", path.string(),
                 "the link leads out of the served folder",
                 "serve a folder that holds both, or open the run by itself: stepscope open PATH"};
  };
  if (leads_out(run)) return refused(run);
  if (!fs::is_directory(run, problem)) return {};
  const auto options = fs::directory_options::skip_permission_denied;
  fs::recursive_directory_iterator at(run, options, problem);
  for (const fs::recursive_directory_iterator end; !problem && at != end; at.increment(problem)) {
    std::error_code ignored;
    if (at->is_symlink(ignored) && leads_out(at->path())) return refused(at->path());
  }
  if (problem) return system_error("cannot look for links in the run", run, problem.value());
  return {};
}

}  // namespace stepscope
