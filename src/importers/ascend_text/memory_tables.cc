#include "importers/ascend_text/memory_tables.h"

#include <cstdlib>
#include <map>
#include <string>

#include "importers/common/ascend_words.h"
#include "importers/common/csv_reader.h"

namespace stepscope {
namespace {

constexpr int64_t kKiB = 1024;
constexpr int64_t kMiB = 1024 * 1024;
// MindSpore divides by 1000 where it turns the KB of memory_record into MB.
constexpr int64_t kMindSporeMB = 1000 * kKiB;

class MemoryTables {
 public:
  MemoryTables(const AscendRecording& recording, RankBuilder& rank)
      : is_mindspore_(recording.is_mindspore),
        rank_(rank),
        npu_(rank.strings.intern("NPU")),
        graph_engine_(rank.strings.intern("GE")),
        framework_(rank.strings.intern(recording.is_mindspore ? "MindSpore" : "PTA")) {}

  int64_t device() const { return device_; }

  void read_totals(CsvReader& csv) {
    const int64_t megabyte = is_mindspore_ ? kMindSporeMB : kMiB;
    const size_t component = csv.column({"Component"});
    const size_t time = csv.column({"Timestamp(us)"});
    const size_t device = csv.column({"Device Type", "Device"});
    const Amount allocated = amount(csv, "Total Allocated", megabyte);
    const Amount reserved = amount(csv, "Total Reserved", megabyte);
    const Amount active = amount(csv, "Total Active", megabyte);
    if (!need(csv, time != CsvReader::npos && component != CsvReader::npos)) return;
    QualityReport ragged;  // counted where the table is kept
    while (csv.next(ragged)) {
      MemoryRecord record;
      if (!time_of(csv, time, record.ts_ns)) continue;
      record.component = text(csv, component);
      record.total_allocated = bytes(csv, allocated);
      record.total_reserved = bytes(csv, reserved);
      record.total_active = bytes(csv, active);
      set_device(csv, device, record);
      rank_.memory.push_back(record);
    }
  }

  void read_operators(CsvReader& csv) {
    const size_t name = csv.column({"Name"});
    const Amount size = amount(csv, "Size", kMiB);
    const size_t allocation = csv.column({"Allocation Time(us)"});
    const size_t release = csv.column({"Release Time(us)"});
    const size_t duration = csv.column({"Duration(us)"});
    const size_t device = csv.column({"Device Type", "Device"});
    const Amount totals[] = {amount(csv, "Allocation Total Allocated", kMiB),
                             amount(csv, "Allocation Total Reserved", kMiB),
                             amount(csv, "Allocation Total Active", kMiB),
                             amount(csv, "Release Total Allocated", kMiB),
                             amount(csv, "Release Total Reserved", kMiB),
                             amount(csv, "Release Total Active", kMiB)};
    if (!need(csv, name != CsvReader::npos && size.column != CsvReader::npos &&
                       allocation != CsvReader::npos)) {
      return;
    }
    QualityReport ragged;
    while (csv.next(ragged)) {
      MemoryRecord record;
      record.name = text(csv, name);
      record.component = csv.cell(name).starts_with("cann::") ? graph_engine_ : framework_;
      record.duration_ns = csv.us_as_ns(duration, rank_.quality);
      set_device(csv, device, record);
      const int64_t allocated_ns = csv.us_as_ns(allocation, rank_.quality);
      int64_t released_ns = csv.us_as_ns(release, rank_.quality);
      if (release == CsvReader::npos && allocated_ns != kNull && record.duration_ns != kNull) {
        released_ns =
            bounded_sum(allocated_ns, record.duration_ns);  // msprof gives only the lifetime
      }
      const int64_t amount = bytes(csv, size);
      if (amount == kNull || (allocated_ns == kNull && released_ns == kNull)) {
        rank_.quality.add(
            QualityCode::kUnparsableEvent,
            csv.path() + " line " + std::to_string(csv.line()) + " has no size or no time");
        continue;
      }
      if (allocated_ns != kNull && amount >= 0) {
        record.ts_ns = allocated_ns;
        record.bytes = amount;
        record.total_allocated = bytes(csv, totals[0]);
        record.total_reserved = bytes(csv, totals[1]);
        record.total_active = bytes(csv, totals[2]);
        rank_.memory.push_back(record);
      }
      // A negative size, or no allocation: only the release lies in the window.
      if (released_ns == kNull && amount < 0) released_ns = allocated_ns;
      if (released_ns == kNull) continue;
      record.ts_ns = released_ns;
      record.bytes = amount < 0 ? amount : -amount;
      record.total_allocated = bytes(csv, totals[3]);
      record.total_reserved = bytes(csv, totals[4]);
      record.total_active = bytes(csv, totals[5]);
      rank_.memory.push_back(record);
    }
  }

