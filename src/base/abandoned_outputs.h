// Temporary files of OutputFile (base/file.h) whose writer was killed.
#ifndef STEPSCOPE_BASE_ABANDONED_OUTPUTS_H_
#define STEPSCOPE_BASE_ABANDONED_OUTPUTS_H_

#include <string>

namespace stepscope {

// Removes the temporary files that killed processes left behind while they wrote `path`. A file
// whose writer still lives, here or (where the file system knows locks) on another machine, stays.
void remove_abandoned_outputs(const std::string& path);

}  // namespace stepscope

#endif  // STEPSCOPE_BASE_ABANDONED_OUTPUTS_H_
