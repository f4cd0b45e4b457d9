// Each rule on a run: the tables of a small job go through all analyses. The job has the cause,
// once large enough for the rule and once too small.
#include <functional>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "analyses/advice/rules.h"
#include "tests/support/made_job.h"

namespace stepscope {
namespace {

using testing::healthy_job;
using testing::Job;
using testing::RankPlan;
using testing::rules_that_fire;
using testing::StepMaker;

struct Planted {
  double fires;   // how much of the cause makes the rule fire
  double silent;  // and how much does not
  std::function<void(Job&, double amount)> plant;
};

// A change of all ranks.
std::function<void(Job&, double)> on_all(void (*change)(RankPlan&, double)) {
  return [=](Job& job, double amount) {
    for (RankPlan& rank : job) change(rank, amount);
  };
}

// Events of all steps of all ranks.
std::function<void(Job&, double)> in_steps(void (*add)(const StepMaker&, double)) {
  return [=](Job& job, double amount) {
    for (RankPlan& rank : job)
      rank.also_in_step = [=](const StepMaker& step) { add(step, amount); };
  };
}

void make_stages(Job& job) {
  for (RankPlan& rank : job) rank.parallel = R"({"stages":2})";
}

// A pause in the computing, in which the host does something of that name.
void pause_for(RankPlan& rank, double ms, std::string_view what) {
  rank.pause = ms;
  const double from = rank.pause_from();
  rank.also_in_step = [=](const StepMaker& step) { step.host(what, from, from + ms); };
}

// A loader of three stages, of which the second is slow; the training waits for a batch.
void add_loader(RankBuilder& rank, double wait_ms) {
  struct Stage {
    const char* name;
    const char* consumer;
    int64_t size;
    int64_t capacity;
  };
  constexpr Stage kStages[] = {
      {"read", "decode", 9, 10}, {"decode", "DataLoader_0", 1, 10}, {"DataLoader_0", "", 0, 4}};
  const std::vector<StepRecord> steps = rank.steps;
  for (const Stage& stage : kStages) {
    StageRecord described;
    described.stage = rank.strings.intern(stage.name);
    described.capacity = stage.capacity;
    if (*stage.consumer != '\0') described.consumer = rank.strings.intern(stage.consumer);
    rank.stages.push_back(described);
    for (const StepRecord& step : steps) {
      QueueRecord sample;
      sample.stage = described.stage;
      sample.ts_ns = step.ts_ns;
      sample.size = stage.size;
      sample.capacity = stage.capacity;
      if (*stage.consumer == '\0') {
        sample.batch = step.step;
        sample.fetch_ns = testing::ns_of(wait_ms);
      }
      rank.queues.push_back(sample);
    }
  }
}

void add_machine_cpu(RankBuilder& rank, double busy_percent) {
  TrackInfo track;
  track.process = rank.strings.intern("python");
  track.kind = TrackKind::kCounter;
  for (const auto& [name, value] :
       {std::pair("machine cpu user %", busy_percent), std::pair("machine cpu system %", 0.0),
        std::pair("machine cpu idle %", 100 - busy_percent)}) {
    track.thread = rank.strings.intern(name);
    const TrackId counter = rank.add_track(track);
    for (const StepRecord& step : rank.steps) rank.counters.push_back({step.ts_ns, value, counter});
  }
}

const std::map<std::string, Planted>& planted() {
  static const std::map<std::string, Planted> all = {
      {"slow_input",  // ms of waiting
       {20, 4,
        [](Job& job, double ms) {
          job[1].launch_at = job[1].compute_from = ms;
          job[1].also_in_step = [=](const StepMaker& step) {
            step.host("enumerate(DataLoader)#Iter.__next__", 0, ms);
          };
        }}},
      {"input_stage",  // ms of waiting
       {20, 2, on_all([](RankPlan& rank, double ms) {
          rank.launch_at = rank.compute_from = ms;
          rank.also_in_run = [=](RankBuilder& builder) { add_loader(builder, ms); };
        })}},
      {"machine_cpu_busy",  // percent
       {95, 50, on_all([](RankPlan& rank, double percent) {
          rank.also_in_run = [=](RankBuilder& builder) { add_machine_cpu(builder, percent); };
        })}},
      {"slow_rank",  // ms that the other rank is faster
       {30, 3, [](Job& job, double ms) { job[0].compute_to -= ms; }}},
      {"late_peer",  // ms of waiting, of 24 ms of communication
       {22, 3, on_all([](RankPlan& rank, double ms) {
          rank.compute_to = 72;
          rank.also_in_step = [=](const StepMaker& step) {
            step.task("allReduce", 72, 72 + ms, 5);
          };
        })}},
      {"slow_link",  // ms in the second pair's all-reduce; the first takes 2
       {5, 2.2,
        [](Job& job, double ms) {
          job.resize(4);
          for (const size_t rank : {2u, 3u}) {
            job[rank].pair = "b";
            job[rank].reduce_to = job[rank].compute_to + ms;
          }
        }}},
      {"exposed_communication",  // ms
       {26, 8, on_all([](RankPlan& rank, double ms) { rank.compute_to = 96 - ms; })}},
      {"pipeline_receive",  // ms
       {38, 4,
        [](Job& job, double ms) {
          make_stages(job);
          job[1].compute_to -= ms;
          job[1].reduce_to -= ms;
          job[1].also_in_step = [=](const StepMaker& step) {
            testing::add_operation(step.rank, step.stream, "recv", step.at(96 - ms),
                                   testing::ns_of(ms), {});
          };
        }}},
      {"stage_communication",  // ms
       {26, 4,
        [](Job& job, double ms) {
          make_stages(job);
          for (RankPlan& rank : job) rank.compute_to = 96 - ms;
        }}},
      {"stage_balance",  // size of the first stage's matrices; the second's is 28160
       {20480, 25600,
        [](Job& job, double size) {
          make_stages(job);
          job[0].size = static_cast<int64_t>(size);
        }}},
      {"slow_device",  // ms that the other rank is faster with the same work, and then waits itself
       {50, 5, [](Job& job, double ms) { job[0].pause = ms; }}},
      {"uneven_interval",  // ms before the first operator; the other rank needs half of one
       {10, 0.6, [](Job& job, double ms) { job[1].launch_at = ms; }}},
      {"small_messages",  // bytes
       {1000, 64 << 20, on_all([](RankPlan& rank, double bytes) {
          rank.compute_to = 86;
          rank.reduce_bytes = static_cast<int64_t>(bytes);
        })}},
      {"unaligned_transfers",  // bytes
       {1000, 1024, in_steps([](const StepMaker& step, double bytes) {
          step.task("allReduce", 94, 96, 1 - step.rank.info.rank, "SDMA",
                    static_cast<int64_t>(bytes));
        })}},
      {"contended_bandwidth",  // ms of an all-reduce beside computing; 2 without
       {4, 2.2, in_steps([](const StepMaker& step, double ms) {
          testing::add_operation(step.rank, step.stream, "allReduce", step.at(20),
                                 testing::ns_of(ms),
                                 testing::numbered(1000 + step.number, 64 << 20, 2), "a");
        })}},
      {"retransmission",  // ms of one operation
       {4500, 3500, in_steps([](const StepMaker& step, double ms) {
          if (step.number != 1) return;
          testing::add_operation(step.rank, step.stream, "broadcast", step.at(1),
                                 testing::ns_of(ms), {});
          step.task("broadcast", 2, 3, 1 - step.rank.info.rank, "RDMA", 1 << 20);
        })}},
      {"gloo", {1, 0, in_steps([](const StepMaker& step, double count) {
                  for (int i = 0; i < count; ++i) step.host("gloo:all_reduce", 10 + i, 10.5 + i);
                })}},
      {"sync_batch_norm", {24, 4, in_steps([](const StepMaker& step, double count) {
                             for (int i = 0; i < count; ++i)
                               step.host("SyncBatchNorm", 10 + i, 10.5 + i);
                           })}},
      {"sync_points",  // ms that the device has nothing to do after it was waited for
       {10, 1, on_all([](RankPlan& rank, double ms) {
          rank.pause = ms;
          const double from = rank.pause_from();
          rank.also_in_step = [=](const StepMaker& step) {
            step.host("cudaStreamSynchronize", from - 5, from + 0.1);
            step.host("cudaStreamSynchronize", from + ms + 5, from + ms + 6);
          };
        })}},
      {"launch_bound",  // ms between kernels that are short
       {40, 4, on_all([](RankPlan& rank, double ms) {
          rank.kernels = 2000;
          rank.pause = ms;
        })}},
      {"garbage_collection",
       {5, 1, on_all([](RankPlan& rank, double ms) { pause_for(rank, ms, "gc"); })}},
      {"allocator_calls", {9, 1, in_steps([](const StepMaker& step, double ms) {
                             step.host("cudaMalloc", 10, 10 + ms);
                           })}},
      {"pageable_copies",  // ms in which nothing computes
       {8, 1, on_all([](RankPlan& rank, double ms) {
          rank.pause = ms;
          const double from = rank.pause_from();
          rank.also_in_step = [=](const StepMaker& step) {
            step.kernel("Memcpy HtoD (Pageable -> Device)", from, from + ms, "MEMCPY_ASYNC",
                        WorkClass::kMemory);
          };
        })}},
      {"ai_cpu_operators", {7, 1, in_steps([](const StepMaker& step, double ms) {
                              step.kernel("Unique", 10, 10 + ms, "AI_CPU");
                            })}},
      {"compiled_on_the_fly",  // operators in the whole run
       {20, 19, in_steps([](const StepMaker& step, double count) {
          if (step.number != 1) return;
          for (int i = 0; i < count; ++i) step.host("aclopCompileAndExecute", 10 + i, 10.5 + i);
        })}},
      {"no_tensor_cores",  // 1: kernels that do not use them
       {1, 0, on_all([](RankPlan& rank, double without) {
          if (without > 0) rank.kernel = "ampere_sgemm_128x64_nn";
        })}},
      {"full_precision",  // bits
       {32, 16, on_all([](RankPlan& rank, double bits) {
          if (bits > 16) rank.data_type = "float";
        })}},
      {"unaligned_shapes", {28159, 28160, on_all([](RankPlan& rank, double size) {
                              rank.size = static_cast<int64_t>(size);
                            })}},
      {"small_grids", {32, 264, on_all([](RankPlan& rank, double blocks) {
                         rank.blocks = static_cast<int64_t>(blocks);
                       })}},
      {"unfused_attention", {9, 1, in_steps([](const StepMaker& step, double ms) {
                               step.kernel("softmax_warp_forward", 10, 10 + ms);
                             })}},
      {"low_mfu", {10240, 25600, on_all([](RankPlan& rank, double size) {
                     rank.size = static_cast<int64_t>(size);
                   })}},
      {"data_parallel", {1, 0, in_steps([](const StepMaker& step, double count) {
                           for (int i = 0; i < count; ++i)
                             step.host("DataParallel.forward", 10, 20);
                         })}},
      {"uneven_steps",  // ms of one step
       {300, 120, on_all([](RankPlan& rank, double ms) { rank.longest_step = ms; })}},
      {"memory_leak", {64, 0.5, on_all([](RankPlan& rank, double mib) { rank.leak_mib = mib; })}},
      {"memory_nearly_full",  // GiB of 80
       {75, 60, on_all([](RankPlan& rank, double gib) {
          rank.allocated_gib = gib;
          rank.reserved_gib = gib + 1;
        })}},
      {"fragmentation",  // GiB reserved for 40
       {78, 50, on_all([](RankPlan& rank, double gib) { rank.reserved_gib = gib; })}},
      {"host_stalls",  // ms between two long kernels
       {40, 2, on_all([](RankPlan& rank, double ms) { rank.pause = ms; })}},
      {"low_utilisation",  // ms in short gaps between kernels that are not short
       {60, 20, on_all([](RankPlan& rank, double ms) {
          rank.kernels = 200;
          rank.pause = ms;
        })}},
      {"potential_input",  // ms in which nothing is recorded
       {4, 2, on_all([](RankPlan& rank, double ms) {
          rank.pause = ms;
          rank.is_pause_recorded = false;
        })}},
      {"between_operators",  // ms behind the operator, on the host
       {60, 20, on_all([](RankPlan& rank, double ms) {
          rank.has_device = false;
          rank.device_kind = "CPU";
          rank.launch_at = 0;
          rank.compute_to = testing::kStepMs - ms;
        })}},
      {"settings",  // the variable's value
       {1, 0, on_all([](RankPlan& rank, double value) {
          rank.versions = R"(,"ENV_VARIABLES":{"CUDA_LAUNCH_BLOCKING":")" +
                          std::to_string(static_cast<int>(value)) + R"("})";
        })}},
      {"profiler_cost",  // ms of a recorded step; 100 without
       {130, 105, on_all([](RankPlan& rank, double ms) {
          rank.versions =
              R"(,"metadata":{"step_times":{"without_recording":{"median_seconds":0.1,"steps":9},)"
              R"("with_recording":{"steps":8,"median_seconds":)" +
              std::to_string(ms / 1000) + "}}}";
        })}},
  };
  return all;
}

std::string words(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += name + " ";
  return text;
}

TEST(RuleRuns, NothingIsFoundInAHealthyRun) {
  EXPECT_EQ(words(rules_that_fire(healthy_job())), "");
}

TEST(RuleRuns, EachRuleHasARun) {
  for (const Rule& rule : rules())
    EXPECT_TRUE(planted().contains(std::string(rule.name))) << rule.name;
  EXPECT_EQ(planted().size(), rules().size());
}

TEST(RuleRuns, EachRuleFindsItsCauseOnlyWhereItIsLargeEnough) {
  for (const auto& [rule, run] : planted()) {
    Job job = healthy_job();
    run.plant(job, run.fires);
    const auto found = rules_that_fire(job);
    EXPECT_TRUE(found.contains(rule)) << rule << ", found: " << words(found);
    job = healthy_job();
    run.plant(job, run.silent);
    EXPECT_FALSE(rules_that_fire(job).contains(rule)) << "too little of " << rule;
  }
}

}  // namespace
}  // namespace stepscope
