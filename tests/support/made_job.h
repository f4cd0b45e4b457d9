// Test support: a small training of a few ranks as it is recorded, with nothing wrong in it, and
// the words to change it by. Times are ms from the start of a step, which lasts 100.
#ifndef STEPSCOPE_TESTS_SUPPORT_MADE_JOB_H_
#define STEPSCOPE_TESTS_SUPPORT_MADE_JOB_H_

#include <cmath>
#include <cstdint>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/run_analyses.h"
#include "store/rank_builder.h"
#include "tests/support/made_run.h"
#include "tests/support/rank_making.h"

namespace stepscope::testing {

constexpr double kStepMs = 100;

inline int64_t ns_of(double ms) { return std::llround(ms * 1e6); }

// One step of one rank, for events beside the training's own.
struct StepMaker {
  RankBuilder& rank;
  TrackId thread;
  TrackId stream;         // beside those that compute and reduce
  TrackId communication;  // a plane of Ascend's communication
  int64_t number;
  int64_t start_ns;

  int64_t at(double ms) const { return start_ns + ns_of(ms); }
  void host(std::string_view name, double from, double to) const {
    rank.add_slice(thread, slice_of(rank, name, at(from), ns_of(to - from)));
  }
  void kernel(std::string_view name, double from, double to, std::string_view type = "CUDA",
              WorkClass work_class = WorkClass::kCompute) const {
    KernelDetail detail;
    detail.type = rank.strings.intern(type);
    detail.work_class = work_class;
    SliceRecord slice = slice_of(rank, name, at(from), ns_of(to - from), SliceKind::kKernel);
    slice.detail = rank.add_kernel(detail);
    rank.add_slice(stream, slice);
  }
  // A part of the operation `whole`, towards rank `peer`: waiting for it, or data of that size.
  void task(std::string_view whole, double from, double to, int64_t peer,
            std::string_view transport = "", int64_t bytes = kNull) const {
    CommunicationDetail detail;
    detail.level = rank.strings.intern("task");
    detail.of_name = rank.strings.intern(whole);
    detail.src_rank = rank.info.rank;
    detail.dst_rank = peer;
    const bool is_wait = transport.empty();
    (is_wait ? detail.wait_ns : detail.transit_ns) = ns_of(to - from);
    if (!is_wait) {
      detail.transport = rank.strings.intern(transport);
      detail.bytes = bytes;
    }
    SliceRecord slice = slice_of(rank, is_wait ? "Notify_Wait" : "Memcpy", at(from),
                                 ns_of(to - from), SliceKind::kCommunication);
    slice.detail = rank.add_communication(detail);
    rank.add_slice(communication, slice);
  }
};

// A matrix product in two kernels, then an all-reduce with the other rank of its pair; the host is
// in "train" all the time, and memory goes up and down.
struct RankPlan {
  double launch_at = 0.5;
  double compute_from = 1;
  double compute_to = 94;
  double reduce_to = 96;
  int kernels = 2;
  double pause = 0;  // between the kernels, all of them together
  bool is_pause_recorded = true;
  double longest_step = kStepMs;  // one of the steps
  bool has_device = true;         // else the host computes, and reduces nothing

  std::string_view device_kind = "NVIDIA GPU";
  std::string_view kernel = "nvjet_tst_gemm";  // by tensor cores
  std::string_view kernel_type = "CUDA";
  std::string_view data_type = "c10::BFloat16";
  int64_t size = 28160;  // of the square matrices: 45 % of an H100's rate
  int64_t blocks = 264;  // for 132 multiprocessors
  int64_t reduce_bytes = 64 << 20;
  std::string_view pair = "a";

  double allocated_gib = 40;  // at most, of 80
  double reserved_gib = 44;
  double leak_mib = 0;  // a step

  std::string versions;  // further members of the object
  std::string parallel;
  std::function<void(const StepMaker&)> also_in_step = [](const StepMaker&) {};
  std::function<void(RankBuilder&)> also_in_run = [](RankBuilder&) {};

