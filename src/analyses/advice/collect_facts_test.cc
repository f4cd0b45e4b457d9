#include "analyses/advice/collect_facts.h"

#include <cmath>
#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "analyses/run_analyses.h"
#include "store/store_writer.h"
#include "tests/support/imported_run.h"
#include "tests/support/rank_making.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

struct Said {
  std::string versions;
  std::string parallel;
  int64_t rank = 0;
  int64_t world_size = kNull;
};

Facts facts_of(const Said& said) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path("run.stepscope");
  auto writer = StoreWriter::create(path, 1);
  EXPECT_TRUE(writer.ok());
  RankBuilder rank;
  rank.info.rank = said.rank;
  rank.info.world_size = said.world_size;
  rank.info.versions_json = said.versions;
  rank.info.parallel_json = said.parallel;
  EXPECT_TRUE((*writer)->add_rank(0, rank, 1).ok());
  EXPECT_TRUE((*writer)->finish("{}").ok());
  auto store = StoreReader::open(path);
  EXPECT_TRUE(store.ok());
  RunAnalyses run(*store, {});
  return run.facts();
}

TEST(CollectFacts, SettingsThatCostTime) {
  const Facts facts = facts_of({R"({"ENV_VARIABLES":{"ASCEND_LAUNCH_BLOCKING":"1",
    "ASCEND_GLOBAL_LOG_LEVEL":"1","HCCL_ALGO":"","ACLNN_CACHE_LIMIT":"","HCCL_RDMA_TC":"132"}})",
                                "", 0, kNull});
  EXPECT_EQ(facts.ranks[0].settings,
            (std::vector<std::string>{"ASCEND_GLOBAL_LOG_LEVEL=1", "ASCEND_LAUNCH_BLOCKING=1"}));
  EXPECT_TRUE(facts_of({R"({"ENV_VARIABLES":{"ASCEND_LAUNCH_BLOCKING":"0",
    "ASCEND_GLOBAL_LOG_LEVEL":"3","HCCL_ALGO":7}})",
                        "", 0, kNull})
                  .ranks[0]
                  .settings.empty());
  EXPECT_TRUE(facts_of({"not JSON", "[]", 0, kNull}).ranks[0].settings.empty());
}

TEST(CollectFacts, CostOfRecordingFromTheStepsBesideIt) {
  const std::string times =
      R"({"with_recording":{"median_seconds":0.12,"steps":5},"without_recording":)"
      R"({"median_seconds":0.1,"steps":20}})";
  const Facts kept = facts_of({R"({"metadata":{"step_times":)" + times + "}}", "", 0, kNull});
  EXPECT_NEAR(kept.profiler_cost_share, 0.2, 1e-9);
  const Facts few = facts_of({R"({"metadata":{"step_times":{"with_recording":)"
                              R"({"median_seconds":0.12,"steps":1},"without_recording":)"
                              R"({"median_seconds":0.1,"steps":20}}}})",
                              "", 0, kNull});
  EXPECT_TRUE(std::isnan(few.profiler_cost_share));
}

TEST(CollectFacts, RanksAreDealtOutToStagesInOrder) {
  EXPECT_EQ(facts_of({"", R"({"mode":"pipeline-parallel","stages":2})", 5, 8}).ranks[0].stage, 1);
  EXPECT_EQ(facts_of({"", R"({"distributed_args":{"pipeline_model_parallel_size":4}})", 3, 8})
                .ranks[0]
                .stage,
            1);
  EXPECT_EQ(facts_of({"", R"({"stages":1})", 5, 8}).ranks[0].stage, kNull);
  EXPECT_EQ(facts_of({"", R"({"stages":9})", 5, 8}).ranks[0].stage, kNull);
}

// data/ascend/EXPECTED.md and EXPECTED_msprof_analyze.md: what msprof-analyze's rules see there.
TEST(CollectFacts, NetworkOfTheAscendSample) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const testing::ImportedRun imported(testing::shared_data() + "/ascend/msinsight/text/level1");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  const Facts& facts = run.facts();
  EXPECT_EQ(facts.late_peer, 5);
  // 237.9447 + 159.0632 and 263.9253 + 171.8235 us of unaligned transfers in all that was moved.
  double moved_ns = 0;
  for (const CommunicationMatrixRow& row : run.communication().matrix) {
    if (row.src_rank != row.dst_rank) moved_ns += static_cast<double>(row.time_ns);
  }
  EXPECT_NEAR(facts.unaligned_transfers_share * moved_ns, 832'756.7, 4);  // eight are rounded
  EXPECT_EQ(facts.small_messages_share, 0);  // none of the four operations
  EXPECT_EQ(facts.retransmissions, 0);
  EXPECT_EQ(facts.ranks[0].compiled_on_the_fly, 19);
  EXPECT_TRUE(facts.ranks[0].settings.empty());
  const auto& findings = run.findings();
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].rule, "late_peer");
}

// data/mindinsight/EXPECTED.md, section 5: the helper's first rule and its pipeline rule.
TEST(CollectFacts, HelperOfMindInsight) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const testing::ImportedRun imported(testing::shared_data() +
                                      "/mindinsight/tests/utils/resource/profiler");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  EXPECT_NEAR(static_cast<double>(run.facts().ranks[0].interval_ns), 90'353'600,
              10);  // 69.26 % of its step
  std::set<std::string_view> rules;
  for (const FindingRow& finding : run.findings()) rules.insert(finding.rule);
  EXPECT_TRUE(rules.contains("slow_input"));
  EXPECT_TRUE(rules.contains("input_stage"));
}

// GPT-2 on an H200: the host launches too slowly, and the vocabulary of 50257 has kernels that load
// one element at a time ("align1").
TEST(CollectFacts, RealBottleneckOfGpt2) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const testing::ImportedRun imported(testing::shared_data() + "/h200/gpt2.pt.trace.json.gz");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  const auto& findings = run.findings();
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].rule, "launch_bound");
  EXPECT_GT(findings[0].gain_share, 0.5);
  EXPECT_EQ(findings[1].rule, "unaligned_shapes");
}

}  // namespace
}  // namespace stepscope
