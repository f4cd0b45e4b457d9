// Counters of an Ascend database, named and measured as those of the text form
// (ascend_text/counter_names.h), so that it does not matter which form was read.
#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "importers/ascend_db/db_reader.h"
#include "importers/common/ascend_words.h"

namespace stepscope {
namespace {

// A table of samples: rows with a time, columns that name the series, everything else a value.
struct CounterTable {
  std::string_view table;
  std::string_view process;                // the word that the text form uses
  std::array<std::string_view, 2> series;  // "" none; a leading '$' means interned text
  std::string_view unit;                   // of values without a name below, "" when not known
};

constexpr CounterTable kCounterTables[] = {
    {"AICORE_FREQ", "AI Core Freq", {"dieId", ""}, "MHz"},
    {"HBM", "HBM", {"hbmId", "$type"}, "B/s"},
    {"LLC", "LLC", {"llcId", "$mode"}, ""},
    {"ACC_PMU", "Acc PMU", {"accId", ""}, ""},
    {"SOC_BANDWIDTH_LEVEL", "Stars Soc Info", {"", ""}, ""},
    {"QOS", "QoS", {"$eventName", "dieId"}, ""},
    {"DDR", "DDR", {"", ""}, ""},
    {"HCCS", "HCCS", {"", ""}, "B/s"},
    {"NIC", "NIC", {"funcId", ""}, ""},
    {"ROCE", "RoCE", {"funcId", ""}, ""},
    {"PCIE", "PCIe", {"", ""}, ""},
    {"NETDEV_STATS", "Network", {"", ""}, ""},
    {"UB", "UB", {"portId", ""}, ""},
    {"SIO", "SIO", {"$name", ""}, ""},
    {"SAMPLE_PMU_TIMELINE", "AI Core Utilization", {"$coreType", "coreId"}, ""},
    {"CPU_USAGE", "CPU Usage", {"cpuId", ""}, "%"},
    {"HOST_MEM_USAGE", "Memory Usage", {"", ""}, "%"},
    {"HOST_DISK_USAGE", "Disk Usage", {"", ""}, "B/s"},
    {"HOST_NETWORK_USAGE", "Network Usage", {"", ""}, "B/s"},
    {"NPU_MEM", "NPU MEM", {"$type", ""}, "bytes"},
    {"NPU_MODULE_MEM", "NPU module memory", {"moduleId", ""}, "bytes"},
};

// Values that the text form has too: {0} and {1} are what names the series.
struct CounterName {
  std::string_view table;
  std::string_view column;
  std::string_view name;
  double factor = 1;
};

constexpr double kMiB = 1048576;
constexpr CounterName kCounterNames[] = {
    {"AICORE_FREQ", "freq", "AI Core Freq {0} (MHz)"},
    {"HBM", "bandwidth", "HBM {0}/{1} (B/s)"},
    {"LLC", "throughput", "LLC {0} {1}/Throughput (B/s)"},
    {"LLC", "hitRate", "LLC {0} {1}/Hit Rate (%)"},
    {"ACC_PMU", "readBwLevel", "read_bandwidth {0}"},
    {"ACC_PMU", "writeBwLevel", "write_bandwidth {0}"},
    {"ACC_PMU", "readOstLevel", "read_ost {0}"},
    {"ACC_PMU", "writeOstLevel", "write_ost {0}"},
    {"SOC_BANDWIDTH_LEVEL", "l2BufferBwLevel", "L2 Buffer Bw Level"},
    {"SOC_BANDWIDTH_LEVEL", "mataBwLevel", "Mata Bw Level"},
    {"QOS", "bandwidth", "{0} {1} (B/s)"},
    // Whole MB/s: the only rate that msprof does not store as B/s.
    {"DDR", "read", "DDR/Read (B/s)", kMiB},
    {"DDR", "write", "DDR/Write (B/s)", kMiB},
    {"HCCS", "rxThroughput", "Rx (B/s)"},
    {"HCCS", "txThroughput", "Tx (B/s)"},
    {"CPU_USAGE", "usage", "CPU {0} Usage (%)"},
    {"HOST_MEM_USAGE", "usage", "Memory Usage (%)"},
    {"HOST_DISK_USAGE", "usage", "Disk Usage (%)"},
    {"HOST_NETWORK_USAGE", "usage", "Network Usage (%)"},
    {"NPU_MEM", "ddr", "{0}/DDR (bytes)"},
    {"NPU_MEM", "hbm", "{0}/HBM (bytes)"},
};

const CounterName* find_name(std::string_view table, std::string_view column) {
  for (const CounterName& known : kCounterNames) {
    if (known.table == table && known.column == column) return &known;
  }
  return nullptr;
}

using Series = std::array<std::string, 2>;

// A series that the row does not name leaves no gap.
std::string filled(std::string_view pattern, const Series& series) {
  std::string out;
  for (size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '{') {
      out += pattern[at];
      continue;
    }
    const std::string& text = series[static_cast<size_t>(pattern[at + 1] - '0')];
    if (text.empty() && out.ends_with(' ')) out.pop_back();
    out += text;
    at += 2;
  }
  return out;
}

// The text form's spelling of what names a series.
std::string series_word(std::string_view column, std::string word) {
  if (column == "dieId") return "die " + word;
  if (column == "$eventName") return word.starts_with("QoS ") ? word : "QoS " + word;
  if (word == "app") return "APP";
  if (!word.empty()) word[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(word[0])));
  return word;
}

}  // namespace

