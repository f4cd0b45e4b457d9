// Finds what can be imported under the paths the user named.
#ifndef STEPSCOPE_IMPORTERS_DISCOVER_H_
#define STEPSCOPE_IMPORTERS_DISCOVER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "importers/importer.h"

namespace stepscope {

// One rank (or one recording window of it) and the form that will be read.
struct RankSource {
  Candidate chosen;
  std::optional<Candidate> part;  // read into the same rank, before it
  int64_t window = 0;
  std::vector<Candidate> others;  // forms of the same recording that are not read
};

// Ranks in order of number and window. `form` (an importer's name) restricts the choice. Fails when
// nothing is found, saying what was looked at. `notes` gets a line for each file and folder that
// may not be read.
Result<std::vector<RankSource>> discover(const std::vector<std::string>& paths,
                                         std::string_view form,
                                         std::vector<std::string>* notes = nullptr);

// A number that changes when any file under the paths does (size, time, name); stores and temporary
// files of ours are left out. Costs one stat per file.
Result<uint64_t> stamp_paths(const std::vector<std::string>& paths);

inline constexpr std::string_view kStoreSuffix = ".stepscope";
// Stores, finished or being written, are no input.
inline bool is_own_store(std::string_view file_name) {
  return file_name.find(kStoreSuffix) != std::string_view::npos;
}

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_DISCOVER_H_
