#include "analyses/user_settings.h"

#include <cstdlib>
#include <utility>

#include "analyses/flops/peak_text.h"

namespace stepscope {
namespace {

std::string or_environment(const std::string& given, const char* name) {
  const char* const text = std::getenv(name);
  return given.empty() && text != nullptr ? text : given;
}

}  // namespace

Result<AnalysisOptions> analysis_options(const UserSettings& settings) {
  AnalysisOptions options;
  options.fp_start = or_environment(settings.fp_start, "PROFILING_FP_START");
  options.bp_end = or_environment(settings.bp_end, "PROFILING_BP_END");
  const std::string peaks = or_environment(settings.peaks, "STEPSCOPE_PEAKS");
  if (peaks.empty()) return options;
  auto rates = parse_peaks(peaks);
  if (!rates) {
    Error error = std::move(rates.error());
    // Who opens a run may not think of a variable.
    if (settings.peaks.empty()) error.where = "STEPSCOPE_PEAKS: " + error.where;
    return error;
  }
  options.peaks = *rates;
  return options;
}

}  // namespace stepscope
