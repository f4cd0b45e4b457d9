// memory_record.csv, operator_memory.csv and data_preprocess.csv, and tables of the input as they
// are.
#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <tuple>

#include "analyses/common/bounded_math.h"
#include "base/decimal.h"
#include "deliverables/profiler_output.h"

namespace stepscope {
namespace {

constexpr double kMebibyte = 1024.0 * 1024.0;
// MindSpore makes the MB of memory_record.csv of KB by dividing by 1000, and readers of its folders
// count on it.
constexpr double kRecordMegabyte = 1000.0 * 1024.0;

const SourceTableView::ColumnInfo* column_of(const SourceTableView& table, std::string_view name) {
  for (const auto& column : table.columns) {
    if (column.name == name) return &column;
  }
  return nullptr;
}

// CANN's own tables have the names of the frameworks', but other columns, in KB.
bool has_table_in_mb(const OutputContext& context, std::string_view table,
                     std::string_view column) {
  const SourceTableView* found = context.source_table(table);
  return found != nullptr && column_of(*found, column) != nullptr;
}

void megabytes(CsvWriter& csv, int64_t bytes, double unit) {
  if (bytes == kNull) {
    csv.text("");
  } else {
    csv.number(static_cast<double>(bytes) / unit);
  }
}

// "NPU:0", "CUDA:1"; the CPU has no number.
std::string device_type(const StoreReader& store, int64_t kind, int64_t device) {
  std::string text(store.string(kind));
  if (text.empty()) text = "CPU";
  return device == kNull || device < 0 ? text : text + ":" + std::to_string(device);
}

// Totals at a moment.
struct MemorySample {
  int64_t ts_ns = 0;
  std::string component;
  std::array<int64_t, 3> totals = {kNull, kNull, kNull};  // allocated, reserved, active
  std::string device;
};

bool is_database(const OutputContext& context) {
  return text_at(context.store(), Table::kRanks, "source_format", context.rank.position) ==
         "ascend_db";
}

// Whether the totals over time are a table of their own, beside that of the operators' memory.
bool has_record(const OutputContext& context) {
  if (!is_database(context)) return context.source_table("memory_record") != nullptr;
  bool found = false;
  for_each_row<1>(context.store(), Table::kMemory, context.rank.position, {"bytes"},
                  [&](const auto& row) { found |= row[0] == kNull; });
  return found;
}

std::vector<MemorySample> samples_of(const OutputContext& context) {
  const StoreReader& store = context.store();
  // Operators' memory has totals too; beside a table of samples they are none.
  const bool only_totals = has_record(context);
  std::vector<MemorySample> samples;
  for_each_row<8>(store, Table::kMemory, context.rank.position,
                  {"ts", "bytes", "component", "total_allocated", "total_reserved", "total_active",
                   "device_kind", "device"},
                  [&](const auto& row) {
                    const auto [ts_ns, bytes, component, allocated, reserved, active, kind,
                                device] = row;
                    if (ts_ns == kNull || (only_totals && bytes != kNull)) return;
                    if (allocated == kNull && reserved == kNull && active == kNull) return;
                    if (!context.chosen_moment(ts_ns)) return;
                    samples.push_back({ts_ns,
                                       std::string(store.string(component)),
                                       {allocated, reserved, active},
                                       device_type(store, kind, device)});
                  });
  return samples;
}

// As MindSpore has it on an NPU: its own samples and the graph engine's by time, each followed by
// the sum of both.
std::vector<MemorySample> with_sums(const OutputContext& context,
                                    std::vector<MemorySample> samples) {
  constexpr std::string_view kOwn = "MindSpore";
  constexpr std::string_view kGraphEngine = "GE";
  const auto is_of_graphs = [&](const MemorySample& one) { return one.component == kGraphEngine; };
  if (!context.form.is_mindspore || std::ranges::none_of(samples, is_of_graphs)) return samples;
  std::stable_sort(samples.begin(), samples.end(),
                   [](const MemorySample& a, const MemorySample& b) { return a.ts_ns < b.ts_ns; });
  std::array<int64_t, 3> last_own = {0, 0, 0};
  std::array<int64_t, 3> last_graphs = {0, 0, 0};
  std::vector<MemorySample> result;
  for (MemorySample& sample : samples) {
    if (sample.component != kOwn && sample.component != kGraphEngine) {
      result.push_back(std::move(sample));
      continue;
    }
    for (int64_t& total : sample.totals) total = total == kNull ? 0 : total;
    const bool is_own = sample.component == kOwn;
    if (is_own) sample.device = "NPU:" + std::to_string(context.rank.rank);
    (is_own ? last_own : last_graphs) = sample.totals;
    MemorySample sum = sample;
    sum.component = "MindSpore+GE";
    const auto& other = is_own ? last_graphs : last_own;
    for (size_t i = 0; i < 3; ++i) sum.totals[i] = bounded_plus(sum.totals[i], other[i]);
    result.push_back(std::move(sample));
    result.push_back(std::move(sum));
  }
  return result;
}

// What the whole process has on the device, from CANN's npu_mem. Nothing but the total is known.
void add_process_memory(const OutputContext& context, std::vector<MemorySample>& samples) {
  const SourceTableView* table = context.source_table("npu_mem");
  if (table == nullptr) return;
  const auto* event = column_of(*table, "event");
  const auto* kilobytes = column_of(*table, "memory(KB)");
  const auto* when = column_of(*table, "timestamp(us)");
  const auto* device = column_of(*table, "Device_id");
  if (event == nullptr || kilobytes == nullptr || when == nullptr) return;
  const auto text = [&](const SourceTableView::ColumnInfo* column, uint64_t row) -> std::string {
    const int64_t value = column == nullptr ? kNull : column->values.at(row);
    if (value == kNull) return {};
    if (column->type == Type::kInt64) return std::to_string(value);
    std::string text;
    if (column->type == Type::kFloat64) {
      append_rounded(text, std::bit_cast<double>(value), 3);
    } else {
      text = context.store().string(value);
    }
    return text;
  };
  for (uint64_t row = 0; row < table->rows; ++row) {
    const std::string whose = text(event, row);
    const auto ts_ns = parse_us_as_ns(text(when, row));
    const auto thousandths = parse_scaled(text(kilobytes, row), 3);
    if ((whose != "app" && whose != "APP") || !ts_ns || !thousandths) continue;
    if (!context.chosen_moment(*ts_ns)) continue;
    const double bytes = static_cast<double>(*thousandths) / 1000.0 * 1024.0;
    if (!(bytes >= 0 && bytes < 9e18)) continue;
    samples.push_back(
        {*ts_ns, "APP", {kNull, static_cast<int64_t>(bytes), kNull}, "NPU:" + text(device, row)});
  }
}

}  // namespace

Result<bool> write_source_table(OutputContext& context, std::string_view name, const Sink& sink) {
  const SourceTableView* table = context.source_table(name);
  if (table == nullptr) return false;
  std::vector<std::string> header;
  const SourceTableView::ColumnInfo* steps = nullptr;
  for (const auto& column : table->columns) {
    header.emplace_back(column.name);
    const bool is_step =
        column.name == "Step Id" || column.name == "Step ID" || column.name == "Step";
    if (is_step && column.type == Type::kInt64) steps = &column;
  }
  CsvWriter csv(sink, header);
  for (uint64_t row = 0; row < table->rows; ++row) {
    if (steps != nullptr && !context.chosen_step(steps->values.at(row))) continue;
    for (const auto& column : table->columns) {
      const int64_t value = column.values.at(row);
      if (value == kNull) {
        csv.text("N/A");
      } else if (column.type == Type::kText) {
        csv.text(context.store().string(value));
      } else if (column.type == Type::kFloat64) {
        csv.number(std::bit_cast<double>(value));
      } else {
        csv.integer(value);
      }
    }
    if (auto status = csv.end_row(); !status) return std::move(status.error());
  }
  return csv.finish();
}

// The frameworks give CANN's table of AI CPU operators another name.
Result<bool> write_data_preprocess(OutputContext& context, const Sink& sink) {
  const bool is_framework = context.source_table("data_preprocess") != nullptr;
  return write_source_table(context, is_framework ? "data_preprocess" : "aicpu", sink);
}

Result<bool> write_memory_record(OutputContext& context, const Sink& sink) {
  if (has_table_in_mb(context, "memory_record", "Total Allocated(MB)"))
    return write_source_table(context, "memory_record", sink);
  std::vector<MemorySample> samples = with_sums(context, samples_of(context));
  add_process_memory(context, samples);
  const bool is_torch = context.form.is_torch_npu();
  std::vector<std::string> header = {"Component", "Timestamp(us)", "Total Allocated(MB)",
                                     "Total Reserved(MB)", "Total Active(MB)"};
  if (is_torch) header.emplace_back("Stream Ptr");
  header.emplace_back("Device Type");
  CsvWriter csv(sink, header);
  for (const MemorySample& sample : samples) {
    csv.known(sample.component).moment(sample.ts_ns);
    for (const int64_t total : sample.totals)
      megabytes(csv, total, is_torch ? kMebibyte : kRecordMegabyte);
    if (is_torch) csv.text("");
    csv.text(sample.device);
    if (auto status = csv.end_row(); !status) return std::move(status.error());
  }
  return csv.finish();
}

Result<bool> write_operator_memory(OutputContext& context, const Sink& sink) {
  if (has_table_in_mb(context, "operator_memory", "Allocation Total Allocated(MB)"))
    return write_source_table(context, "operator_memory", sink);
  const StoreReader& store = context.store();
  // CANN's, in KB, or a database's.
  const bool has_table = context.source_table("operator_memory") != nullptr || is_database(context);
  using Totals = std::array<int64_t, 3>;
  struct Allocation {
    int64_t name = kNull;
    int64_t bytes = 0;
    int64_t ts_ns = 0;
    int64_t kind = kNull;
    int64_t device = kNull;
    Totals totals = {kNull, kNull, kNull};
    int64_t free_ns = kNull;
    Totals free_totals = {kNull, kNull, kNull};
    bool has_address = true;
  };
  std::vector<Allocation> allocations;
  // What is allocated at an address of a device.
  std::map<std::tuple<int64_t, int64_t, int64_t>, size_t> live;
  // Tables have no addresses, but lifetimes: a release is known by its operator, size and moment.
  std::map<std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t>, Totals> releases;
  for_each_row<10>(store, Table::kMemory, context.rank.position,
                   {"ts", "bytes", "address", "name", "device_kind", "device", "total_allocated",
                    "total_reserved", "total_active", "duration"},
                   [&](const auto& row) {
                     const auto [ts_ns, bytes, address, name, kind, device, allocated, reserved,
                                 active, life_ns] = row;
                     if (ts_ns == kNull || bytes == kNull || bytes == 0) return;
                     const Totals totals = {allocated, reserved, active};
                     if (address == kNull) {
                       if (life_ns == kNull && !has_table) return;
                       if (bytes < 0) {
                         releases[{kind, device, name, bytes, ts_ns}] = totals;
                         return;
                       }
                       Allocation one{name, bytes, ts_ns, kind, device, totals};
                       if (life_ns != kNull) one.free_ns = bounded_plus(ts_ns, life_ns);
                       one.has_address = false;
                       allocations.push_back(one);
                       return;
                     }
                     const auto place = std::tuple(kind, device, address);
                     if (bytes > 0) {
                       live[place] = allocations.size();
                       allocations.push_back({name, bytes, ts_ns, kind, device, totals});
                       return;
                     }
                     const auto found = live.find(place);
                     if (found == live.end()) return;  // allocated before the recording
                     Allocation& one = allocations[found->second];
                     one.free_ns = ts_ns;
                     one.free_totals = totals;
                     live.erase(found);
                   });
  CsvWriter csv(sink, {"Name", "Size(KB)", "Allocation Time(us)", "Release Time(us)",
                       "Active Release Time(us)", "Duration(us)", "Active Duration(us)",
                       "Allocation Total Allocated(MB)", "Allocation Total Reserved(MB)",
                       "Allocation Total Active(MB)", "Release Total Allocated(MB)",
                       "Release Total Reserved(MB)", "Release Total Active(MB)", "Stream Ptr",
                       "Device Type"});
  std::stable_sort(allocations.begin(), allocations.end(),
                   [](const Allocation& a, const Allocation& b) { return a.ts_ns < b.ts_ns; });
  const auto write_totals = [&](Totals totals) {
    // MindSpore knows no other active memory than what is allocated.
    if (context.form.is_mindspore && totals[2] == kNull) totals[2] = totals[0];
    for (const int64_t total : totals) megabytes(csv, total, kMebibyte);
  };
  for (Allocation& one : allocations) {
    if (!context.chosen_moment(one.ts_ns)) continue;
    if (!one.has_address) {
      const auto found = releases.find({one.kind, one.device, one.name, -one.bytes, one.free_ns});
      if (found != releases.end()) one.free_totals = found->second;
    }
    csv.known(store.string(one.name));
    csv.number(static_cast<double>(one.bytes) / 1024.0);
    csv.moment(one.ts_ns).moment(one.free_ns).text("N/A");
    csv.us(one.free_ns == kNull ? kNull : bounded_minus(one.free_ns, one.ts_ns)).text("N/A");
    write_totals(one.totals);
    write_totals(one.free_totals);
    csv.text("N/A").text(device_type(store, one.kind, one.device));
    if (auto status = csv.end_row(); !status) return std::move(status.error());
  }
  return csv.finish();
}

}  // namespace stepscope
