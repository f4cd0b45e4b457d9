#include "tests/support/sample_store.h"

#include <bit>
#include <cstdio>
#include <cstdlib>

#include "store/store_writer.h"

namespace stepscope::testing {
namespace {

constexpr int64_t kBase = 1'700'000'000'000'000'000;

[[noreturn]] void fail(const Error& error) {
  std::fprintf(stderr, "sample_store: %s\n", error.message().c_str());
  std::abort();
}

struct Adder {
  RankBuilder& rank;

  void slice(TrackId track, const char* name, const char* cat, int64_t start, int64_t length,
             SliceKind kind, int64_t correlation, int64_t external, const char* args,
             unsigned flags = 0, uint32_t detail = kNoDetail) const {
    SliceRecord record;
    record.ts_ns = kBase + start;
    record.dur_ns = length;
    record.name = rank.strings.intern(name);
    record.cat = rank.strings.intern(cat);
    if (correlation >= 0) record.correlation = rank.pack_id(correlation);
    if (external >= 0) record.external_id = rank.pack_id(external);
    if (args != nullptr) record.args = rank.add_args(args);
    record.flags = static_cast<uint16_t>(flags);
    record.kind = kind;
    record.detail = detail;
    rank.add_slice(track, record);
  }
};

}  // namespace

void fill_sample_rank(RankBuilder& rank, int64_t number, int64_t world_size) {
  auto& strings = rank.strings;
  rank.info.rank = number;
  rank.info.world_size = world_size;
  rank.info.host = "node" + std::to_string(number / 8);
  rank.info.pid = 100;
  rank.info.device_kind = "NVIDIA GPU";
  rank.info.device_name = "NVIDIA H200";
  rank.info.source_format = "kineto";
  rank.info.source_path = "rank" + std::to_string(number) + ".json";
  rank.info.clock_base_ns = kBase;
  rank.launch_flow_kind = strings.intern("ac2g");

  TrackInfo host;
  host.process = strings.intern("python");
  host.thread = strings.intern("thread 100 (python)");
  host.pid = strings.intern("100");
  host.tid = host.pid;
  host.kind = TrackKind::kHost;
  const TrackId thread = rank.add_track(host);
  TrackInfo device;
  device.process = strings.intern("GPU 0");
  device.thread = strings.intern("stream 7");
  device.pid = strings.intern("0");
  device.tid = strings.intern("7");
  device.kind = TrackKind::kDevice;
  device.device = 0;
  device.stream = 7;
  const TrackId stream = rank.add_track(device);
  TrackInfo gauge;
  gauge.process = host.process;
  gauge.pid = host.pid;
  gauge.tid = strings.intern("utilisation");
  gauge.thread = gauge.tid;
  gauge.kind = TrackKind::kCounter;
  const TrackId counter = rank.add_track(gauge);

  const Adder add{rank};
  OpDetail op;
  op.input_shapes = strings.intern("[[2, 3], [3, 4]]");
  KernelDetail kernel;
  kernel.type = strings.intern("CUDA");
  kernel.grid = strings.intern("[1, 1, 1]");
  kernel.registers = 32;
  add.slice(thread, "ProfilerStep#7", "user_annotation", 0, 10'000, SliceKind::kAnnotation, -1, -1,
            nullptr);
  add.slice(thread, "aten::mm", "cpu_op", 1000, 2000, SliceKind::kOp, -1, 5,
            R"({"External id": 5, "Input Dims": [[2, 3], [3, 4]]})", 0, rank.add_op(op));
  add.slice(thread, "cudaLaunchKernel", "cuda_runtime", 1500, 100, SliceKind::kLaunchCall, 11, 5,
            R"({"correlation": 11, "External id": 5})", kFlagFlowStart);
  add.slice(thread, "aten::add", "cpu_op", 4000, 500, SliceKind::kOp, -1, 6,
            R"({"External id": 6})");
  add.slice(thread, "cudaLaunchKernel", "cuda_runtime", 4100, 100, SliceKind::kLaunchCall, 12, 6,
            R"({"correlation": 12, "External id": 6})", kFlagFlowStart);
  add.slice(thread, "marker \"quoted\"", "cpu_instant_event", 5000, 0, SliceKind::kOther, -1, -1,
            R"({"note": "100 % \u00e9"})", kFlagInstant);
  add.slice(thread, "broken", "cpu_op", 6000, -50, SliceKind::kOther, -1, -1, nullptr);
  add.slice(stream, "gemm_kernel", "kernel", 2000, 1500 + 1000 * number, SliceKind::kKernel, 11, 5,
            R"({"device": 0, "stream": 7, "correlation": 11})", kFlagFlowEnd,
            rank.add_kernel(kernel));
  add.slice(stream, "add_kernel", "kernel", 3000, 2200, SliceKind::kKernel, 12, 6,
            R"({"device": 0, "stream": 7, "correlation": 12})", kFlagFlowEnd);

  FlowRecord flow;
  flow.kind = strings.intern("fwdbwd");
  flow.id = 1;
  flow.track = thread;
  flow.ts_ns = kBase + 1000;
  rank.flows.push_back(flow);
  flow.ts_ns = kBase + 4000;
  flow.phase = FlowPhase::kEnd;
  rank.flows.push_back(flow);
  rank.counters.push_back({kBase + 100, 0.5, counter});
  rank.counters.push_back({kBase + 200, 1.25, counter});
  MemoryRecord memory;
  memory.ts_ns = kBase + 1200;
  memory.address = 4096;
  memory.bytes = 512;
  memory.total_allocated = 1024;
  memory.total_reserved = 2048;
  memory.device = 0;
  memory.device_kind = strings.intern("CUDA");
  memory.track = thread;
  rank.memory.push_back(memory);
  memory.ts_ns = kBase + 4300;
  memory.bytes = -512;
  rank.memory.push_back(memory);
  QueueRecord queue;
  queue.ts_ns = kBase + 10;
  queue.stage = strings.intern("batch");
  queue.size = 3;
  rank.queues.push_back(queue);
  StepRecord step;
  step.step = 7;
  step.ts_ns = kBase;
  step.dur_ns = 10'000;
  step.source = strings.intern("marked");
  step.track = thread;
  step.name = strings.intern("ProfilerStep#7");
  rank.steps.push_back(step);
  rank.quality.add(QualityCode::kTruncatedInput, "byte 12345");

  SourceTable table;
  table.name = "op_statistic";
  table.doc = "op_statistic.csv";
  table.columns.push_back(
      {"OP Type", Type::kText, {strings.intern("MatMul"), strings.intern("Add")}});
  table.columns.push_back({"Count", Type::kInt64, {3, kNull}});
  if (number > 0) {
    table.columns.push_back(
        {"Ratio(%)", Type::kFloat64, {std::bit_cast<int64_t>(12.5), std::bit_cast<int64_t>(0.25)}});
  }
  rank.source_tables.push_back(std::move(table));
}

std::string write_sample_store(const TemporaryFolder& folder, int64_t ranks) {
  const std::string path = folder.path("sample.stepscope");
  auto writer = StoreWriter::create(path, static_cast<uint32_t>(ranks));
  if (!writer) fail(writer.error());
  for (int64_t number = 0; number < ranks; ++number) {
    RankBuilder rank;
    fill_sample_rank(rank, number, ranks);
    if (auto status = (*writer)->add_rank(static_cast<uint32_t>(number), rank, 1); !status)
      fail(status.error());
  }
  if (auto status = (*writer)->finish(R"({"made": "for tests"})"); !status) fail(status.error());
  return path;
}

}  // namespace stepscope::testing
