#include "importers/ascend_text/kernel_table.h"

#include <algorithm>

#include "importers/common/ascend_words.h"
#include "importers/common/csv_reader.h"

namespace stepscope {
namespace {

constexpr int64_t kNearNs = 500;

// Columns that have a place of their own; every other column is a hardware counter.
constexpr std::string_view kPlaced[] = {"Step Id",
                                        "Step ID",
                                        "Device_id",
                                        "Model Name",
                                        "Model ID",
                                        "Task ID",
                                        "Stream ID",
                                        "Infer ID",
                                        "Name",
                                        "Op Name",
                                        "Type",
                                        "OP Type",
                                        "Accelerator Core",
                                        "Task Type",
                                        "Start Time(us)",
                                        "Task Start Time(us)",
                                        "Duration(us)",
                                        "Task Duration(us)",
                                        "Wait Time(us)",
                                        "Task Wait Time(us)",
                                        "Block Dim",
                                        "Block Num",
                                        "Mix Block Dim",
                                        "Mix Block Num",
                                        "Input Shapes",
                                        "Input Data Types",
                                        "Input Formats",
                                        "Output Shapes",
                                        "Output Data Types",
                                        "Output Formats",
                                        "Context ID"};

bool is_number(std::string_view text) {
  if (text.empty()) return false;
  const bool digits = text.find_first_not_of("0123456789.") == std::string_view::npos;
  return digits && text.front() != '.' && text.back() != '.' &&
         std::count(text.begin(), text.end(), '.') <= 1 &&
         !(text.size() > 1 && text[0] == '0' && text[1] != '.');
}

StringId without_quotes(std::string_view text, StringPool& strings) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
  }
  return text.empty() ? kNoString : strings.intern(text);
}

}  // namespace

void KernelTable::read(const std::string& path, RankBuilder& rank) {
  auto csv = CsvReader::open(path);
  if (!csv.ok()) {
    rank.quality.add(QualityCode::kUnreadableFile, csv.error().message());
    return;
  }
  const size_t step = csv->column({"Step Id", "Step ID"});
  const size_t device = csv->column({"Device_id"});
  const size_t stream = csv->column({"Stream ID"});
  const size_t name = csv->column({"Name", "Op Name"});
  const size_t type = csv->column({"Type", "OP Type"});
  const size_t core = csv->column({"Accelerator Core", "Task Type"});
  const size_t start = csv->column({"Start Time(us)", "Task Start Time(us)"});
  const size_t length = csv->column({"Duration(us)", "Task Duration(us)"});
  const size_t wait = csv->column({"Wait Time(us)", "Task Wait Time(us)"});
  const size_t blocks = csv->column({"Block Dim", "Block Num"});
  const size_t input_shapes = csv->column({"Input Shapes"});
  const size_t input_types = csv->column({"Input Data Types"});
  const size_t output_shapes = csv->column({"Output Shapes"});
  if (start == CsvReader::npos || length == CsvReader::npos || name == CsvReader::npos) {
    rank.quality.add(QualityCode::kUnreadableFile,
                     path + ": it lacks the column for name, start or duration");
    return;
  }
  std::vector<size_t> counters;
  for (size_t i = 0; i < csv->header().size(); ++i) {
    if (std::find(std::begin(kPlaced), std::end(kPlaced), csv->header()[i]) == std::end(kPlaced))
      counters.push_back(i);
  }
  QualityReport ragged;  // counted where the table is kept
  while (csv->next(ragged)) {
    KernelRow row;
    row.start_ns = csv->us_as_ns(start, rank.quality);
    row.dur_ns = csv->us_as_ns(length, rank.quality);
    if (!is_usable_time(row.start_ns) || !is_usable_time(row.dur_ns)) {
      rank.quality.add(QualityCode::kUnparsableEvent,
                       path + " line " + std::to_string(csv->line()) + " has no start or duration");
      continue;
    }
    row.step = csv->integer(step, rank.quality);
    row.device = csv->integer(device, rank.quality);
    row.stream = csv->integer(stream, rank.quality);
    row.name = rank.strings.intern(csv->cell(name));
    KernelDetail& detail = row.detail;
    detail.wait_ns = csv->us_as_ns(wait, rank.quality);
    const auto text = [&](size_t column) {
      const auto value = csv->value(column);
      return value ? rank.strings.intern(*value) : kNoString;
    };
    detail.type = text(core);
    detail.op_type = text(type);
    detail.grid = text(blocks);
    detail.input_types = text(input_types);
    detail.input_shapes = without_quotes(csv->value(input_shapes).value_or(""), rank.strings);
    detail.output_shapes = without_quotes(csv->value(output_shapes).value_or(""), rank.strings);
    const std::string_view kind = csv->cell(core);
    row.is_communication =
        kind == "HCCL" || kind == "COMMUNICATION" || csv->cell(name).starts_with("hcom_");
    std::string json;
    for (const size_t column : counters) {
      const auto value = csv->value(column);
      if (!value) continue;
      json += json.empty() ? "{\"" : ",\"";
      append_json_text(csv->header()[column], json);
      json += "\":";
      if (is_number(*value)) {
        json += *value;
      } else {
        json += '"';
        append_json_text(*value, json);
        json += '"';
      }
    }
    if (!json.empty()) detail.counters = rank.strings.intern(json + "}");
    rows_.push_back(row);
  }
}

void KernelTable::finish() {
  std::stable_sort(rows_.begin(), rows_.end(),
                   [](const KernelRow& a, const KernelRow& b) { return a.start_ns < b.start_ns; });
}

KernelRow* KernelTable::take(int64_t start_ns, std::string_view name, const StringPool& strings) {
  KernelRow* best = nullptr;
  int64_t best_distance = kNearNs + 1;
  auto at =
      std::lower_bound(rows_.begin(), rows_.end(), bounded_sum(start_ns, -kNearNs),
                       [](const KernelRow& row, int64_t value) { return row.start_ns < value; });
  for (; at != rows_.end() && at->start_ns <= bounded_sum(start_ns, kNearNs); ++at) {
    if (at->taken) continue;
    const std::string_view other = strings.view(at->name);
    const bool same = other == name;
    const bool prefixed = !same && other.size() > name.size() && other.ends_with(name) &&
                          other[other.size() - name.size() - 1] == '/';
    if (!same && !prefixed) continue;
    const int64_t distance = std::abs(at->start_ns - start_ns);
    if (distance < best_distance) {
      best = &*at;
      best_distance = distance;
    }
  }
  if (best != nullptr) best->taken = true;
  return best;
}

}  // namespace stepscope