  double kernel_ms() const { return (compute_to - compute_from - pause) / kernels; }
  double pause_from() const { return compute_from + kernel_ms(); }  // the first pause
};

// The memory of one step: a GiB for a while, and what is not given back.
inline void add_memory(const StepMaker& step, const RankPlan& plan) {
  constexpr double kGib = 1 << 30;
  const double leak = plan.leak_mib * (1 << 20);
  MemoryRecord record;
  record.total_allocated =
      std::llround((plan.allocated_gib - 1) * kGib + static_cast<double>(step.number - 1) * leak);
  record.total_reserved = std::llround(plan.reserved_gib * kGib);
  record.device = 0;
  record.device_kind = step.rank.strings.intern("CUDA");
  record.track = step.thread;
  const auto change = [&](double ms, int64_t address, double bytes) {
    if (bytes == 0) return;
    record.ts_ns = step.at(ms);
    record.address = address;
    record.bytes = std::llround(bytes);
    record.total_allocated += record.bytes;
    step.rank.memory.push_back(record);
  };
  change(10, 0x1000, kGib);
  change(20, 0x2000 + step.number, leak);
  change(90, 0x1000, -kGib);
}

inline void add_product(RankBuilder& rank, const StepMaker& step, const RankPlan& plan,
                        TrackId stream) {
  const auto of_two = [](const std::string& one) { return "[" + one + ", " + one + "]"; };
  const std::string side = std::to_string(plan.size);
  OpDetail detail;
  detail.input_shapes = rank.strings.intern(of_two("[" + side + ", " + side + "]"));
  detail.input_types = rank.strings.intern(of_two("\"" + std::string(plan.data_type) + "\""));
  const double op_end = plan.has_device ? plan.launch_at + 0.2 : plan.compute_to;
  SliceRecord op = slice_of(rank, "aten::mm", step.at(plan.launch_at),
                            ns_of(op_end - plan.launch_at), SliceKind::kOp);
  op.cat = rank.strings.intern("cpu_op");
  op.external_id = rank.pack_id(step.number);
  op.detail = rank.add_op(detail);
  rank.add_slice(step.thread, op);
  if (!plan.has_device) return;
  KernelDetail kernel;
  kernel.type = rank.strings.intern(plan.kernel_type);
  kernel.grid = rank.strings.intern("[" + std::to_string(plan.blocks) + ", 1, 1]");
  const double pause = plan.kernels > 1 ? plan.pause / (plan.kernels - 1) : 0;
  for (int i = 0; i < plan.kernels; ++i) {
    SliceRecord slice =
        slice_of(rank, plan.kernel, step.at(plan.compute_from + i * (plan.kernel_ms() + pause)),
                 ns_of(plan.kernel_ms()), SliceKind::kKernel);
    slice.external_id = op.external_id;
    slice.detail = rank.add_kernel(kernel);
    rank.add_slice(stream, slice);
  }
}

inline void fill_rank(RankBuilder& rank, const RankPlan& plan, int64_t world_size) {
  rank.info.world_size = world_size;
  rank.info.device_kind = plan.device_kind;
  rank.info.parallel_json = plan.parallel;
  rank.info.versions_json =
      R"({"deviceProperties":[{"id":0,"name":"NVIDIA H100","numSms":132,"totalGlobalMem":85899345920}])" +
      plan.versions + "}";
  const TrackId thread = host_track(rank, "main");
  const TrackId compute = device_track(rank, 0, 7);
  const TrackId reduce = device_track(rank, 0, 20);
  const TrackId beside = device_track(rank, 0, 30);
  TrackInfo plane;
  plane.kind = TrackKind::kCommunication;
  plane.thread = rank.strings.intern("Plane 0");
  const TrackId communication = rank.add_track(plane);
  int64_t start_ns = 1'000'000'000;
  for (int64_t number = 1; number <= 8; ++number) {
    const StepMaker step{rank, thread, beside, communication, number, start_ns};
    const double length = number == 5 ? plan.longest_step : kStepMs;
    add_step(rank, number, start_ns, ns_of(length));
    if (plan.is_pause_recorded) {
      step.host("train", 0, length);
    } else {
      step.host("train", 0, plan.pause_from());
      step.host("train", plan.pause_from() + plan.pause, length);
    }
    add_product(rank, step, plan, compute);
    if (plan.has_device)
      add_operation(rank, reduce, "allReduce", step.at(plan.compute_to),
                    ns_of(plan.reduce_to - plan.compute_to), numbered(number, plan.reduce_bytes, 2),
                    plan.pair);
    add_memory(step, plan);
    plan.also_in_step(step);
    start_ns += ns_of(length);
  }
  plan.also_in_run(rank);
}

// Two ranks unless a test adds some.
using Job = std::vector<RankPlan>;

inline Job healthy_job() { return Job(2); }

// The rules that find something in it.
inline std::set<std::string> rules_that_fire(const Job& job) {
  const TemporaryFolder folder;
  const std::string path = folder.path("run.stepscope");
  auto writer = StoreWriter::create(path, static_cast<uint32_t>(job.size()));
  if (!writer.ok()) throw std::runtime_error(writer.error().message());
  for (uint32_t number = 0; number < job.size(); ++number) {
    RankBuilder rank;
    rank.info.rank = number;
    fill_rank(rank, job[number], static_cast<int64_t>(job.size()));
    EXPECT_TRUE((*writer)->add_rank(number, rank, 1).ok());
  }
  EXPECT_TRUE((*writer)->finish("{}").ok());
  auto store = StoreReader::open(path);
  if (!store.ok()) throw std::runtime_error(store.error().message());
  RunAnalyses run(*store, {});
  std::set<std::string> names;
  for (const FindingRow& finding : run.findings()) names.emplace(finding.rule);
  return names;
}

}  // namespace stepscope::testing

#endif  // STEPSCOPE_TESTS_SUPPORT_MADE_JOB_H_
