// The rules behind the advice, as data: a name, a limit, what to do, and a check that turns facts
// into a finding or none. Limits are shares of a step unless the rule says otherwise.
#ifndef STEPSCOPE_ANALYSES_ADVICE_RULES_H_
#define STEPSCOPE_ANALYSES_ADVICE_RULES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyses/advice/facts.h"
#include "analyses/advice/finding.h"

namespace stepscope {

enum class RuleKind : uint8_t {
  kCause,
  // What it gains is time in which devices work or communicate: no reason for them to stand still.
  kCauseOfWork,
};

struct Rule {
  std::string_view name;
  std::string_view looks_for;  // one line for the documentation
  double limit;                // fires above it; the check says of what
  std::string_view remedy;
  std::optional<Finding> (*check)(const Facts& facts, const Rule& rule);
  RuleKind kind = RuleKind::kCause;
};

std::span<const Rule> rules();

// The findings of all rules, most to gain first; those without a gain last, in the rules' order.
// What gains less than half a percent of a step is left out.
std::vector<Finding> find_causes(const Facts& all_steps);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_ADVICE_RULES_H_
