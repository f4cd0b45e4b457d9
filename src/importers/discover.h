// Finds what can be imported under the paths the user named.
#ifndef STEPSCOPE_IMPORTERS_DISCOVER_H_
#define STEPSCOPE_IMPORTERS_DISCOVER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/file.h"
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

// Members of a zip that are not read, in words for the user.
struct LeftOut {
  std::string text;
  int64_t count = 0;
};

// Ranks in order of number and window. `form` (an importer's name) restricts the choice. Fails when
// nothing is found, saying what was looked at. `notes` gets a line for each file and folder that
// may not be read, `limits` one for each place where the search was given up (too deep, too many),
// `left_out` one for each zip of which not every member is read.
Result<std::vector<RankSource>> discover(const std::vector<std::string>& paths,
                                         std::string_view form,
                                         std::vector<std::string>* notes = nullptr,
                                         std::vector<std::string>* limits = nullptr,
                                         std::vector<LeftOut>* left_out = nullptr);

using FileStamps = std::unordered_map<std::string, FileStamp>;  // by path

// A number that changes when any file under the paths does (size, time, name); stores and temporary
// files of ours are left out. Costs one stat per file. `files` gets the stamp of each file.
Result<uint64_t> stamp_paths(const std::vector<std::string>& paths, FileStamps* files = nullptr);

// kChanged when one of the files that a rank was read from is not as `before` says any more. The
// file of a recording of ours may grow: the store is rebuilt when it is opened next.
Status check_unchanged(const FileStamps& before, const std::vector<SourceFile>& read);

inline constexpr std::string_view kStoreSuffix = ".stepscope";
// Stores, finished or being written, are no input.
inline bool is_own_store(std::string_view file_name) {
  return file_name.find(kStoreSuffix) != std::string_view::npos;
}

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_DISCOVER_H_
