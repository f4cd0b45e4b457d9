#include "importers/mindinsight/operator_files.h"

#include <algorithm>

#include "base/decimal.h"
#include "importers/common/checked_math.h"
#include "importers/common/csv_reader.h"
#include "importers/common/op_timestamps.h"
#include "importers/common/table_builder.h"
#include "importers/common/text_file.h"
#include "json/json_tree.h"

namespace stepscope::mindinsight {
namespace {

using nlohmann::json;

// "32,3,224,224" or [32, 3] -> "[32, 3]"
std::string shape_text(const json& shape) {
  if (shape.is_array()) return write_json(shape);
  return "[" + std::string(json_text(shape)) + "]";
}

// {"input_0": {"format", "data_type", "shape"}, ..., "output_0": ...}; 2.3 writes Input_0.
void read_op_info(std::string_view text, const std::string& path, OperatorInfo& info,
                  RankBuilder& rank) {
  if (text.empty()) return;
  const auto tree = parse_json(text, path);
  if (!tree || !tree->is_object()) {
    rank.quality.add(QualityCode::kUnparsableEvent, path + ": op_info is not a JSON object");
    return;
  }
  std::string shapes;
  std::string types;
  std::string outputs;
  for (const char* word : {"input_", "Input_", "output_", "Output_"}) {
    for (int i = 0;; ++i) {
      const json& tensor = json_member(*tree, (word + std::to_string(i)).c_str());
      if (!tensor.is_object()) break;
      const bool input = word[0] == 'i' || word[0] == 'I';
      std::string& list = input ? shapes : outputs;
      list += (list.empty() ? "[" : ", ") + shape_text(json_member(tensor, "shape"));
      if (!input) continue;
      types += types.empty() ? "" : ", ";
      types += json_text(json_member(tensor, "data_type"));
    }
  }
  if (!shapes.empty()) info.input_shapes = rank.strings.intern(shapes + "]");
  if (!types.empty()) info.input_types = rank.strings.intern(types);
  if (!outputs.empty()) info.output_shapes = rank.strings.intern(outputs + "]");
}

}  // namespace

void OperatorInfos::read(const std::string& path, RankBuilder& rank) {
  auto csv = CsvReader::open(path);
  if (!csv) return;  // keep_csv() has reported it
  QualityReport ignored;
  const size_t full_name = csv->column({"full_kernel_name", "full_op_name"});
  const size_t type = csv->column({"kernel_type", "op_type"});
  const size_t op_info = csv->column({"op_info"});
  while (csv->next(ignored)) {
    OperatorInfo info;
    if (const auto word = csv->value(type)) info.type = rank.strings.intern(*word);
    read_op_info(csv->cell(op_info), path, info, rank);
    const std::string_view name = csv->cell(full_name);
    if (name.empty()) continue;
    add(name, info);
    if (op_short_name(name) != name) add(op_short_name(name), info);
  }
}

void OperatorInfos::add(std::string_view name, const OperatorInfo& info) {
  auto [entry, is_new] = by_name_.try_emplace(std::string(name), Entry{info});
  if (!is_new && !(entry->second.info == info)) entry->second.ambiguous = true;
}

const OperatorInfo* OperatorInfos::find(std::string_view name) const {
  const auto entry = by_name_.find(std::string(name));
  return entry == by_name_.end() || entry->second.ambiguous ? nullptr : &entry->second.info;
}

TrackId DeviceTracks::stream(int64_t stream) {
  auto [track, is_new] = tracks_.try_emplace(stream, TrackId{0});
  if (is_new) {
    TrackInfo info;
    info.process = rank_.strings.intern("Device " + std::to_string(device_));
    info.thread =
        rank_.strings.intern(stream == kNull ? "AI CPU" : "Stream " + std::to_string(stream));
    info.kind = TrackKind::kDevice;
    info.device = device_;
    info.stream = stream;
    track->second = rank_.add_track(info);
  }
  return track->second;
}

void add_kernel_slice(std::string_view name, std::string_view type, int64_t ts_ns, int64_t dur_ns,
                      int64_t stream, const OperatorInfos& infos, DeviceTracks& tracks,
                      RankBuilder& rank) {
  if (ts_ns == kNull || dur_ns == kNull) {
    rank.quality.add(QualityCode::kBadNumber, std::string(name) + ": its time");
    return;
  }
  KernelDetail detail;
  detail.type = rank.strings.intern(type);
  detail.op_type = rank.strings.intern(op_type_of(name));
  if (const OperatorInfo* info = infos.find(name)) {
    if (info->type != kNoString) detail.op_type = info->type;
    detail.input_shapes = info->input_shapes;
    detail.input_types = info->input_types;
    detail.output_shapes = info->output_shapes;
  }
  SliceRecord slice;
  slice.ts_ns = ts_ns;
  slice.dur_ns = dur_ns;
  slice.name = rank.strings.intern(name);
  slice.cat = detail.type;
  slice.kind = SliceKind::kKernel;
  slice.detail = rank.add_kernel(detail);
  rank.add_slice(tracks.stream(stream), slice);
}

std::vector<TimelineExecution> read_timeline_data(const std::string& path, RankBuilder& rank) {
  std::vector<TimelineExecution> executions;
  auto csv = CsvReader::open(path);
  if (!csv) {
    add_unreadable(rank, path, csv.error());
    return executions;
  }
  const size_t name = csv->column({"op_name", "kernel_name"});
  const size_t stream = csv->column({"stream_id"});
  const size_t start_us = csv->column({"start_time(us)"});
  const size_t start_ms = csv->column({"start_time(ms)"});
  const size_t dur_ms = csv->column({"duration(ms)"});
  while (csv->next(rank.quality)) {
    TimelineExecution execution;
    execution.name = rank.strings.intern(csv->cell(name));
    execution.stream = csv->integer(stream, rank.quality);
    execution.start_ns = start_us != CsvReader::npos ? csv->scaled(start_us, 3, rank.quality)
                                                     : csv->scaled(start_ms, 6, rank.quality);
    execution.dur_ns = csv->scaled(dur_ms, 6, rank.quality);
    if (execution.start_ns == kNull || execution.dur_ns == kNull) {
      rank.quality.add(QualityCode::kUnparsableEvent,
                       path + " line " + std::to_string(csv->line()));
      continue;
    }
    executions.push_back(execution);
  }
  return executions;
}

int64_t read_aicpu_csv(const std::string& path, const OperatorInfos& infos, DeviceTracks& tracks,
                       RankBuilder& rank) {
  auto csv = CsvReader::open(path);
  if (!csv) return 0;  // keep_csv() has reported it
  QualityReport ignored;
  const size_t type = csv->column({"kernel_type", "op_type"});
  const size_t start = csv->column({"run_start"});
  const size_t end = csv->column({"run_end"});
  int64_t tasks = 0;
  while (csv->next(ignored)) {
    const int64_t start_ns = csv->scaled(start, 3, ignored);
    const int64_t end_ns = csv->scaled(end, 3, ignored);
    if (start_ns == kNull || end_ns == kNull) continue;
    add_kernel_slice(csv->cell(type), "AI_CPU", start_ns, minus_or_null(end_ns, start_ns), kNull,
                     infos, tracks, rank);
    ++tasks;
  }
  return tasks;
}

int64_t read_gpu_activities(const std::string& path, const OperatorInfos& infos,
                            DeviceTracks& tracks, RankBuilder& rank) {
  auto file = TextFile::open(path);
  if (!file) {
    add_unreadable(rank, path, file.error());
    return 0;
  }
  int64_t kernels = 0;
  std::string_view line;
  while (file->next(line)) {
    if (trim_blanks(line).empty()) continue;
    // kernel;stream;start ns;duration us -- kernel names may hold anything, even ';'
    const auto fields = split_text(line, ';');
    const size_t count = fields.size();
    const auto start_ns = count < 4 ? std::nullopt : parse_integer(fields[count - 2]);
    const auto dur_ns = count < 4 ? std::nullopt : parse_us_as_ns(fields[count - 1]);
    const auto stream = count < 4 ? std::nullopt : parse_integer(fields[count - 3]);
    if (!start_ns || !dur_ns || !stream) {
      rank.quality.add(QualityCode::kUnparsableEvent, file->place());
      continue;
    }
    const size_t name_bytes = static_cast<size_t>(fields[count - 3].data() - line.data()) - 1;
    add_kernel_slice(line.substr(0, name_bytes), "CUDA", *start_ns, *dur_ns, *stream, infos, tracks,
                     rank);
    ++kernels;
  }
  add_source(rank, path, "activity_execute_timestamp", kernels);
  return kernels;
}

int64_t read_dequeue(const std::string& path, int unit_digits, std::string_view role,
                     RankBuilder& rank) {
  auto file = TextFile::open(path);
  if (!file) {
    add_unreadable(rank, path, file.error());
    return 0;
  }
  int64_t rows = 0;
  std::string_view line;
  while (file->next(line)) {
    const auto words = split_words(line);
    if (words.empty() || words[0] == "node_name") continue;
    const auto start_ns = words.size() < 4 ? std::nullopt : parse_scaled(words[1], unit_digits);
    const auto end_ns = words.size() < 4 ? std::nullopt : parse_scaled(words[2], unit_digits);
    const auto size = words.size() < 4 ? std::nullopt : parse_integer(words[3]);
    if (!start_ns || !end_ns || !size) {
      rank.quality.add(QualityCode::kUnparsableEvent, file->place());
      continue;
    }
    QueueRecord record;
    record.stage = rank.strings.intern(words[0]);
    record.ts_ns = *start_ns;
    record.batch = ++rows;
    record.size = *size;
    record.fetch_ns = minus_or_null(*end_ns, *start_ns);
    rank.queues.push_back(record);
  }
  add_source(rank, path, role, rows);
  return rows;
}

int64_t keep_compute_times(const std::string& path, RankBuilder& rank) {
  auto file = TextFile::open(path);
  if (!file) {
    add_unreadable(rank, path, file.error());
    return 0;
  }
  TableBuilder table(rank, "op_compute_time", path,
                     {{"op_name", Type::kText},
                      {"compute_time_ms", Type::kFloat64},
                      {"stream_id", Type::kInt64},
                      {"execution_times", Type::kInt64}});
  int64_t rows = 0;
  std::string_view line;
  while (file->next(line)) {
    const auto words = split_words(line);
    // Titles and dashes have no number in their second or third place.
    const bool total = words.size() > 2 && words[0] == "total" && words[1] == "op";
    const size_t time = total ? 2 : 1;
    if (words.size() <= time) continue;
    const int64_t ms = TableBuilder::real(words[time]);
    if (ms == kNull) {
      if (file->line() > 3) rank.quality.add(QualityCode::kUnparsableEvent, file->place());
      continue;
    }
    const auto integer = [&](size_t at) {
      return at < words.size() ? parse_integer(words[at]).value_or(kNull) : kNull;
    };
    table.row(
        {table.text(total ? "total op" : words[0]), ms, integer(time + 1), integer(time + 2)});
    ++rows;
  }
  add_source(rank, path, "op_compute_time", rows);
  return rows;
}

int64_t keep_aicpu_text(const std::string& path, RankBuilder& rank) {
  auto file = TextFile::open(path);
  if (!file) {
    add_unreadable(rank, path, file.error());
    return 0;
  }
  TableBuilder table(rank, "aicpu_text", path,
                     {{"serial_number", Type::kInt64},
                      {"node_type_name", Type::kText},
                      {"total_time_ms", Type::kFloat64},
                      {"dispatch_time_ms", Type::kFloat64},
                      {"execution_time_ms", Type::kFloat64},
                      {"run_start_us", Type::kFloat64},
                      {"run_end_us", Type::kFloat64}});
  int64_t rows = 0;
  std::string_view line;
  while (file->next(line)) {
    const auto words = split_words(line);
    if (words.size() != 6 && words.size() != 7) continue;  // dashes, the total
    const auto serial = parse_integer(words[0]);
    if (!serial) continue;
    const bool with_execution = words.size() == 7;
    table.row({*serial, table.text(words[1]), TableBuilder::real(words[2]),
               TableBuilder::real(words[3]), with_execution ? TableBuilder::real(words[4]) : kNull,
               TableBuilder::real(words[words.size() - 2]),
               TableBuilder::real(words[words.size() - 1])});
    ++rows;
  }
  add_source(rank, path, "aicpu_text", rows);
  return rows;
}

}  // namespace stepscope::mindinsight
