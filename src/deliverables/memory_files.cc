// memory_record.csv and operator_memory.csv, and tables of the input as they are.
#include <algorithm>
#include <bit>
#include <map>
#include <unordered_map>

#include "deliverables/profiler_output.h"

namespace stepscope {
namespace {

constexpr double kMebibyte = 1024.0 * 1024.0;
// MindSpore makes the MB of memory_record.csv of KB by dividing by 1000, and readers of its folders
// count on it.
constexpr double kRecordMegabyte = 1000.0 * 1024.0;

const SourceTableView* source_table(const OutputContext& context, std::string_view name) {
  for (const SourceTableView& table : context.store().source_tables(context.rank.position)) {
    if (table.name == name) return &table;
  }
  return nullptr;
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

}  // namespace

Result<bool> write_source_table(OutputContext& context, std::string_view name, const Sink& sink) {
  const SourceTableView* table = source_table(context, name);
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

Result<bool> write_memory_record(OutputContext& context, const Sink& sink) {
  if (source_table(context, "memory_record") != nullptr)
    return write_source_table(context, "memory_record", sink);
  const StoreReader& store = context.store();
  CsvWriter csv(sink, {"Component", "Timestamp(us)", "Total Allocated(MB)", "Total Reserved(MB)",
                       "Total Active(MB)", "Device Type"});
  Status failed;
  for_each_row<7>(store, Table::kMemory, context.rank.position,
                  {"ts", "component", "total_allocated", "total_reserved", "total_active",
                   "device_kind", "device"},
                  [&](const auto& row) {
                    const auto [ts_ns, component, allocated, reserved, active, kind, device] = row;
                    if (!failed || ts_ns == kNull) return;
                    if (allocated == kNull && reserved == kNull && active == kNull) return;
                    if (!context.chosen_moment(ts_ns)) return;
                    csv.known(store.string(component)).moment(ts_ns);
                    megabytes(csv, allocated, kRecordMegabyte);
                    megabytes(csv, reserved, kRecordMegabyte);
                    megabytes(csv, active, kRecordMegabyte);
                    csv.text(device_type(store, kind, device));
                    failed = csv.end_row();
                  });
  if (!failed) return std::move(failed.error());
  return csv.finish();
}

Result<bool> write_operator_memory(OutputContext& context, const Sink& sink) {
  if (source_table(context, "operator_memory") != nullptr)
    return write_source_table(context, "operator_memory", sink);
  const StoreReader& store = context.store();
  struct Allocation {
    int64_t name = kNull;
    int64_t bytes = 0;
    int64_t ts_ns = 0;
    int64_t kind = kNull;
    int64_t device = kNull;
    int64_t totals[3] = {kNull, kNull, kNull};
    int64_t free_ns = kNull;
    int64_t free_totals[3] = {kNull, kNull, kNull};
  };
  std::vector<Allocation> allocations;
  // What is allocated at an address of a device.
  std::map<std::tuple<int64_t, int64_t, int64_t>, size_t> live;
  for_each_row<9>(
      store, Table::kMemory, context.rank.position,
      {"ts", "bytes", "address", "name", "device_kind", "device", "total_allocated",
       "total_reserved", "total_active"},
      [&](const auto& row) {
        const auto [ts_ns, bytes, address, name, kind, device, allocated, reserved, active] = row;
        if (ts_ns == kNull || bytes == kNull || bytes == 0 || address == kNull) return;
        const auto place = std::tuple(kind, device, address);
        if (bytes > 0) {
          Allocation one{name, bytes, ts_ns, kind, device, {allocated, reserved, active}};
          live[place] = allocations.size();
          allocations.push_back(one);
          return;
        }
        const auto found = live.find(place);
        if (found == live.end()) return;  // allocated before the recording
        Allocation& one = allocations[found->second];
        one.free_ns = ts_ns;
        one.free_totals[0] = allocated;
        one.free_totals[1] = reserved;
        one.free_totals[2] = active;
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
  for (const Allocation& one : allocations) {
    if (!context.chosen_moment(one.ts_ns)) continue;
    csv.known(store.string(one.name));
    csv.number(static_cast<double>(one.bytes) / 1024.0);
    csv.moment(one.ts_ns).moment(one.free_ns).text("N/A");
    csv.us(one.free_ns == kNull ? kNull : one.free_ns - one.ts_ns).text("N/A");
    for (const int64_t total : one.totals) megabytes(csv, total, kMebibyte);
    for (const int64_t total : one.free_totals) megabytes(csv, total, kMebibyte);
    csv.text("N/A").text(device_type(store, one.kind, one.device));
    if (auto status = csv.end_row(); !status) return std::move(status.error());
  }
  return csv.finish();
}

}  // namespace stepscope