  void read_modules(CsvReader& csv) {
    const size_t component = csv.column({"Component"});
    const size_t time = csv.column({"Timestamp(us)"});
    const size_t device = csv.column({"Device", "Device Type"});
    const Amount reserved = amount(csv, "Total Reserved", kMiB);
    if (!need(csv, time != CsvReader::npos && component != CsvReader::npos &&
                       reserved.column != CsvReader::npos)) {
      return;
    }
    QualityReport ragged;
    while (csv.next(ragged)) {
      CounterRecord sample;
      const int64_t value = bytes(csv, reserved);
      if (!time_of(csv, time, sample.ts_ns) || value == kNull) continue;
      sample.value = static_cast<double>(value);
      MemoryRecord place;
      set_device(csv, device, place);
      sample.track = module_track(std::string(csv.cell(component)), place.device);
      rank_.counters.push_back(sample);
    }
  }

 private:
  struct Amount {
    size_t column = CsvReader::npos;
    int64_t factor = 1;
  };

  static Amount amount(const CsvReader& csv, const std::string& title, int64_t megabyte) {
    const std::pair<const char*, int64_t> units[] = {
        {"(MB)", megabyte}, {"(KB)", kKiB}, {"(Byte)", 1}, {"(B)", 1}};
    for (const auto& [unit, factor] : units) {
      const size_t column = csv.column({title + unit});
      if (column != CsvReader::npos) return {column, factor};
    }
    return {};
  }

  int64_t bytes(const CsvReader& csv, const Amount& amount) const {
    return csv.times(amount.column, amount.factor, rank_.quality);
  }

  StringId text(const CsvReader& csv, size_t column) const {
    const auto value = csv.value(column);
    return value ? rank_.strings.intern(*value) : kNoString;
  }

  bool need(const CsvReader& csv, bool has_columns) const {
    if (!has_columns) {
      rank_.quality.add(QualityCode::kUnreadableFile,
                        csv.path() + ": it lacks the columns that say when and how much");
    }
    return has_columns;
  }

  bool time_of(const CsvReader& csv, size_t column, int64_t& ts_ns) const {
    ts_ns = csv.us_as_ns(column, rank_.quality);
    if (ts_ns != kNull) return true;
    rank_.quality.add(QualityCode::kUnparsableEvent,
                      csv.path() + " line " + std::to_string(csv.line()) + " has no time");
    return false;
  }

  void set_device(const CsvReader& csv, size_t column, MemoryRecord& record) {
    record.device_kind = npu_;
    record.device = device_of(csv.cell(column));
    if (device_ == kNull && record.device >= 0) device_ = record.device;
  }

  TrackId module_track(const std::string& component, int32_t device) {
    const auto [found, added] = modules_.try_emplace({component, device}, 0);
    if (!added) return found->second;
    TrackInfo track;
    track.process = rank_.strings.intern("NPU module memory");
    track.thread = rank_.strings.intern(component + "/totalReserved (bytes)");
    track.kind = TrackKind::kCounter;
    if (device >= 0) track.device = device;
    found->second = rank_.add_track(track);
    return found->second;
  }

  const bool is_mindspore_;
  RankBuilder& rank_;
  const StringId npu_;
  const StringId graph_engine_;
  const StringId framework_;
  int64_t device_ = kNull;
  std::map<std::pair<std::string, int32_t>, TrackId> modules_;
};

}  // namespace

int64_t read_memory_tables(const AscendRecording& recording, RankBuilder& rank) {
  MemoryTables tables(recording, rank);
  for (const std::string& path : recording.tables) {
    const std::string name = ascend_table_name(path);
    if (name != "memory_record" && name != "operator_memory" && name != "npu_module_mem") continue;
    auto csv = CsvReader::open(path);
    if (!csv.ok()) continue;  // counted where the table is kept
    if (name == "memory_record") tables.read_totals(*csv);
    if (name == "operator_memory") tables.read_operators(*csv);
    if (name == "npu_module_mem") tables.read_modules(*csv);
  }
  return tables.device();
}

}  // namespace stepscope
