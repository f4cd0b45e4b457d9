#include "importers/mindinsight/job_files.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/decimal.h"
#include "base/file.h"
#include "importers/common/checked_math.h"
#include "importers/common/op_timestamps.h"
#include "importers/common/table_builder.h"
#include "importers/common/text_file.h"
#include "importers/mindinsight/step_trace.h"

namespace stepscope::mindinsight {
namespace {

constexpr uint64_t kMostBytes = 1ull << 30;

template <typename T>
T field(std::string_view bytes, size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

// The number behind `key` (and blanks) in a record of running text.
std::optional<int64_t> number_after(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = trim_blanks(text.substr(at + key.size()));
  return parse_integer(rest.substr(0, rest.find_first_not_of("0123456789")));
}

struct AiCpuTask {
  std::string node;
  int64_t run_start_us = 0;
  int64_t run_end_us = 0;
  int64_t dispatch_us = kNull;
  int64_t total_us = kNull;
};

// "[n] Node:NAME, Run tart:US [COUNT], ..., Run end:US [COUNT]"; "tart" is the writer's own.
std::optional<AiCpuTask> parse_node(std::string_view text) {
  const size_t at = text.find("Node:");
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(at + 5);
  const auto start = number_after(rest, "tart:");
  const auto end = number_after(rest, "Run end:");
  if (!start || !end) return std::nullopt;
  AiCpuTask task;
  task.node = rest.substr(0, rest.find(','));
  task.run_start_us = *start;
  task.run_end_us = *end;
  return task;
}

class AiCpuTable {
 public:
  AiCpuTable(const std::string& path, const OperatorInfos& infos, DeviceTracks& tracks,
             RankBuilder& rank)
      : infos_(infos),
        tracks_(tracks),
        rank_(rank),
        table_(rank, "aicpu_raw", path,
               {{"serial_number", Type::kInt64},
                {"node_type_name", Type::kText},
                {"node", Type::kText},
                {"total_time_us", Type::kInt64},
                {"dispatch_time_us", Type::kInt64},
                {"execution_time_us", Type::kInt64},
                {"run_start_us", Type::kInt64},
                {"run_end_us", Type::kInt64}}) {}

  void add(const AiCpuTask& task) {
    const int64_t dur_us = minus_or_null(task.run_end_us, task.run_start_us);
    table_.row({++count_, table_.text(op_type_of(task.node)), table_.text(task.node), task.total_us,
                task.dispatch_us, dur_us, task.run_start_us, task.run_end_us});
    add_kernel_slice(task.node, "AI_CPU", times_or_null(task.run_start_us, 1000),
                     times_or_null(dur_us, 1000), kNull, infos_, tracks_, rank_);
  }
  int64_t count() const { return count_; }

 private:
  const OperatorInfos& infos_;
  DeviceTracks& tracks_;
  RankBuilder& rank_;
  TableBuilder table_;
  int64_t count_ = 0;
};

void read_aicpu_text(std::string_view text, const std::string& path, AiCpuTable& table,
                     RankBuilder& rank) {
  std::optional<AiCpuTask> open;
  for (const std::string_view record : split_text(text, '\0')) {
    if (trim_blanks(record).empty()) continue;
    if (auto task = parse_node(record)) {
      if (open) table.add(*open);  // its second half is missing
      open = std::move(task);
      continue;
    }
    const auto dispatch = number_after(record, "dispatchTime=");
    const auto total = number_after(record, "totalTime=");
    if (!open || !total) {
      rank.quality.add(QualityCode::kUnparsableEvent,
                       path + " byte " + std::to_string(record.data() - text.data()));
      continue;
    }
    open->dispatch_us = dispatch.value_or(kNull);
    open->total_us = *total;
    table.add(*open);
    open.reset();
  }
  if (!open) return;
  table.add(*open);
  rank.quality.add(QualityCode::kTruncatedInput, path);
}

void read_aicpu_binary(std::string_view bytes, const std::string& path, AiCpuTable& table,
                       RankBuilder& rank) {
  constexpr size_t kRecord = 128;
  constexpr uint16_t kMagic = 0x5A5A;
  constexpr uint16_t kFirstUncounted = 25000;
  size_t at = 0;
  for (; at + kRecord <= bytes.size(); at += kRecord) {
    const std::string_view record = bytes.substr(at, kRecord);
    if (field<uint16_t>(record, 0) != kMagic) {
      rank.quality.add(QualityCode::kUnparsableEvent, path + " byte " + std::to_string(at));
      continue;
    }
    const auto stream = field<uint16_t>(record, 4);
    const auto task_id = field<uint16_t>(record, 6);
    if (task_id >= kFirstUncounted) continue;
    AiCpuTask task;
    task.node = std::to_string(stream) + "_" + std::to_string(task_id);
    task.run_start_us = static_cast<int64_t>(field<uint64_t>(record, 8));
    task.run_end_us = static_cast<int64_t>(field<uint64_t>(record, 48));
    task.dispatch_us = field<uint32_t>(record, 108);
    task.total_us = field<uint32_t>(record, 112);
    table.add(task);
  }
  if (at != bytes.size()) {
    rank.quality.add(QualityCode::kTruncatedInput, path + " byte " + std::to_string(at));
  }
}

}  // namespace

int64_t read_job_tasks(const std::string& path, TaskNames& names, RankBuilder& rank) {
  auto file = TextFile::open(path);
  if (!file) {
    add_unreadable(rank, path, file.error());
    return 0;
  }
  TableBuilder table(rank, "task_desc_info", path,
                     {{"full_op_name", Type::kText},
                      {"block_dim", Type::kInt64},
                      {"task_id", Type::kInt64},
                      {"stream_id", Type::kInt64}});
  int64_t rows = 0;
  std::string_view line;
  while (file->next(line)) {
    auto words = split_words(line);
    if (words.empty()) continue;
    if (words.size() == 5) words.erase(words.begin());
    const auto block = words.size() == 4 ? parse_integer(words[1]) : std::nullopt;
    const auto task = words.size() == 4 ? parse_integer(words[2]) : std::nullopt;
    const auto stream = words.size() == 4 ? parse_integer(words[3]) : std::nullopt;
    if (!block || !task || !stream) {
      rank.quality.add(QualityCode::kUnparsableEvent, file->place());
      continue;
    }
    table.row({table.text(words[0]), *block, *task, *stream});
    names[{*stream, *task}] = words[0];
    ++rows;
  }
  add_source(rank, path, "task_desc_info", rows);
  return rows;
}

int64_t keep_job_graph(const std::vector<std::string>& paths, RankBuilder& rank) {
  std::string text;
  for (const std::string& path : paths) {
    auto bytes = read_file(path, kMostBytes);
    if (!bytes) {
      add_unreadable(rank, path, bytes.error());
      continue;
    }
    text += *bytes;
  }
  if (paths.empty()) return 0;
  TableBuilder table(
      rank, "graph_desc_info", paths[0],
      {{"full_op_name", Type::kText}, {"op_type", Type::kText}, {"tensors", Type::kText}});
  int64_t rows = 0;
  for (const std::string_view line : split_text(text, '\n')) {
    const std::string_view row = trim_blanks(line);
    if (row.empty()) continue;
    const size_t type_at = row.find(" op_type:");
    if (!row.starts_with("op_name:") || type_at == std::string_view::npos) {
      rank.quality.add(QualityCode::kUnparsableEvent,
                       paths[0] + ": " + std::string(row.substr(0, 60)));
      continue;
    }
    std::string_view rest = row.substr(type_at + 9);
    const size_t type_end = std::min(rest.find(' '), rest.size());
    table.row({table.text(row.substr(8, type_at - 8)), table.text(rest.substr(0, type_end)),
               table.text_or_null(trim_blanks(rest.substr(type_end)))});
    ++rows;
  }
  for (const std::string& path : paths) add_source(rank, path, "graph_desc_info", rows);
  return rows;
}

int64_t keep_job_points(const std::string& path, RankBuilder& rank) {
  auto file = TextFile::open(path);
  if (!file) {
    add_unreadable(rank, path, file.error());
    return 0;
  }
  TableBuilder table(rank, "points", path, {{"tag", Type::kInt64}, {"op_name", Type::kText}});
  int64_t rows = 0;
  std::string_view line;
  while (file->next(line)) {
    const auto words = split_words(line);
    if (words.empty()) continue;
    const auto tag = parse_integer(words[0]);
    if (!tag || words.size() != 2) {
      rank.quality.add(QualityCode::kUnparsableEvent, file->place());
      continue;
    }
    table.row({*tag, table.text(words[1])});
    ++rows;
  }
  add_source(rank, path, "points", rows);
  return rows;
}

int64_t read_job_task_track(const std::vector<std::string>& paths, const TaskNames& names,
                            const OperatorInfos& infos, DeviceTracks& tracks, RankBuilder& rank) {
  constexpr size_t kRecord = 64;
  std::map<std::pair<int64_t, int64_t>, int64_t> open;  // stream, task -> start count
  int64_t tasks = 0;
  for (const std::string& path : paths) {
    auto bytes = read_file(path, kMostBytes);
    if (!bytes) {
      add_unreadable(rank, path, bytes.error());
      continue;
    }
    if (bytes->size() % kRecord != 0) rank.quality.add(QualityCode::kTruncatedInput, path);
    const int64_t before = tasks;
    for (size_t at = 0; at + kRecord <= bytes->size(); at += kRecord) {
      const std::string_view record = std::string_view(*bytes).substr(at, kRecord);
      const auto head = field<uint8_t>(record, 0);
      if ((head & 0x08) != 0) rank.quality.add(QualityCode::kDroppedRecords, path + " overflow");
      const int type = head & 0x07;
      if (type > 1) continue;  // blocks and counters inside a task
      const int64_t task = field<uint16_t>(record, 6);
      const auto count = static_cast<int64_t>(field<uint64_t>(record, 8));
      const int64_t stream = field<uint32_t>(record, 16);
      if (type == 0) {
        open[{stream, task}] = count;
        continue;
      }
      const auto start = open.find({stream, task});
      if (start == open.end()) {
        rank.quality.add(QualityCode::kEndWithoutBegin, path + " byte " + std::to_string(at));
        continue;
      }
      const auto named = names.find({stream, task});
      const std::string name = named != names.end()
                                   ? named->second
                                   : "task " + std::to_string(stream) + "_" + std::to_string(task);
      add_kernel_slice(name, "AI_CORE", times_or_null(start->second, kNsPerCount),
                       times_or_null(minus_or_null(count, start->second), kNsPerCount), stream,
                       infos, tracks, rank);
      open.erase(start);
      ++tasks;
    }
    add_source(rank, path, "hwts", tasks - before);
  }
  rank.quality.add(QualityCode::kUnfinishedOperation, "hwts tasks without an end",
                   static_cast<int64_t>(open.size()));
  return tasks;
}

int64_t read_job_aicpu(const std::string& path, const OperatorInfos& infos, DeviceTracks& tracks,
                       RankBuilder& rank) {
  auto bytes = read_file(path, kMostBytes);
  if (!bytes) {
    add_unreadable(rank, path, bytes.error());
    return 0;
  }
  AiCpuTable table(path, infos, tracks, rank);
  if (bytes->starts_with("\x5A\x5A")) {
    read_aicpu_binary(*bytes, path, table, rank);
  } else {
    read_aicpu_text(*bytes, path, table, rank);
  }
  add_source(rank, path, "aicpu_raw", table.count());
  return table.count();
}

int64_t read_job_dequeue(const std::string& path, RankBuilder& rank) {
  auto bytes = read_file(path, kMostBytes);
  if (!bytes) {
    add_unreadable(rank, path, bytes.error());
    return 0;
  }
  int64_t rows = 0;
  for (const std::string_view record : split_text(*bytes, '\0')) {
    if (trim_blanks(record).empty()) continue;
    const auto task = parse_node(record);
    const auto size = number_after(record, "queue size:");
    if (!task || !size) {
      rank.quality.add(QualityCode::kUnparsableEvent,
                       path + " byte " + std::to_string(record.data() - bytes->data()));
      continue;
    }
    QueueRecord queue;
    queue.stage = rank.strings.intern(task->node);
    queue.ts_ns = std::max<int64_t>(0, times_or_null(task->run_start_us, 1000));
    queue.batch = ++rows;
    queue.size = *size;
    queue.fetch_ns = times_or_null(minus_or_null(task->run_end_us, task->run_start_us), 1000);
    rank.queues.push_back(queue);
  }
  add_source(rank, path, "aicpu_dequeue", rows);
  return rows;
}

}  // namespace stepscope::mindinsight
