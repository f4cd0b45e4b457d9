#include "importers/mindspore_raw/cpu_files.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/decimal.h"
#include "importers/common/checked_math.h"
#include "importers/common/csv_reader.h"
#include "importers/common/op_timestamps.h"
#include "importers/common/table_builder.h"
#include "importers/common/text_file.h"

namespace stepscope::mindspore_raw {
namespace {

// One line of cpu_framework: an operator launch.
struct Launch {
  StringId name = kEmptyString;  // "" in most lines of PyNative mode
  StringId input_shapes = kNoString;
};

// "input_1:[32, 1]", "input_2:NoShape" -> "[[32, 1], []]", the form other sources use.
std::string shapes_of(const std::vector<std::string_view>& fields) {
  std::string shapes;
  for (size_t i = 3; i < fields.size(); ++i) {
    const size_t colon = fields[i].find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view shape = fields[i].substr(colon + 1);
    shapes += shapes.empty() ? "[" : ", ";
    shapes += shape.starts_with('[') ? shape : "[]";
  }
  if (!shapes.empty()) shapes += "]";
  return shapes;
}

std::vector<Launch> read_launches(const std::string& path, RankBuilder& rank) {
  std::vector<Launch> launches;
  auto file = TextFile::open(path);
  if (!file) {
    add_unreadable(rank, path, file.error());
    return launches;
  }
  TableBuilder table(rank, "cpu_framework", path,
                     {{"type", Type::kText},
                      {"name", Type::kText},
                      {"graph_id", Type::kInt64},
                      {"input_shapes", Type::kText}});
  std::string_view line;
  while (file->next(line)) {
    if (trim_blanks(line).empty()) continue;
    const auto fields = split_text(line, ';');
    if (fields.size() < 3) {
      rank.quality.add(QualityCode::kRaggedRow, file->place());
      continue;
    }
    const auto graph = parse_integer(fields[2]);
    if (!graph) rank.quality.add(QualityCode::kBadNumber, file->place());
    Launch launch;
    launch.name = rank.strings.intern(fields[1]);
    const std::string shapes = shapes_of(fields);
    if (!shapes.empty()) launch.input_shapes = rank.strings.intern(shapes);
    launches.push_back(launch);
    table.row({table.text_or_null(fields[0]), table.text_or_null(fields[1]), graph.value_or(kNull),
               table.text_or_null(shapes)});
  }
  add_source(rank, path, "cpu_framework", static_cast<int64_t>(launches.size()));
  return launches;
}

// Launches are in launch order and operators in order of their start, so the k-th of both belong
// together when their names agree. Where they do not (operators of several threads), a shape is
// still certain when all launches of that name have the same one.
std::vector<StringId> match_shapes(const std::vector<OpExecution>& operators,
                                   const std::vector<Launch>& launches, const std::string& path,
                                   RankBuilder& rank) {
  std::vector<StringId> shapes(operators.size(), kNoString);
  if (launches.empty()) return shapes;
  std::unordered_map<StringId, StringId> only_shape;  // kEmptyString: several
  for (const Launch& launch : launches) {
    if (launch.name == kEmptyString) continue;
    auto [known, is_new] = only_shape.try_emplace(launch.name, launch.input_shapes);
    if (!is_new && known->second != launch.input_shapes) known->second = kEmptyString;
  }
  int64_t displaced = 0;
  for (size_t k = 0; k < operators.size(); ++k) {
    const std::string_view short_name = op_short_name(rank.strings.view(operators[k].name));
    if (k < launches.size() && rank.strings.view(launches[k].name) == short_name) {
      shapes[k] = launches[k].input_shapes;
      continue;
    }
    if (k < launches.size() && launches[k].name != kEmptyString) ++displaced;
    const auto known = only_shape.find(rank.strings.find(short_name));
    if (known != only_shape.end() && known->second != kEmptyString) shapes[k] = known->second;
  }
  if (launches.size() != operators.size()) {
    rank.quality.add(QualityCode::kInconsistentCounts,
                     path + ": " + std::to_string(launches.size()) + " launches, " +
                         std::to_string(operators.size()) + " operators");
  }
  rank.quality.add(QualityCode::kInconsistentCounts,
                   path + ": launches in another order than the operators", displaced);
  return shapes;
}

void keep_table(const std::string& path, std::string_view name, RankBuilder& rank) {
  if (path.empty()) return;
  const Status kept = keep_csv(path, name, rank);
  if (!kept) add_unreadable(rank, path, kept.error());
}

// The profiler's own counts per type must agree with the operators that were read.
void check_type_counts(const std::vector<OpExecution>& operators, const std::string& path,
                       RankBuilder& rank) {
  auto csv = path.empty() ? Result<CsvReader>(Error{}) : CsvReader::open(path);
  if (!csv) return;
  std::map<std::string, int64_t, std::less<>> counts;
  for (const OpExecution& op : operators) {
    const std::string_view type = op_type_of(rank.strings.view(op.name));
    const auto found = counts.find(type);
    if (found == counts.end()) {
      counts.emplace(type, 1);
    } else {
      ++found->second;
    }
  }
  QualityReport ignored;  // keep_csv() has reported the rows already
  const size_t type = csv->column({"op_type"});
  const size_t occurrences = csv->column({"type_occurrences"});
  while (csv->next(ignored)) {
    const int64_t said = csv->integer(occurrences, ignored);
    const auto found = counts.find(csv->cell(type));
    const int64_t read = found == counts.end() ? 0 : found->second;
    if (said == kNull || said == read) continue;
    rank.quality.add(QualityCode::kInconsistentCounts,
                     path + ": " + std::string(csv->cell(type)) + " " + std::to_string(said) +
                         ", operators read " + std::to_string(read));
  }
}

// The process id is only in the per-operator summary.
void take_pid(const std::string& path, RankBuilder& rank) {
  if (path.empty() || rank.info.pid != kNull) return;
  auto csv = CsvReader::open(path);
  if (!csv) return;
  QualityReport ignored;
  const size_t pid = csv->column({"pid"});
  if (csv->next(ignored)) rank.info.pid = csv->integer(pid, ignored);
}

std::vector<MemoryRecord> read_memory_records(const std::string& path, RankBuilder& rank,
                                              bool& readable) {
  std::vector<MemoryRecord> records;
  auto csv = CsvReader::open(path);
  readable = csv.ok();
  if (!csv) {
    add_unreadable(rank, path, csv.error());
    return records;
  }
  const size_t time = csv->column({"Timestamp(ns)"});
  const size_t allocated = csv->column({"Total Allocated(Byte)"});
  const size_t reserved = csv->column({"Total Reserved(Byte)"});
  const size_t active = csv->column({"Total Active(Byte)"});
  MemoryRecord record;
  record.device_kind = rank.strings.intern("CPU");
  record.component = rank.strings.intern("MindSpore");
  while (csv->next(rank.quality)) {
    record.ts_ns = csv->integer(time, rank.quality);
    if (record.ts_ns == kNull) continue;
    record.total_allocated = csv->integer(allocated, rank.quality);
    record.total_reserved = csv->integer(reserved, rank.quality);
    record.total_active = csv->integer(active, rank.quality);
    records.push_back(record);
  }
  std::stable_sort(records.begin(), records.end(),
                   [](const MemoryRecord& a, const MemoryRecord& b) { return a.ts_ns < b.ts_ns; });
  return records;
}

int64_t guess_window_start(const std::vector<MemoryRecord>& records, int64_t first_operator_ns) {
  if (first_operator_ns == kNull || records.empty()) return kNull;
  size_t inside = 0;
  while (inside < records.size() && records[inside].ts_ns < first_operator_ns) ++inside;
  int64_t longest_pause_ns = 0;
  for (size_t i = inside + 1; i < records.size(); ++i) {
    longest_pause_ns =
        std::max(longest_pause_ns, minus_or_null(records[i].ts_ns, records[i - 1].ts_ns));
  }
  const auto pause_before = [&](size_t record, int64_t next) {
    const int64_t pause_ns = minus_or_null(next, records[record - 1].ts_ns);
    return pause_ns == kNull ? INT64_MAX : pause_ns;
  };
  size_t first = inside;
  int64_t next_ns = first_operator_ns;
  while (first > 0 && pause_before(first, next_ns) <= longest_pause_ns) {
    next_ns = records[--first].ts_ns;
  }
  return next_ns;
}

}  // namespace

int64_t read_cpu_operators(const RankFiles& files, RankBuilder& rank, int64_t& first_start_ns) {
  keep_table(files.op_types, "cpu_op_type_info", rank);
  keep_table(files.op_details, "cpu_op_detail_info", rank);
  take_pid(files.op_details, rank);
  std::vector<Launch> launches;
  if (!files.op_inputs.empty()) launches = read_launches(files.op_inputs, rank);
  if (files.op_timestamps.empty()) return 0;
  auto operators = read_op_timestamps(files.op_timestamps, /*unit_digits=*/6, rank);
  if (!operators) {
    add_unreadable(rank, files.op_timestamps, operators.error());
    return 0;
  }
  if (!operators->empty()) first_start_ns = operators->front().start_ns;
  const auto shapes = match_shapes(*operators, launches, files.op_inputs, rank);
  add_op_slices(*operators, shapes, "CPU OP", rank);
  check_type_counts(*operators, files.op_types, rank);
  const auto count = static_cast<int64_t>(operators->size());
  add_source(rank, files.op_timestamps, "cpu_op_execute_timestamp", count);
  return count;
}

int64_t read_cpu_memory(const std::string& path, int64_t window_start_ns, int64_t first_operator_ns,
                        RankBuilder& rank) {
  bool readable = false;
  const auto records = read_memory_records(path, rank, readable);
  if (!readable) return 0;
  int64_t start_ns = window_start_ns;
  if (start_ns == kNull) start_ns = guess_window_start(records, first_operator_ns);
  int64_t kept = 0;
  for (const MemoryRecord& record : records) {
    if (start_ns != kNull && record.ts_ns < start_ns) continue;
    rank.memory.push_back(record);
    ++kept;
  }
  const auto read = static_cast<int64_t>(records.size());
  rank.quality.add(QualityCode::kLeftOverRecords, path, read - kept);
  add_source(rank, path, "cpu_ms_memory_record", kept);
  return kept;
}

}  // namespace stepscope::mindspore_raw
