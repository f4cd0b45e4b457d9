#include "analyses/pipeline/run_pipeline.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/parallel.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kNotRecorded =
    "no data pipeline in the input: record with data_process=True (MindSpore: without a schedule), "
    "or name the loader's stages (stepscope.pipeline)";
constexpr std::string_view kNothingTold =
    "data_process was on, and there is still no data pipeline: MindSpore tells of one whose "
    "iterator is made after the profiler has started; the stages of any other loader have to be "
    "named (stepscope.pipeline)";

bool is_on(const Json& object, const char* part) {
  if (!object.is_object()) return false;
  const auto parameters = object.find(part);
  return parameters != object.end() && parameters->is_object() &&
         parameters->value("data_process", Json()) == true;
}

// Of recordings of ours: as they were started, or by a profiler of the program that joined one.
bool asked_for_pipeline(const StoreReader& store, size_t rank) {
  const Json versions = json_tree(text_at(store, Table::kRanks, "versions", rank));
  if (!versions.is_object()) return false;
  if (is_on(versions.value("metadata", Json()), "parameters")) return true;
  return std::ranges::any_of(versions.value("windows", Json::array()),
                             [](const Json& window) { return is_on(window, "asked_for"); });
}

}  // namespace

PipelineResult run_pipeline(const StoreReader& store, const std::vector<RankId>& ranks,
                            const std::vector<CpuRow>& cpu,
                            const std::vector<std::vector<DeviceIntervals>>& devices,
                            const std::vector<std::span<const StepRow>>& steps, unsigned threads) {
  std::vector<PipelineResult> each(ranks.size());
  parallel_for(ranks.size(), threads, [&](size_t i) {
    const RankId& rank = ranks[i];
    std::vector<CpuRow> own;
    std::ranges::copy_if(cpu, std::back_inserter(own), [&](const CpuRow& row) {
      return row.rank == rank.rank && row.window == rank.window;
    });
    each[i] = pipeline(rank, pipeline_stages(store, rank.position, steps[i]), own,
                       devices[rank.position]);
  });
  PipelineResult all;
  for (PipelineResult& one : each) all.append(std::move(one));
  return all;
}

std::vector<Reason> pipeline_reasons(const StoreReader& store, const PipelineResult& found) {
  std::vector<Reason> reasons;
  if (found.verdicts.empty()) {
    bool asked_for = false;
    for (size_t rank = 0; rank < store.rank_count(); ++rank)
      asked_for = asked_for || asked_for_pipeline(store, rank);
    for (const char* table : {"pipeline", "pipeline_batches", "pipeline_stages", "pipeline_steps"})
      reasons.push_back({table, std::string(asked_for ? kNothingTold : kNotRecorded)});
  } else if (found.batches.empty()) {
    for (const char* table : {"pipeline_batches", "pipeline_steps"})
      reasons.push_back({table, "queues were sampled in time, without batches"});
  }
  return reasons;
}

}  // namespace stepscope
