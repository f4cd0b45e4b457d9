// A run's summary for one screen.
#ifndef STEPSCOPE_CLI_SUMMARY_TEXT_H_
#define STEPSCOPE_CLI_SUMMARY_TEXT_H_

#include <cstddef>
#include <string>

#include "api/run_summary.h"

namespace stepscope {

// Ranks are listed one by one up to a few, together when there are more. `width`: columns of the
// terminal, 0 when there is none.
std::string summary_text(const RunSummary& summary, size_t width);

}  // namespace stepscope

#endif  // STEPSCOPE_CLI_SUMMARY_TEXT_H_
