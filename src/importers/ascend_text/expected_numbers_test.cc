#include "importers/ascend_text/expected_numbers_test.h"

namespace stepscope::testing {
namespace {

constexpr const char* kAddList = "aclnnForeachAddListV2_ForeachAddListV2_ForeachAddList";

Expected level1_rank0() {
  Expected e;
  e.name = "Level1Rank0";
  e.folder = "level1/rank0_ascend_pt";
  e.level1 = true;
  e.rank = 0;
  e.compute_ns = 8873737;
  e.communication_ns = 105991876;
  e.not_overlapped_ns = 101963203;
  e.by_core = {{"AI_CORE", {23, 2805855}},
               {"AI_VECTOR_CORE", {149, 5823400}},
               {"MIX_AIV", {13, 238962}},
               {"DSA_SQE", {2, 5520}}};
  e.top_kernel = {kAddList, {3, 1959079}};
  e.largest_wait_ns = 65650472;
  e.slices_by_process = {{"Python", 2460},
                         {"Ascend Hardware", 535},
                         {"CANN", 707},
                         {"Overlap Analysis", 382},
                         {"HCCL", 300}};
  e.counters_by_process = {{"NPU MEM", 84},    {"HBM", 104},      {"LLC", 52},
                           {"QoS", 1405},      {"Acc PMU", 2752}, {"Stars Soc Info", 32},
                           {"AI Core Freq", 2}};
  e.first_ns = 1736408883573887920;
  e.last_ns = 1736408883973810000;
  e.step_ts_ns = 1736408883686740710;
  e.step_dur_ns = 155985800;
  e.flows = {{"HostToDevice", 215}, {"async_npu", 210}, {"async_task_queue", 159}, {"fwdbwd", 27}};
  e.phases = {{"X", 4384}, {"s", 606}, {"f", 611}, {"M", 80}, {"C", 4431}};
  e.source_rows = {{"op_statistic", 33},     {"api_statistic", 57},    {"memory_record", 1004},
                   {"operator_memory", 184}, {"npu_module_mem", 1078}, {"operator_details", 859},
                   {"l2_cache", 179},        {"step_trace_time", 1}};
  e.step_trace = {{"Step", 50},
                  {"Computing", 8873.756},
                  {"Communication(Not Overlapped)", 101963.203},
                  {"Overlapped", 4028.675},
                  {"Communication", 105991.878},
                  {"Free", 25744.050},
                  {"Stage", 136581.0},
                  {"Bubble", 0},
                  {"Preparing", 17902.5}};
  e.peak_reserved_mb = {
      {"APP", 2113.73046875}, {"PTA", 1452.0}, {"PTA+GE", 1526.75}, {"GE", 74.75}};
  e.peak_allocated_mb = {{"PTA", 1187.9814453125}, {"PTA+GE", 1261.04296875}, {"GE", 73.0625}};
  e.op_statistic_us = 8873.751;
  e.api_statistic_us = 123965.130;
  e.device_self_us = 115730.772;
  e.host_self_us = 148925.220;
  e.mean_victim_rate = 0.124582;
  e.top_types = {{"hcom_allReduce_", {4, 105991876}},
                 {"ForeachAddList", {3, 1959079}},
                 {"TransData", {57, 1423202}},
                 {"MatMulV2", {8, 921498}},
                 {"Conv2D", {5, 723434}}};
  e.late_wait_first_ns = 78770000;
  e.late_wait_last_ns = 21985000;
  return e;
}

Expected level1_rank1() {
  Expected e = level1_rank0();
  e.name = "Level1Rank1";
  e.folder = "level1/rank1_ascend_pt";
  e.rank = 1;
  e.compute_ns = 8878275;
  e.communication_ns = 100375284;
  e.not_overlapped_ns = 96359053;
  e.by_core = {{"AI_CORE", {23, 2837357}},
               {"AI_VECTOR_CORE", {149, 5802755}},
               {"MIX_AIV", {13, 232683}},
               {"DSA_SQE", {2, 5480}}};
  e.top_kernel = {kAddList, {3, 1954139}};
  e.largest_wait_ns = 59526829;
  e.slices_by_process["CANN"] = 708;
  e.counters_by_process = {{"NPU MEM", 87},    {"HBM", 112},      {"LLC", 52},
                           {"QoS", 1424},      {"Acc PMU", 2580}, {"Stars Soc Info", 30},
                           {"AI Core Freq", 2}};
  e.first_ns = 1736408883576173350;
  e.last_ns = 1736408883966448000;
  e.step_ts_ns = 1736408883688868080;
  e.step_dur_ns = 153888390;
  e.phases = {{"X", 4385}, {"s", 606}, {"f", 611}, {"M", 80}, {"C", 4287}};
  e.step_trace = {{"Computing", 8878.295},  {"Communication(Not Overlapped)", 96359.047},
                  {"Overlapped", 4016.239}, {"Communication", 100375.286},
                  {"Free", 26675.274},      {"Stage", 131912.5},
                  {"Preparing", 20433.25}};
  e.peak_reserved_mb["APP"] = 2113.734375;
  e.op_statistic_us = 8878.293;
  e.api_statistic_us = 120842.880;
  e.device_self_us = 110550.649;
  e.host_self_us = 145873.490;
  e.mean_victim_rate = 0.115475;
  e.top_types = {{"hcom_allReduce_", {4, 100375284}},
                 {"ForeachAddList", {3, 1954139}},
                 {"TransData", {57, 1416001}},
                 {"MatMulV2", {8, 947559}},
                 {"Conv2D", {5, 722494}}};
  e.late_wait_first_ns = 73169000;
  e.late_wait_last_ns = 22007000;
  return e;
}

Expected level0_rank0() {
  Expected e;
  e.name = "Level0Rank0";
  e.folder = "level0/rank0_ascend_pt";
  e.level1 = false;
  e.rank = 0;
  e.compute_ns = 8827454;
  e.communication_ns = 85516886;
  e.not_overlapped_ns = 81515607;
  e.top_kernel = {kAddList, {3, 1953020}};
  e.slices_by_process = {
      {"Python", 2460}, {"Ascend Hardware", 533}, {"Overlap Analysis", 382}, {"HCCL", 4}};
  e.flows = {{"async_npu", 210}, {"async_task_queue", 159}, {"fwdbwd", 27}};
  e.phases = {{"X", 3379}, {"M", 63}, {"C", 3716}};
  e.source_rows = {{"operator_memory", 184}, {"operator_details", 859}, {"l2_cache", 179},
                   {"kernel_details", 191},  {"communication", 0},      {"op_statistic", 0},
                   {"api_statistic", 0}};
  e.step_trace = {{"Computing", 8827.473},  {"Communication(Not Overlapped)", 81515.607},
                  {"Overlapped", 4001.282}, {"Communication", 85516.889},
                  {"Free", 25908.102},      {"Stage", 116251.25},
                  {"Preparing", 19358.0}};
  e.peak_reserved_mb = {{"PTA", 1452.0}};
  e.peak_allocated_mb = {{"PTA", 1187.9814453125}, {"PTA+GE", 1188.1064453125}};
  return e;
}

Expected level0_rank1() {
  Expected e = level0_rank0();
  e.name = "Level0Rank1";
  e.folder = "level0/rank1_ascend_pt";
  e.rank = 1;
  e.compute_ns = 8813154;
  e.communication_ns = 68605708;
  e.not_overlapped_ns = 64616114;
  e.top_kernel = {kAddList, {3, 1952159}};
  e.phases = {{"X", 3379}, {"M", 63}, {"C", 3735}};
  e.step_trace = {{"Computing", 8813.173},  {"Communication(Not Overlapped)", 64616.114},
                  {"Overlapped", 3989.596}, {"Communication", 68605.710},
                  {"Free", 27172.943},      {"Stage", 100602.25},
                  {"Preparing", 18920.0}};
  return e;
}

}  // namespace

std::vector<Expected> expected_numbers() {
  return {level1_rank0(), level1_rank1(), level0_rank0(), level0_rank1()};
}

}  // namespace stepscope::testing