void DbReader::read_counters() {
  for (const CounterTable& spec : kCounterTables) {
    known_tables_.insert(std::string(spec.table));
    if (!file_.has_table(spec.table)) continue;
    std::vector<std::string> columns = {"timestampNs", "deviceId"};
    for (const std::string_view series : spec.series) {
      columns.emplace_back(series.starts_with('$') ? series.substr(1) : series);
    }
    const size_t first_value = columns.size();
    std::vector<const CounterName*> names(first_value, nullptr);  // by column
    for (const std::string& column : file_.columns(spec.table)) {
      if (std::find(columns.begin(), columns.end(), column) == columns.end()) {
        columns.push_back(column);
        names.push_back(find_name(spec.table, column));
      }
    }
    TableScan row(file_, spec.table, columns, rank_.quality);
    while (row.next()) {
      const int64_t ts_ns = row.integer(0);
      if (ts_ns == kNull) {
        rank_.quality.add(QualityCode::kUnparsableEvent,
                          std::string(spec.table) + " without a time");
        continue;
      }
      const auto add = [&](const std::string& series, double value) {
        const TrackId track = lane(spec.process, series, TrackKind::kCounter, row.integer(1));
        rank_.counters.push_back({ts_ns, value, track});
      };
      Series series;
      std::string other_name(spec.process);  // of values that have none of their own
      for (size_t i = 0; i < spec.series.size(); ++i) {
        const int column = static_cast<int>(2 + i);
        if (spec.series[i].empty() || row.is_null(column)) continue;
        const bool interned = spec.series[i].starts_with('$');
        std::string word(row.text(column));
        if (interned && row.type(column) == TableScan::Cell::kInteger)
          word = rank_.strings.view(string(row.integer(column)));
        if (spec.table == "NPU_MODULE_MEM") {
          const StringId module = enumerated("ENUM_MODULE", row.integer(column));
          other_name = module == kNoString ? word : std::string(rank_.strings.view(module));
        } else {
          other_name += " " + word;
        }
        series[i] = series_word(spec.series[i], std::move(word));
      }
      for (size_t i = first_value; i < columns.size(); ++i) {
        const auto value = row.number(static_cast<int>(i));
        if (!value) continue;
        if (names[i] != nullptr) {
          add(filled(names[i]->name, series), *value * names[i]->factor);
        } else {
          std::string name = other_name + "/" + columns[i];
          if (!spec.unit.empty()) name += " (" + std::string(spec.unit) + ")";
          add(name, *value);
        }
      }
      if (spec.table == "NPU_MEM") {  // the text form gives their sum as well
        std::optional<double> sum;
        for (size_t i = first_value; i < columns.size(); ++i) {
          const auto value = row.number(static_cast<int>(i));
          if (names[i] != nullptr && value) sum = sum.value_or(0) + *value;
        }
        if (sum) add(series[0] + "/Memory (bytes)", *sum);
      }
    }
    rows_ += row.rows();
    if (progress_.cancelled()) return;
  }
}

}  // namespace stepscope
