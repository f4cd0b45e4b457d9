#include "importers/mindinsight/framework_files.h"

#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/file.h"
#include "importers/common/table_builder.h"
#include "importers/common/text_file.h"

namespace stepscope::mindinsight {
namespace {

constexpr uint64_t kMostBytes = 1ull << 30;

template <typename T>
T field(std::string_view record, size_t at) {
  T value{};
  std::memcpy(&value, record.data() + at, sizeof(T));
  return value;
}

// A 64-bit field that is only kept; 2^63 alone would read as NULL.
int64_t wide(std::string_view record, size_t at) { return field<int64_t>(record, at); }

// Calls visit(record, offset) for each record of fixed size; returns how many there were.
template <typename Visit>
int64_t for_records(const std::string& path, size_t record_bytes, std::string_view role,
                    RankBuilder& rank, Visit visit) {
  const auto bytes = read_file(path, kMostBytes);
  if (!bytes) {
    add_unreadable(rank, path, bytes.error());
    return 0;
  }
  int64_t records = 0;
  size_t at = 0;
  for (; at + record_bytes <= bytes->size(); at += record_bytes) {
    visit(std::string_view(*bytes).substr(at, record_bytes), at);
    ++records;
  }
  if (at != bytes->size()) {
    rank.quality.add(QualityCode::kTruncatedInput, path + " byte " + std::to_string(at));
  }
  add_source(rank, path, role, records);
  return records;
}

using HashNames = std::unordered_map<uint64_t, std::string>;

std::optional<uint64_t> parse_hash(std::string_view digits) {
  if (digits.empty()) return std::nullopt;
  uint64_t value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9' || __builtin_mul_overflow(value, uint64_t{10}, &value) ||
        __builtin_add_overflow(value, static_cast<uint64_t>(c - '0'), &value)) {
      return std::nullopt;
    }
  }
  return value;
}

int64_t read_hashes(const std::string& path, HashNames& names, RankBuilder& rank) {
  auto file = TextFile::open(path);
  if (!file) {
    add_unreadable(rank, path, file.error());
    return 0;
  }
  int64_t rows = 0;
  std::string_view line;
  while (file->next(line)) {
    line = trim_blanks(line);
    if (line.empty()) continue;
    const size_t colon = line.find(':');
    const auto hash = parse_hash(line.substr(0, colon));
    if (colon == std::string_view::npos || !hash) {
      rank.quality.add(QualityCode::kUnparsableEvent, file->place());
      continue;
    }
    names[*hash] = line.substr(colon + 1);
    ++rows;
  }
  add_source(rank, path, "framework_hashes", rows);
  return rows;
}

class FrameworkReader {
 public:
  FrameworkReader(const FrameworkPaths& paths, TaskNames& names, OperatorInfos& infos,
                  RankBuilder& rank)
      : paths_(paths), names_(names), infos_(infos), rank_(rank) {}

  int64_t read() {
    int64_t records = 0;
    for (const std::string& path : paths_.hashes) records += read_hashes(path, hashes_, rank_);
    for (const std::string& path : paths_.tasks) records += read_tasks(path);
    for (const std::string& path : paths_.steps) records += read_steps(path);
    for (const std::string& path : paths_.tensors) records += read_tensors(path);
    describe_operators();
    return records;
  }

 private:
  using TaskKey = std::pair<int64_t, int64_t>;  // stream, task

  // One flag byte (0: text, 1: hash), seven unused, then the text or its hash.
  std::string mixed_text(std::string_view bytes, const std::string& path, size_t offset) {
    const std::string_view payload = bytes.substr(8);
    const auto flag = static_cast<uint8_t>(bytes[0]);
    if (flag == 0) return std::string(payload.substr(0, payload.find('\0')));
    const auto hash = field<uint64_t>(payload, 0);
    const auto name = hashes_.find(hash);
    if (flag == 1 && name != hashes_.end()) return name->second;
    rank_.quality.add(QualityCode::kNotUnderstood,
                      path + " byte " + std::to_string(offset) +
                          (flag == 1 ? ": a name by a hash that no hash_dic file has"
                                     : ": a name of an unknown kind"));
    return flag == 1 ? "hash " + std::to_string(hash) : std::string();
  }

