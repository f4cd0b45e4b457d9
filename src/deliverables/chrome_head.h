// The parts of a Chrome trace that are not slices: its head, ids, the args of memory events.
#ifndef STEPSCOPE_DELIVERABLES_CHROME_HEAD_H_
#define STEPSCOPE_DELIVERABLES_CHROME_HEAD_H_

#include <string>
#include <string_view>

#include "deliverables/chrome_rank.h"

namespace stepscope {

// Everything before the first event: {"schemaVersion": 1, ... "traceEvents": [
std::string chrome_head(const ChromeRank& rank);
// A pid or tid as JSON: a number where the input's text is one, else text.
std::string chrome_id(std::string_view text);
// Kineto's names of what a [memory] event says.
std::string chrome_memory_args(const ChromeRank& rank, uint64_t row);

}  // namespace stepscope

#endif  // STEPSCOPE_DELIVERABLES_CHROME_HEAD_H_
