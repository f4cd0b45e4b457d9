// A finding: one reason why steps take longer, or may fail, than they need to, with the numbers
// that show it, where to look, what it would gain and what to do.
#ifndef STEPSCOPE_ANALYSES_ADVICE_FINDING_H_
#define STEPSCOPE_ANALYSES_ADVICE_FINDING_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/common/result_table.h"

namespace stepscope {

// A number that shows the finding. Times in ns, sizes in bytes, shares 0 to 1.
struct Evidence {
  std::string_view name;  // "input_wait"; what texts in other languages insert by
  Unit unit = Unit::kNone;
  double value = 0;
};

// Where to look: a rank, and a step or a time range of it.
struct Place {
  int64_t rank = 0;
  int64_t step = kNull;
  int64_t start_ns = kNull;
  int64_t end_ns = kNull;
};

enum class Confidence : uint8_t {
  kMeasured,  // the time is measured as such
  kDerived,   // follows from measured times by a rule that can be wrong
  kHint,      // worth a look
};
std::string_view confidence_name(Confidence confidence);

struct Finding {
  std::string_view rule;    // its name in the rule table
  std::string title;        // one sentence with the main number
  std::string detail;       // how it was seen
  std::string_view remedy;  // what to do
  int64_t gain_ns = kNull;  // per step, if it were gone; kNull: cannot be said
  double gain_share = 0;    // of the step; find_causes() sets it where the check has not
  Confidence confidence = Confidence::kMeasured;
  std::vector<Evidence> evidence;
  std::vector<Place> places;
};

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_ADVICE_FINDING_H_
