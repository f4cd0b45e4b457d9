// Takes what the rules need from the analyses.
#ifndef STEPSCOPE_ANALYSES_ADVICE_COLLECT_FACTS_H_
#define STEPSCOPE_ANALYSES_ADVICE_COLLECT_FACTS_H_

#include "analyses/advice/facts.h"
#include "analyses/common/rank_rows.h"
#include "store/store_reader.h"

namespace stepscope {

class RunAnalyses;

Facts collect_facts(RunAnalyses& run);

// Parts of it.
// What the recording says about the rank's place in a pipeline and its environment; what recording
// cost the run.
void collect_settings(const StoreReader& store, const RankId& rank, RankFacts& rank_facts,
                      Facts& facts);
// Needs the facts of the ranks.
void collect_communication(RunAnalyses& run, Facts& facts);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_ADVICE_COLLECT_FACTS_H_
