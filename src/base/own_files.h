// Names of what the program itself leaves in the folders of a run.
#ifndef STEPSCOPE_BASE_OWN_FILES_H_
#define STEPSCOPE_BASE_OWN_FILES_H_

#include <string_view>

namespace stepscope {

// Where files for people and other tools go, in the folder of a run.
inline constexpr std::string_view kProfilerOutputFolder = "ASCEND_PROFILER_OUTPUT";
// Lists the files of that folder that were made here. Beside raw data such a folder is a product of
// them, and not a part of what the run is read from.
inline constexpr std::string_view kOutputMarker = "files.stepscope.json";
// In the head of Chrome JSON that was exported here: the name of the file or folder it was made of.
inline constexpr std::string_view kExportOf = "stepscopeExportOf";
// Raw data of a run's framework.
inline constexpr std::string_view kFrameworkFolder = "FRAMEWORK";
// A recording of ours, in that folder.
inline constexpr std::string_view kRawFileName = "stepscope.raw";

}  // namespace stepscope

#endif  // STEPSCOPE_BASE_OWN_FILES_H_
