// Test support: what the rules know of a run that is made by hand.
#ifndef STEPSCOPE_ANALYSES_ADVICE_FACTS_OF_RANKS_TEST_H_
#define STEPSCOPE_ANALYSES_ADVICE_FACTS_OF_RANKS_TEST_H_

#include "analyses/advice/facts.h"
#include "analyses/run_analyses.h"
#include "tests/support/made_run.h"
#include "tests/support/temporary_folder.h"

namespace stepscope::testing {

template <class... Fill>
Facts facts_of_ranks(Fill... fill) {
  const TemporaryFolder folder;
  RunAnalyses run(made_store(folder, fill...), {});
  return run.facts();
}

}  // namespace stepscope::testing

#endif  // STEPSCOPE_ANALYSES_ADVICE_FACTS_OF_RANKS_TEST_H_
