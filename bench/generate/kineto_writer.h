// Turns one rank's events into the text that libkineto writes: same keys, order, spaces and
// newlines. Streams: memory is one buffer, whatever the length of the trace.

#ifndef STEPSCOPE_BENCH_GENERATE_KINETO_WRITER_H_
#define STEPSCOPE_BENCH_GENERATE_KINETO_WRITER_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/generate/answer_key.h"
#include "bench/generate/event.h"
#include "bench/generate/output_file.h"
#include "bench/generate/rank_simulator.h"
#include "bench/generate/step_program.h"
#include "bench/generate/text_buffer.h"

namespace stepscope::generate {

// Unix time of ts 0: Kineto rounds it down to a multiple of 7,889,238 s.
inline constexpr int64_t kBaseTimeNs = 1'790'857'026'000'000'000;

inline constexpr int kDevicesPerHost = 8;

struct RankIdentity {
  int rank = 0;
  int world_size = 1;
  int64_t pid = 0;
  int device = 0;
  int64_t clock_offset_ns = 0;
  std::string trace_name;
};

class KinetoWriter {
 public:
  KinetoWriter(const RankIdentity& identity, const StepProgram& program, NamePool* names,
               OutputFile* file, AnswerKey* key);

  void WriteHeader();
  void WriteBatch(const BatchEvents& events);
  void WriteFooter(int64_t start_ns, int64_t end_ns);

  int64_t total_bytes() const { return out_.total_bytes(); }

 private:
  void WriteEvent(const Event& event);
  void WriteMemory(const Event& event);
  void WriteHostArguments(const Event& event);
  void WritePythonArguments(const Event& event);
  void WriteDeviceArguments(const Event& event);
  void WriteCollectiveArguments(const Collective& collective, int64_t sequence);
  void WriteFlow(const Event& event, int64_t ts_ns);
  void WriteMetadata(std::string_view name, int64_t ts_ns, int64_t pid, int64_t tid,
                     std::string_view arguments);
  void WriteProcessMetadata(int64_t ts_ns);
  std::string DistributedInfo() const;
  std::string GroupRanks(Group group) const;
  void Separate();
  void Long(std::string_view text);

  RankIdentity identity_;
  const StepProgram& program_;
  NamePool* names_;
  TextBuffer out_;
  AnswerKey* key_;
  std::array<std::string, 4> lane_text_;   // "pid": ..., "tid": ... of each lane.
  std::array<std::string, 2> group_text_;  // Process group arguments of each Group.
  int64_t event_index_ = 0;
  bool first_event_ = true;
};

}  // namespace stepscope::generate

#endif  // STEPSCOPE_BENCH_GENERATE_KINETO_WRITER_H_
