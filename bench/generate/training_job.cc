#include "bench/generate/training_job.h"

#include <algorithm>
#include <deque>
#include <vector>

#include "bench/generate/answer_key.h"
#include "bench/generate/kineto_writer.h"
#include "bench/generate/output_file.h"
#include "bench/generate/random.h"
#include "bench/generate/rank_simulator.h"
#include "bench/generate/step_program.h"

namespace stepscope::generate {
namespace {

constexpr int kFirstStepNumber = 2;  // A profiler schedule usually skips the first steps.
constexpr int64_t kFirstPid = 4'100;
constexpr int64_t kPidStride = 64;
constexpr int64_t kCollectiveEndJitterNs = 800;

std::string TracePath(const Options& options, int rank, int64_t pid) {
  if (IsTraceFileName(options.output)) return options.output;
  const std::string number = std::to_string(rank);
  const int64_t epoch_ms = kBaseTimeNs / 1'000'000 + 3'853'096'440;
  return options.output + "/rank_" + number + "/worker" + number + "_" + std::to_string(pid) + "." +
         std::to_string(epoch_ms) + ".pt.trace.json" + (options.gzip ? ".gz" : "");
}

std::string AnswerKeyPath(const Options& options) {
  std::string path = options.output;
  if (!IsTraceFileName(path)) return path + "/expected.json";
  if (path.ends_with(".gz")) path.resize(path.size() - 3);
  path.resize(path.size() - std::string_view(".json").size());
  return path + ".expected.json";
}

std::string FileName(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

RankIdentity MakeIdentity(const Options& options, int rank) {
  RankIdentity identity;
  identity.rank = rank;
  identity.world_size = options.ranks;
  identity.pid = kFirstPid + rank * kPidStride;
  identity.device = rank % kDevicesPerHost;
  identity.trace_name = FileName(TracePath(options, rank, identity.pid));
  if (rank > 0 && options.clock_skew_ns > 0) {
    Random random(options.seed * 7'919 + static_cast<uint64_t>(rank));
    identity.clock_offset_ns = random.Below(2 * options.clock_skew_ns + 1) - options.clock_skew_ns;
  }
  return identity;
}

// Everything that belongs to one rank. Lives in a deque: the parts point at each other.
struct Rank {
  Rank(const Options& options, int number, const StepProgram& program, NamePool* names)
      : identity(MakeIdentity(options, number)),
        path(TracePath(options, number, identity.pid)),
        simulator(options, number, program, names),
        writer(identity, program, names, &file, &key) {}

  RankIdentity identity;
  std::string path;
  OutputFile file;
  AnswerKey key;
  RankSimulator simulator;
  KinetoWriter writer;
};

class TrainingJob {
 public:
  explicit TrainingJob(const Options& options)
      : options_(options), program_(BuildStepProgram(options, &names_)), random_(options.seed) {
    for (int rank = 0; rank < options.ranks; ++rank) {
      ranks_.emplace_back(options, rank, program_, &names_);
    }
    communication_free_ns_.assign(ranks_.size(), 0);
  }

  JobSummary Run() {
    JobSummary summary;
    for (Rank& rank : ranks_) {
      if (!rank.file.Open(rank.path)) return Failed(rank.file.error());
      rank.writer.WriteHeader();
    }
    for (int step = 0; step < options_.steps; ++step) {
      RunStep(step);
      if (!ranks_.front().file.error().empty()) break;
    }
    for (Rank& rank : ranks_) {
      rank.simulator.EndTrace();
      Write(&rank);
      rank.writer.WriteFooter(rank.simulator.start_ns(), rank.simulator.end_ns());
      if (!rank.file.Close()) return Failed(rank.file.error());
      summary.files += 1;
      summary.events += rank.key.events();
      summary.text_bytes += rank.writer.total_bytes();
    }
    OutputFile key_file;
    summary.answer_key_path = AnswerKeyPath(options_);
    if (!key_file.Open(summary.answer_key_path)) return Failed(key_file.error());
    key_file.Write(AnswerKeyText());
    if (!key_file.Close()) return Failed(key_file.error());
    return summary;
  }

 private:
  static JobSummary Failed(const std::string& error) {
    JobSummary summary;
    summary.error = error;
    return summary;
  }

  void RunStep(int step) {
    for (Rank& rank : ranks_) rank.simulator.BeginStep(kFirstStepNumber + step);
    do {
      for (Rank& rank : ranks_) rank.simulator.RunBatch();
      MatchCollectives();
      for (Rank& rank : ranks_) Write(&rank);
    } while (NeedsAnotherBatch(step));
    for (Rank& rank : ranks_) {
      rank.simulator.RunOptimizer();
      rank.simulator.EndStep();
      const std::vector<Event>& host = rank.simulator.events().host;
      const Event& annotation = host.back();
      rank.key.AddStep(annotation.name, annotation.ts_ns + rank.identity.clock_offset_ns,
                       annotation.dur_ns);
      Write(&rank);
    }
  }

  // Steps get equal shares of the size that was asked for; batches fill a step like gradient
  // accumulation does.
  bool NeedsAnotherBatch(int step) const {
    if (!ranks_.front().file.error().empty()) return false;
    const int64_t share_bytes = options_.size_bytes / options_.steps;
    return ranks_.front().writer.total_bytes() < share_bytes * (step + 1);
  }

  void MatchCollectives() {
    const size_t count = ranks_.front().simulator.open_collectives().size();
    spans_.assign(ranks_.size(), std::vector<DeviceSpan>(count));
    for (size_t i = 0; i < count; ++i) {
      const Collective& collective =
          program_.collectives[ranks_.front().simulator.open_collectives()[i].collective];
      const size_t group_size = collective.group == Group::kWorld ? ranks_.size() : 2;
      for (size_t first = 0; first < ranks_.size(); first += group_size) {
        MatchGroup(collective, i, first, group_size);
      }
    }
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      ranks_[rank].simulator.FinishCollectives(spans_[rank]);
    }
  }

  void MatchGroup(const Collective& collective, size_t index, size_t first, size_t group_size) {
    int64_t last_arrival_ns = 0;
    for (size_t rank = first; rank < first + group_size; ++rank) {
      const OpenCollective& open = ranks_[rank].simulator.open_collectives()[index];
      DeviceSpan& span = spans_[rank][index];
      span.start_ns = std::max(open.ready_ns, communication_free_ns_[rank] + 1'000);
      last_arrival_ns = std::max(last_arrival_ns, span.start_ns);
    }
    const int64_t end_ns =
        last_arrival_ns + random_.Near(TransferNs(collective, first, first + group_size));
    for (size_t rank = first; rank < first + group_size; ++rank) {
      DeviceSpan& span = spans_[rank][index];
      span.end_ns = end_ns + random_.Below(kCollectiveEndJitterNs);
      communication_free_ns_[rank] = span.end_ns;
      ranks_[rank].key.AddCollectiveWait(last_arrival_ns - span.start_ns);
    }
  }

  // A ring is as fast as its slowest link.
  int64_t TransferNs(const Collective& collective, size_t first, size_t end) const {
    if (!options_.slow_link) return collective.transfer_ns;
    const auto inside = [&](int rank) {
      return static_cast<size_t>(rank) >= first && static_cast<size_t>(rank) < end;
    };
    if (!inside(options_.slow_link->rank_a) || !inside(options_.slow_link->rank_b)) {
      return collective.transfer_ns;
    }
    return static_cast<int64_t>(static_cast<double>(collective.transfer_ns) *
                                options_.slow_link->factor);
  }

  static void Write(Rank* rank) {
    rank->writer.WriteBatch(rank->simulator.events());
    rank->simulator.events().Clear();
  }

  std::string PlantedCauses() const {
    std::vector<std::string> causes;
    if (options_.straggler) {
      causes.push_back(
          "{\"cause\": \"straggler\", \"rank\": " + std::to_string(options_.straggler->rank) +
          ", \"factor\": " + std::to_string(options_.straggler->factor) + "}");
    }
    if (options_.slow_link) {
      causes.push_back("{\"cause\": \"slow_link\", \"ranks\": [" +
                       std::to_string(options_.slow_link->rank_a) + ", " +
                       std::to_string(options_.slow_link->rank_b) +
                       "], \"factor\": " + std::to_string(options_.slow_link->factor) + "}");
    }
    if (options_.clock_skew_ns > 0) {
      causes.push_back("{\"cause\": \"clock_skew\", \"most_ns\": " +
                       std::to_string(options_.clock_skew_ns) + "}");
    }
    if (options_.slow_data_factor != 1.0) {
      causes.push_back("{\"cause\": \"slow_data\", \"factor\": " +
                       std::to_string(options_.slow_data_factor) + "}");
    }
    if (options_.tiny_kernels) causes.push_back("{\"cause\": \"tiny_kernels\"}");
    if (options_.memory_leak) causes.push_back("{\"cause\": \"memory_leak\"}");
    if (options_.sync_points) causes.push_back("{\"cause\": \"sync_points\"}");
    if (options_.low_mfu) causes.push_back("{\"cause\": \"low_mfu\"}");
    std::string text;
    for (const std::string& cause : causes) text += (text.empty() ? "" : ", ") + cause;
    return text;
  }

  std::string AnswerKeyText() const {
    std::string text =
        "{\n  \"format\": \"kineto\",\n  \"seed\": " + std::to_string(options_.seed) +
        ",\n  \"base_time_ns\": " + std::to_string(kBaseTimeNs) + ",\n  \"planted\": [" +
        PlantedCauses() + "],\n  \"ranks\": [";
    for (const Rank& rank : ranks_) {
      const bool in_folder = !IsTraceFileName(options_.output);
      const std::string file =
          in_folder ? rank.path.substr(options_.output.size() + 1) : FileName(rank.path);
      text += rank.identity.rank == 0 ? "\n    {\n" : ",\n    {\n";
      text += "      \"rank\": " + std::to_string(rank.identity.rank) + ",\n      \"file\": \"" +
              file + "\",\n      \"text_bytes\": " + std::to_string(rank.writer.total_bytes()) +
              ",\n      \"clock_offset_ns\": " + std::to_string(rank.identity.clock_offset_ns) +
              ",\n" + rank.key.ToJsonMembers(names_, "      ") + "\n    }";
    }
    return text + "\n  ]\n}\n";
  }

  const Options& options_;
  NamePool names_;
  StepProgram program_;
  Random random_;
  std::deque<Rank> ranks_;
  std::vector<int64_t> communication_free_ns_;
  std::vector<std::vector<DeviceSpan>> spans_;  // [rank][collective of the batch]
};

}  // namespace

JobSummary RunTrainingJob(const Options& options) { return TrainingJob(options).Run(); }

}  // namespace stepscope::generate
