#include "importers/common/op_timestamps.h"

#include <algorithm>
#include <map>

#include "base/decimal.h"
#include "importers/common/text_file.h"

namespace stepscope {
namespace {

bool read_entry(std::string_view entry, int unit_digits, OpExecution& execution) {
  const auto fields = split_text(entry, ',');
  if (fields.size() < 2 || fields.size() > 3) return false;
  const auto start_ns = parse_integer(fields[0]);
  const auto dur_ns = parse_scaled(fields[1], unit_digits);
  if (!start_ns || !dur_ns) return false;
  execution.start_ns = *start_ns;
  execution.dur_ns = *dur_ns;
  execution.thread = 0;
  if (fields.size() == 3) {
    const auto thread = parse_integer(fields[2]);
    if (!thread) return false;
    execution.thread = *thread;
  }
  return true;
}

}  // namespace

Result<std::vector<OpExecution>> read_op_timestamps(const std::string& path, int unit_digits,
                                                    RankBuilder& rank) {
  auto file = TextFile::open(path);
  if (!file) return std::move(file.error());
  std::vector<OpExecution> executions;
  std::string_view line;
  while (file->next(line)) {
    if (trim_blanks(line).empty()) continue;
    const size_t rest = line.rfind(';');
    const size_t kind = rest == std::string_view::npos || rest == 0 ? std::string_view::npos
                                                                    : line.rfind(';', rest - 1);
    if (kind == std::string_view::npos) {
      rank.quality.add(QualityCode::kUnparsableEvent, file->place() + ": not name;kind;times");
      continue;
    }
    OpExecution execution;
    execution.name = rank.strings.intern(line.substr(0, kind));
    execution.kind = rank.strings.intern(line.substr(kind + 1, rest - kind - 1));
    for (const std::string_view entry : split_words(line.substr(rest + 1))) {
      if (read_entry(entry, unit_digits, execution)) {
        executions.push_back(execution);
      } else {
        rank.quality.add(QualityCode::kUnparsableEvent,
                         file->place() + ": " + std::string(entry.substr(0, 60)));
      }
    }
  }
  std::stable_sort(
      executions.begin(), executions.end(),
      [](const OpExecution& a, const OpExecution& b) { return a.start_ns < b.start_ns; });
  return executions;
}

std::string_view op_short_name(std::string_view full_name) { return file_name_of(full_name); }

std::string_view op_type_of(std::string_view full_name) {
  const std::string_view name = op_short_name(full_name);
  const size_t mark = name.rfind("-op");
  if (mark == std::string_view::npos || mark + 3 == name.size() ||
      name.find_first_not_of("0123456789", mark + 3) != std::string_view::npos) {
    return name;
  }
  return name.substr(0, mark);
}

std::string_view op_module_of(std::string_view full_name) {
  const size_t slash = full_name.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : full_name.substr(0, slash);
}

std::string_view collective_of(std::string_view op_type) {
  for (const std::string_view prefix : {"DistComm", "InnerComm"}) {
    if (op_type.starts_with(prefix)) op_type.remove_prefix(prefix.size());
  }
  // Whole words: BroadcastTo and ReduceSum are computation.
  static constexpr std::string_view kCollectives[] = {
      "AllReduce",  "AllGather",      "ReduceScatter",    "Broadcast",         "Reduce",
      "AlltoAll",   "AllToAll",       "AlltoAllV",        "AllToAllv",         "NeighborExchange",
      "Send",       "Receive",        "CollectiveGather", "CollectiveScatter", "Barrier",
      "AllGatherV", "ReduceScatterV", "BatchISendIRecv"};
  return std::ranges::find(kCollectives, op_type) == std::end(kCollectives) ? std::string_view()
                                                                            : op_type;
}

void add_op_slices(const std::vector<OpExecution>& executions,
                   const std::vector<StringId>& input_shapes, std::string_view process,
                   RankBuilder& rank) {
  std::map<int64_t, TrackId> tracks;
  for (size_t i = 0; i < executions.size(); ++i) {
    const OpExecution& execution = executions[i];
    auto [track, is_new] = tracks.try_emplace(execution.thread);
    if (is_new) {
      const std::string thread = std::to_string(execution.thread);
      TrackInfo info;
      info.process = rank.strings.intern(process);
      info.thread = rank.strings.intern("Thread " + thread);
      info.tid = rank.strings.intern(thread);
      info.kind = TrackKind::kHost;
      track->second = rank.add_track(info);
    }
    const std::string_view name = rank.strings.view(execution.name);
    OpDetail detail;
    detail.type = rank.strings.intern(op_type_of(name));
    const std::string_view module = op_module_of(name);
    if (!module.empty()) detail.module = rank.strings.intern(module);
    if (!input_shapes.empty()) detail.input_shapes = input_shapes[i];
    const std::string_view collective = collective_of(op_type_of(name));
    if (!collective.empty()) {
      CommunicationDetail communication;
      communication.level = rank.strings.intern("op");
      communication.op = rank.strings.intern(collective);
      detail.communication = rank.add_communication(communication);
    }
    SliceRecord slice;
    slice.ts_ns = execution.start_ns;
    slice.dur_ns = execution.dur_ns;
    slice.name = execution.name;
    slice.cat = execution.kind;
    slice.kind = SliceKind::kOp;
    slice.detail = rank.add_op(detail);
    rank.add_slice(track->second, slice);
  }
}

}  // namespace stepscope