  int64_t read_tasks(const std::string& path) {
    TableBuilder table(rank_, "framework_tasks", path,
                       {{"full_op_name", Type::kText},
                        {"op_type", Type::kText},
                        {"task_type", Type::kInt64},
                        {"block_dim", Type::kInt64},
                        {"model_id", Type::kInt64},
                        {"stream_id", Type::kInt64},
                        {"task_id", Type::kInt64},
                        {"thread_id", Type::kInt64},
                        {"iteration", Type::kInt64},
                        {"time_stamp", Type::kInt64},
                        {"shape_type", Type::kInt64}});
    return for_records(
        path, 256, "framework_tasks", rank_, [&](std::string_view record, size_t at) {
          const std::string name = mixed_text(record.substr(8, 128), path, at + 8);
          const std::string type = mixed_text(record.substr(136, 64), path, at + 136);
          const int64_t stream = field<uint32_t>(record, 228);
          const int64_t task = field<uint32_t>(record, 232);
          table.row({table.text_or_null(name), table.text_or_null(type), field<uint32_t>(record, 4),
                     field<uint32_t>(record, 220), field<uint32_t>(record, 224), stream, task,
                     field<uint32_t>(record, 236), wide(record, 200), wide(record, 208),
                     field<uint32_t>(record, 216)});
          if (name.empty()) return;
          names_[{stream, task}] = name;
          types_[{stream, task}] = type;
        });
  }

  int64_t read_steps(const std::string& path) {
    TableBuilder table(rank_, "framework_steps", path,
                       {{"tag", Type::kInt64},
                        {"op_name", Type::kText},
                        {"model_id", Type::kInt64},
                        {"stream_id", Type::kInt64},
                        {"task_id", Type::kInt64},
                        {"time_stamp", Type::kInt64},
                        {"iteration", Type::kInt64},
                        {"thread_id", Type::kInt64}});
    return for_records(path, 64, "framework_steps", rank_, [&](std::string_view record, size_t) {
      const int64_t stream = field<uint32_t>(record, 8);
      const int64_t task = field<uint32_t>(record, 12);
      table.row({field<uint8_t>(record, 36), table.text_or_null(name_of({stream, task})),
                 field<uint32_t>(record, 4), stream, task, wide(record, 16), wide(record, 24),
                 field<uint32_t>(record, 32)});
    });
  }

  int64_t read_tensors(const std::string& path) {
    constexpr size_t kMostTensors = 5;
    constexpr size_t kTensorBytes = 11 * 4;
    TableBuilder table(rank_, "framework_tensors", path,
                       {{"op_name", Type::kText},
                        {"tensor", Type::kText},
                        {"shape", Type::kText},
                        {"format", Type::kInt64},
                        {"data_type", Type::kInt64},
                        {"model_id", Type::kInt64},
                        {"stream_id", Type::kInt64},
                        {"task_id", Type::kInt64},
                        {"iteration", Type::kInt64}});
    return for_records(
        path, 256, "framework_tensors", rank_, [&](std::string_view record, size_t at) {
          const TaskKey key = {field<uint32_t>(record, 16), field<uint32_t>(record, 20)};
          const int64_t iteration = wide(record, 8);
          const size_t count = field<uint8_t>(record, 24);
          if (count > kMostTensors) {
            rank_.quality.add(QualityCode::kUnparsableEvent,
                              path + " byte " + std::to_string(at) + ": more than five tensors");
            return;
          }
          // An operator with more tensors has several records; the first iteration describes it.
          Shapes& shapes = shapes_.try_emplace(key, Shapes{iteration, {}, {}}).first->second;
          for (size_t i = 0; i < count; ++i) {
            const std::string_view tensor = record.substr(28 + i * kTensorBytes, kTensorBytes);
            const bool is_input = field<uint32_t>(tensor, 0) == 0;
            const std::string shape = shape_of(tensor);
            table.row({table.text_or_null(name_of(key)), table.text(is_input ? "input" : "output"),
                       table.text(shape), field<uint32_t>(tensor, 4), field<uint32_t>(tensor, 8),
                       field<uint32_t>(record, 4), key.first, key.second, iteration});
            if (shapes.iteration != iteration) continue;
            std::string& list = is_input ? shapes.inputs : shapes.outputs;
            list += (list.empty() ? "" : ", ") + shape;
          }
        });
  }

