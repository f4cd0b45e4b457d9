// Recordings of several executions of a program in one output folder: who records, changes
// something and records again wants to see the two apart, not the mean of before and after.
#ifndef STEPSCOPE_IMPORTERS_NATIVE_EXECUTIONS_H_
#define STEPSCOPE_IMPORTERS_NATIVE_EXECUTIONS_H_

#include <string>
#include <vector>

#include "importers/discover.h"

namespace stepscope {

// Windows of a rank are of one process. In the order of their start, a recording of a rank whose
// earlier process (another host or pid) had stopped recording begins another execution; processes
// of one rank that recorded at the same time are of one. Leaves the newest in `sources`, and what
// other profilers wrote, and returns a sentence for the user; "" when there is one only. Reads the
// first and the last chunk of each recording, and those only where a rank was recorded repeatedly.
std::string keep_newest_execution(std::vector<RankSource>& sources);

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_NATIVE_EXECUTIONS_H_
