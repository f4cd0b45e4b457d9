// Takes what the rules need from the analyses.
#ifndef STEPSCOPE_ANALYSES_ADVICE_COLLECT_FACTS_H_
#define STEPSCOPE_ANALYSES_ADVICE_COLLECT_FACTS_H_

#include "analyses/advice/facts.h"

namespace stepscope {

class RunAnalyses;

Facts collect_facts(RunAnalyses& run);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_ADVICE_COLLECT_FACTS_H_