  // Up to eight dimensions; unused ones are 0.
  static std::string shape_of(std::string_view tensor) {
    std::string shape;
    for (size_t i = 0; i < 8; ++i) {
      const auto size = field<uint32_t>(tensor, 12 + i * 4);
      if (size != 0) shape += (shape.empty() ? "" : ", ") + std::to_string(size);
    }
    return "[" + shape + "]";
  }

  std::string_view name_of(const TaskKey& key) const {
    const auto name = names_.find(key);
    return name == names_.end() ? std::string_view() : name->second;
  }

  // Data types are numbers whose meaning changed between versions, so they stay in the table.
  void describe_operators() {
    for (const auto& [key, type] : types_) {
      OperatorInfo info;
      if (!type.empty()) info.type = rank_.strings.intern(type);
      if (const auto shapes = shapes_.find(key); shapes != shapes_.end()) {
        if (!shapes->second.inputs.empty()) {
          info.input_shapes = rank_.strings.intern("[" + shapes->second.inputs + "]");
        }
        if (!shapes->second.outputs.empty()) {
          info.output_shapes = rank_.strings.intern("[" + shapes->second.outputs + "]");
        }
      }
      infos_.add(name_of(key), info);
    }
  }

  struct Shapes {
    int64_t iteration = 0;
    std::string inputs;
    std::string outputs;
  };

  const FrameworkPaths& paths_;
  TaskNames& names_;
  OperatorInfos& infos_;
  RankBuilder& rank_;
  HashNames hashes_;
  std::map<TaskKey, std::string> types_;
  std::map<TaskKey, Shapes> shapes_;
};

}  // namespace

int64_t read_framework_files(const FrameworkPaths& paths, TaskNames& names, OperatorInfos& infos,
                             RankBuilder& rank) {
  return FrameworkReader(paths, names, infos, rank).read();
}

int64_t keep_aicore_counters(const std::string& path, const TaskNames& names, RankBuilder& rank) {
  TableBuilder table(rank, "aicore_counters", path,
                     {{"op_name", Type::kText},
                      {"stream_id", Type::kInt64},
                      {"task_id", Type::kInt64},
                      {"total_cycles", Type::kInt64},
                      {"field_9", Type::kInt64},
                      {"counter_0", Type::kInt64},
                      {"counter_1", Type::kInt64},
                      {"counter_2", Type::kInt64},
                      {"counter_3", Type::kInt64},
                      {"counter_4", Type::kInt64},
                      {"counter_5", Type::kInt64},
                      {"counter_6", Type::kInt64},
                      {"counter_7", Type::kInt64}});
  // u8 u8 u16 u16 u16(task) u32 u32, ten u64 (cycles, one unnamed, eight counters), eight u32
  // (the first is the stream).
  return for_records(path, 128, "aicore_counters", rank, [&](std::string_view record, size_t) {
    const int64_t task = field<uint16_t>(record, 6);
    const int64_t stream = field<uint32_t>(record, 96);
    const auto name = names.find({stream, task});
    table.row({name == names.end() ? kNull : table.text(name->second), stream, task,
               wide(record, 16), wide(record, 24), wide(record, 32), wide(record, 40),
               wide(record, 48), wide(record, 56), wide(record, 64), wide(record, 72),
               wide(record, 80), wide(record, 88)});
  });
}

}  // namespace stepscope::mindinsight
