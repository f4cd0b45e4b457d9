// Nothing outside of the served folder is shown: whoever may write into the folder must not show
// what only the server may read.
#ifndef STEPSCOPE_SERVER_CONFINEMENT_H_
#define STEPSCOPE_SERVER_CONFINEMENT_H_

#include <filesystem>
#include <string>

#include "base/result.h"

namespace stepscope {

// Both without links: canonical paths.
bool is_below(const std::filesystem::path& path, const std::filesystem::path& base);

// An error when the run, or a link anywhere in it, leads out of `base_path`.
Status check_links(const std::string& run, const std::string& base_path);

}  // namespace stepscope

#endif  // STEPSCOPE_SERVER_CONFINEMENT_H_
