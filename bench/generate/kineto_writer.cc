#include "bench/generate/kineto_writer.h"

#include <algorithm>
#include <cstdio>

namespace stepscope::generate {
namespace {

constexpr size_t kMostBytesPerEvent = 16
                                      << 10;  // A collective's list of ranks is the longest text.
constexpr int kDeviceProcesses = 16;          // Kineto names every GPU id up to 15, used or not.
constexpr int kMostListedRanks = 30;          // The framework cuts longer lists.
constexpr int64_t kAutogradThreadOffset = 30;
constexpr int kComputeStream = 7;
constexpr int kCommunicationStream = 20;

constexpr std::string_view kDeviceText =
    "\"name\": \"NVIDIA H200\", \"totalGlobalMem\": 150109880320,\n"
    "      \"computeMajor\": 9, \"computeMinor\": 0,\n"
    "      \"maxThreadsPerBlock\": 1024, \"maxThreadsPerMultiprocessor\": 2048,\n"
    "      \"regsPerBlock\": 65536, \"warpSize\": 32,\n"
    "      \"sharedMemPerBlock\": 49152, \"numSms\": 132\n"
    "    , \"regsPerMultiprocessor\": 65536, \"sharedMemPerBlockOptin\": 232448, "
    "\"sharedMemPerMultiprocessor\": 233472\n    }";

// NCCL kernels all launch alike.
constexpr std::string_view kCollectiveLaunchText =
    "\"registers per thread\": 96,      \"shared memory\": 84664,      \"blocks per SM\": 0.181818,"
    "      \"warps per SM\": 3.090909,      \"grid\": [24, 1, 1],      \"block\": [544, 1, 1],"
    "      \"est. achieved occupancy %\": 5";

std::string Quoted(std::string_view key, std::string_view value) {
  return std::string("\"").append(key) + "\": \"" + std::string(value) + "\"";
}

}  // namespace

KinetoWriter::KinetoWriter(const RankIdentity& identity, const StepProgram& program,
                           NamePool* names, OutputFile* file, AnswerKey* key)
    : identity_(identity), program_(program), names_(names), out_(file), key_(key) {
  const auto lane = [](int64_t pid, int64_t tid) {
    return "\", \"pid\": " + std::to_string(pid) + ", \"tid\": " + std::to_string(tid) + ",\n";
  };
  const int64_t pid = identity.pid;
  lane_text_ = {lane(pid, pid), lane(pid, pid + kAutogradThreadOffset),
                lane(identity.device, kComputeStream), lane(identity.device, kCommunicationStream)};
  for (const Group group : {Group::kWorld, Group::kPair}) {
    const bool world = group == Group::kWorld;
    const std::string size = std::to_string(world ? identity.world_size : 2);
    group_text_[static_cast<size_t>(group)] =
        "\"Group size\": " + size + ", \"In split size\": \"[]\", \"Out split size\": \"[]\", " +
        Quoted("Process Group Name", world ? "0" : "1") + ", " +
        Quoted("Process Group Description", world ? "default_pg" : "parameter_shard") + ", " +
        Quoted("Process Group Ranks", GroupRanks(group));
  }
}

void KinetoWriter::WriteHeader() {
  Long("\n  {\n    \"schemaVersion\": 1,\n    \"deviceProperties\": [");
  for (int i = 0; i < std::min(identity_.world_size, kDevicesPerHost); ++i) {
    Long((i == 0 ? "\n    {\n      \"id\": " : ",\n    {\n      \"id\": ") + std::to_string(i) +
         ", ");
    Long(kDeviceText);
  }
  Long("\n    ],\n      \"distributedInfo\": ");
  Long(DistributedInfo());
  Long(
      ",\n      \"profile_memory\": 1,\n      \"record_shapes\": 1,\n"
      "      \"with_modules\": 1,\n      \"cuda_driver_version\": 13000,\n"
      "      \"cuda_runtime_version\": 13000,\n      \"cupti_version\": 130001,\n"
      "  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": ");
  Long(std::to_string(kBaseTimeNs) + ",\n  \"traceEvents\": [\n");
}

void KinetoWriter::WriteBatch(const BatchEvents& events) {
  for (const Event& event : events.host) WriteEvent(event);
  for (const Event& event : events.memory) WriteMemory(event);
  for (const Event& event : events.python) WriteEvent(event);
  for (const Event& event : events.activities) WriteEvent(event);
  key_->EndBatch();
}

void KinetoWriter::WriteFooter(int64_t start_ns, int64_t end_ns) {
  const int64_t ts_ns = start_ns + identity_.clock_offset_ns - 50'000;
  WriteProcessMetadata(ts_ns);
  Event span;
  span.category = Category::kTraceSpan;
  span.name = names_->Intern("PyTorch Profiler (0)");
  span.dur_ns = end_ns - start_ns + 100'000;
  key_->AddEvent(span, ts_ns);
  Separate();
  out_.Text("  {\n    \"ph\": \"X\", \"cat\": \"Trace\", \"ts\": ");
  out_.Microseconds(ts_ns);
  out_.Text(", \"dur\": ");
  out_.Microseconds(span.dur_ns);
  out_.Text(
      ",\n    \"pid\": \"Spans\", \"tid\": \"PyTorch Profiler\",\n"
      "    \"name\": \"PyTorch Profiler (0)\",\n    \"args\": {\n      \"Op count\": 0\n    }\n  "
      "}");
  Separate();
  out_.Text("  {\n    \"name\": \"process_sort_index\", \"ph\": \"M\", \"ts\": ");
  out_.Microseconds(ts_ns);
  out_.Text(
      ",\n    \"pid\": \"Spans\", \"tid\": 0,\n    \"args\": {\n      \"sort_index\": 536870912\n"
      "    }\n  }");
  key_->AddMetadata();
  Separate();
  out_.Text(
      "  {\n    \"name\": \"Iteration Start: PyTorch Profiler\", \"ph\": \"i\", \"s\": \"g\",\n"
      "    \"pid\": \"Traces\", \"tid\": \"Trace PyTorch Profiler\", \"ts\": ");
  out_.Microseconds(ts_ns);
  out_.Text("\n  }");
  Separate();
  out_.Text(
      "  {\n    \"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\",\n"
      "    \"pid\": \"\", \"tid\": \"\", \"ts\": ");
  out_.Microseconds(ts_ns + span.dur_ns + 140'000'000);
  out_.Text("\n  }");
  key_->AddUncategorisedInstant();
  key_->AddUncategorisedInstant();
  Long("\n  ],\n  \"traceName\": \"" + identity_.trace_name + "\"\n}\n");
  out_.Flush();
}

void KinetoWriter::WriteEvent(const Event& event) {
  const int64_t ts_ns = event.ts_ns + identity_.clock_offset_ns;
  key_->AddEvent(event, ts_ns);
  Separate();
  out_.Text("  {\n    \"ph\": \"X\", \"cat\": \"");
  out_.Text(CategoryName(event.category));
  out_.Text("\", \"name\": \"");
  out_.Text(names_->Get(event.name));
  out_.Text(lane_text_[static_cast<size_t>(event.lane)]);
  out_.Text("    \"ts\": ");
  out_.Microseconds(ts_ns);
  out_.Text(", \"dur\": ");
  out_.Microseconds(event.dur_ns);
  out_.Text(",\n    \"args\": {\n      ");
  if (event.category == Category::kPythonFunction) {
    WritePythonArguments(event);
  } else {
    if (event.external_id != 0) {
      out_.Text("\"External id\": ");
      out_.Integer(event.external_id);
      if (event.category != Category::kGpuUserAnnotation) out_.Text(",");
    }
    if (IsDeviceWork(event.category)) {
      WriteDeviceArguments(event);
    } else if (event.category == Category::kCudaRuntime ||
               event.category == Category::kCudaDriver) {
      out_.Text("      \"cbid\": ");
      out_.Integer(GetRuntimeCall(static_cast<Call>(event.site)).callback_id);
      out_.Text(", \"correlation\": ");
      out_.Integer(event.correlation);
    } else if (event.category != Category::kGpuUserAnnotation) {
      WriteHostArguments(event);
    }
  }
  out_.Text("\n    }\n  }");
  if (event.flow != Flow::kNone) WriteFlow(event, ts_ns);
}

void KinetoWriter::WriteHostArguments(const Event& event) {
  if (event.sequence >= 0) {
    out_.Text("\"Sequence number\": ");
    out_.Integer(event.sequence);
    out_.Text(event.lane == Lane::kBackwardThread ? ", \"Fwd thread id\": 1, "
                                                  : ", \"Fwd thread id\": 0, ");
  }
  out_.Text("\"Record function id\": 0, ");
  if (event.category == Category::kCpuOp) {
    const HostSite& site = program_.host_sites[event.site];
    if (site.collective >= 0) {
      WriteCollectiveArguments(program_.collectives[static_cast<size_t>(site.collective)],
                               event.collective_sequence);
      out_.Text(" ");
    }
    if (!site.argument_text.empty()) {
      out_.Text(site.argument_text);
      out_.Text(", ");
    }
  }
  out_.Text("\"Ev Idx\": ");
  out_.Integer(event_index_++);
}

void KinetoWriter::WritePythonArguments(const Event& event) {
  out_.Text("\"Python parent id\": ");
  if (event.python_parent_id == 0) {
    out_.Text("null");
  } else {
    out_.Integer(event.python_parent_id);
  }
  out_.Text(", \"Python id\": ");
  out_.Integer(event.python_id);
  out_.Text(", \"Python module id\": ");
  out_.Integer(event.site);
  out_.Text(", \"Ev Idx\": ");
  out_.Integer(event_index_++);
}

void KinetoWriter::WriteDeviceArguments(const Event& event) {
  const bool collective = event.lane == Lane::kCommunicationStream;
  const bool kernel = event.category == Category::kKernel;
  if (collective) {
    out_.Text("      ");
    WriteCollectiveArguments(program_.collectives[event.site], event.collective_sequence);
  }
  out_.Text(kernel ? "      \"queued\": 0, \"device\": " : "      \"device\": ");
  out_.Integer(identity_.device);
  out_.Text(", \"context\": 1,      \"stream\": ");
  out_.Integer(collective ? kCommunicationStream : kComputeStream);
  out_.Text(", \"correlation\": ");
  out_.Integer(event.correlation);
  out_.Text(",      ");
  if (kernel) {
    out_.Text(collective ? kCollectiveLaunchText
                         : std::string_view(program_.kernels[event.site].launch_text));
    return;
  }
  out_.Text("\"bytes\": ");
  out_.Integer(event.bytes);
  char bandwidth[64];
  const int size =
      std::snprintf(bandwidth, sizeof(bandwidth), ", \"memory bandwidth (GB/s)\": %.15g",
                    static_cast<double>(event.bytes) / static_cast<double>(event.dur_ns));
  out_.Text({bandwidth, static_cast<size_t>(size)});
}

void KinetoWriter::WriteCollectiveArguments(const Collective& collective, int64_t sequence) {
  const bool gather = collective.operation != "allreduce";
  out_.Text("\"Collective name\": \"");
  out_.Text(collective.operation);
  out_.Text("\", \"dtype\": \"BFloat16\", \"In msg nelems\": ");
  out_.Integer(collective.elements);
  out_.Text(", \"Out msg nelems\": ");
  out_.Integer(gather ? collective.elements * 2 : collective.elements);
  out_.Text(", ");
  out_.Text(group_text_[static_cast<size_t>(collective.group)]);
  out_.Text(", \"Rank\": ");
  out_.Integer(identity_.rank);
  out_.Text(", \"Seq\": ");
  out_.Integer(sequence);
  out_.Text(",");
}

void KinetoWriter::WriteMemory(const Event& event) {
  const int64_t ts_ns = event.ts_ns + identity_.clock_offset_ns;
  key_->AddEvent(event, ts_ns);
  Separate();
  out_.Text(
      "  {\n    \"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": "
      "\"[memory]\",\n    \"pid\": ");
  out_.Integer(identity_.pid);
  out_.Text(", \"tid\": ");
  out_.Integer(event.lane == Lane::kMainThread ? identity_.pid
                                               : identity_.pid + kAutogradThreadOffset);
  out_.Text(",\n    \"ts\": ");
  out_.Microseconds(ts_ns);
  out_.Text(",\n    \"args\": {\n      \"Total Reserved\": ");
  out_.Integer(event.total_reserved_bytes);
  out_.Text(", \"Total Allocated\": ");
  out_.Integer(event.total_allocated_bytes);
  out_.Text(", \"Bytes\": ");
  out_.Integer(event.bytes);
  out_.Text(", \"Device Id\": ");
  out_.Integer(identity_.device);
  out_.Text(", \"Device Type\": 1, \"Addr\": ");
  out_.Integer(event.address);
  out_.Text(", \"finished\": false, \"Ev Idx\": ");
  out_.Integer(event_index_++);
  out_.Text("\n    }\n  }");
}

void KinetoWriter::WriteFlow(const Event& event, int64_t ts_ns) {
  const bool start = event.flow == Flow::kLaunchStart || event.flow == Flow::kForwardStart;
  const bool launch = event.flow == Flow::kLaunchStart || event.flow == Flow::kLaunchEnd;
  Separate();
  out_.Text(start ? "  {\n    \"ph\": \"s\", \"id\": " : "  {\n    \"ph\": \"f\", \"id\": ");
  out_.Integer(launch ? event.correlation : event.flow_id);
  // The lane's text starts with the quote that ends a name and ends the line; a flow needs neither.
  const std::string_view lane_text = lane_text_[static_cast<size_t>(event.lane)];
  out_.Text(lane_text.substr(1, lane_text.size() - 2));
  out_.Text(" \"ts\": ");
  out_.Microseconds(ts_ns);
  out_.Text(launch ? ",\n    \"cat\": \"ac2g\", \"name\": \"ac2g\""
                   : ",\n    \"cat\": \"fwdbwd\", \"name\": \"fwdbwd\"");
  out_.Text(start ? "\n  }" : ", \"bp\": \"e\"\n  }");
}

void KinetoWriter::WriteMetadata(std::string_view name, int64_t ts_ns, int64_t pid, int64_t tid,
                                 std::string_view arguments) {
  key_->AddMetadata();
  Separate();
  out_.Text("  {\n    \"name\": \"");
  out_.Text(name);
  out_.Text("\", \"ph\": \"M\", \"ts\": ");
  out_.Microseconds(ts_ns);
  out_.Text(", \"pid\": ");
  out_.Integer(pid);
  out_.Text(", \"tid\": ");
  out_.Integer(tid);
  out_.Text(",\n    \"args\": {\n      ");
  out_.Text(arguments);
  out_.Text("\n    }\n  }");
}

void KinetoWriter::WriteProcessMetadata(int64_t ts_ns) {
  const auto process = [&](int64_t pid, const std::string& label, int64_t sort_index) {
    WriteMetadata("process_name", ts_ns, pid, 0, Quoted("name", "python3"));
    WriteMetadata("process_labels", ts_ns, pid, 0, Quoted("labels", label));
    WriteMetadata("process_sort_index", ts_ns, pid, 0,
                  "\"sort_index\": " + std::to_string(sort_index));
  };
  const auto thread = [&](int64_t pid, int64_t tid, const std::string& name) {
    WriteMetadata("thread_name", ts_ns, pid, tid, Quoted("name", name));
    WriteMetadata("thread_sort_index", ts_ns, pid, tid, "\"sort_index\": " + std::to_string(tid));
  };
  const int64_t pid = identity_.pid;
  const int64_t autograd_tid = pid + kAutogradThreadOffset;
  process(pid, "CPU", pid);
  for (int id = 0; id < kDeviceProcesses; ++id) {
    process(id, "GPU " + std::to_string(id), 5'000'000 + id);
  }
  thread(identity_.device, kComputeStream, "stream 7 ");
  thread(identity_.device, kCommunicationStream, "stream 20 ");
  thread(pid, autograd_tid, "thread " + std::to_string(autograd_tid) + " (pt_autograd_0)");
  thread(pid, pid, "thread " + std::to_string(pid) + " (python3)");
}

std::string KinetoWriter::DistributedInfo() const {
  const std::string world = std::to_string(identity_.world_size);
  const auto group = [&](std::string_view name, std::string_view description, Group members,
                         const std::string& size) {
    return std::string("{") + Quoted("pg_name", name) + ", " + Quoted("pg_desc", description) +
           ", " + Quoted("backend_config", "cuda:nccl") + ", \"pg_size\": " + size +
           ", \"ranks\": " + GroupRanks(members) + "}";
  };
  const bool pairs = HasPairGroups(identity_.world_size);
  std::string groups = group("0", "default_pg", Group::kWorld, world);
  // A list that was cut is not JSON; readers must cope with a missing one.
  if (identity_.world_size > kMostListedRanks) {
    groups =
        "{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"backend_config\": "
        "\"cuda:nccl\", \"pg_size\": " +
        world + "}";
  }
  if (pairs) groups += ", " + group("1", "parameter_shard", Group::kPair, "2");
  return "{\"backend\": \"nccl\", \"rank\": " + std::to_string(identity_.rank) +
         ", \"world_size\": " + world + ", \"pg_count\": " + (pairs ? "2" : "1") +
         ", \"pg_config\": [" + groups + "], \"nccl_version\": \"2.27.7\"}";
}

std::string KinetoWriter::GroupRanks(Group group) const {
  if (group == Group::kPair) {
    const int first = identity_.rank & ~1;
    return std::string("[") + std::to_string(first) + ", " + std::to_string(first + 1) + "]";
  }
  std::string ranks = "[0";
  for (int i = 1; i < std::min(identity_.world_size, kMostListedRanks); ++i) {
    ranks += ", " + std::to_string(i);
  }
  return ranks + (identity_.world_size > kMostListedRanks ? ", ...]" : "]");
}

void KinetoWriter::Separate() {
  out_.Reserve(kMostBytesPerEvent);
  if (!first_event_) out_.Text(",\n");
  first_event_ = false;
}

void KinetoWriter::Long(std::string_view text) {
  out_.Reserve(text.size());
  out_.Text(text);
}

}  // namespace stepscope::generate
