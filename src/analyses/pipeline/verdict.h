// Which stage of data preparation holds the training up.
#ifndef STEPSCOPE_ANALYSES_PIPELINE_VERDICT_H_
#define STEPSCOPE_ANALYSES_PIPELINE_VERDICT_H_

#include <cstddef>
#include <vector>

#include "analyses/pipeline/pipeline.h"
#include "analyses/pipeline/stages.h"

namespace stepscope {

// Position of the operator at the end of the pipeline that the training waits for longest, and
// where no wait was measured at operators, of the one that was sampled most; 0 when there is none.
size_t main_root_of(const PipelineStages& stages);
// Position of the stage whose queue the training (or the transfer) takes from, and of the one at
// which the training's waiting is measured; stages.size() when there is none.
size_t host_queue_of(const PipelineStages& stages);
size_t wait_stage_of(const PipelineStages& stages);

// Fills the counts, times, statuses and the verdict. `slow_operators` is bottleneck_operators() of
// the operators.
void judge(const PipelineStages& stages, const std::vector<size_t>& slow_operators,
           PipelineRow& row);

// "potentially" instead of "not", by the share of the steps for which the rank's device stood still
// while nothing was recorded.
void mark_potential(double unexplained_share, PipelineRow& row);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_PIPELINE_VERDICT_H_
