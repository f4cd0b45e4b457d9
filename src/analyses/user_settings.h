// What users say about their program and device, by options or by the environment.
#ifndef STEPSCOPE_ANALYSES_USER_SETTINGS_H_
#define STEPSCOPE_ANALYSES_USER_SETTINGS_H_

#include <string>

#include "analyses/run_analyses.h"
#include "base/result.h"

namespace stepscope {

struct UserSettings {
  std::string fp_start = {};  // else PROFILING_FP_START
  std::string bp_end = {};    // else PROFILING_BP_END
  std::string peaks = {};     // else STEPSCOPE_PEAKS; see parse_peaks()
};

// Fails when the peaks cannot be read.
Result<AnalysisOptions> analysis_options(const UserSettings& settings = {});

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_USER_SETTINGS_H_
