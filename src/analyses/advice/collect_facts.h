// Takes what the rules need from the analyses.
#ifndef STEPSCOPE_ANALYSES_ADVICE_COLLECT_FACTS_H_
#define STEPSCOPE_ANALYSES_ADVICE_COLLECT_FACTS_H_

#include <optional>
#include <span>
#include <string>

#include "analyses/advice/facts.h"
#include "analyses/common/rank_rows.h"
#include "analyses/communication/communication_rows.h"
#include "analyses/steps/step_row.h"
#include "store/store_reader.h"

namespace stepscope {

class RunAnalyses;

Facts collect_facts(RunAnalyses& run);

// Parts of it.
// What the recording says about the rank's place in a pipeline and its environment; what recording
// cost the run.
void collect_settings(const StoreReader& store, const RankId& rank, RankFacts& rank_facts,
                      Facts& facts);
// How much longer steps were while they were recorded, where the recorder knows both.
std::optional<double> recording_cost(const StoreReader& store, const RankId& rank);
// Device work and calls of the host in the steps that means are made of; calls by their marks on
// the host. A pass over the kernels, and one over the slices where a name is there that a rule
// knows.
void collect_device_work(const StoreReader& store, const RankId& rank,
                         std::span<const StepRow> steps, RankFacts& facts);
void collect_host_calls(const StoreReader& store, const RankId& rank,
                        std::span<const StepRow> steps, RankFacts& facts);
// The innermost slice of the host that covers most of the time of a place; empty when none does. A
// pass over the slices.
std::string host_code_in(const StoreReader& store, const RankId& rank, const Place& place);
// Needs the facts of the ranks.
void collect_communication(RunAnalyses& run, Facts& facts);
// Between two ranks by SDMA; and of a size that is no multiple of its blocks.
bool is_sdma_transfer(const CommunicationTransferRow& row);
bool is_unaligned(const CommunicationTransferRow& row);
Place place_of_operator(const CommunicationOperatorRow& row);
// Where to look; needs all other facts.
void collect_places(RunAnalyses& run, Facts& facts);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_ADVICE_COLLECT_FACTS_H_
