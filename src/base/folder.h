// What lies in a folder, for folders that others write into and remove meanwhile.
#ifndef STEPSCOPE_BASE_FOLDER_H_
#define STEPSCOPE_BASE_FOLDER_H_

#include <filesystem>
#include <system_error>
#include <vector>

namespace stepscope {

// The paths in a folder, in no order. What was seen before a problem is given with it. A loop over
// the standard library's iterator would throw where a folder is gone at the second entry.
std::vector<std::filesystem::path> paths_in(const std::filesystem::path& folder,
                                            std::error_code& problem);

}  // namespace stepscope

#endif  // STEPSCOPE_BASE_FOLDER_H_
