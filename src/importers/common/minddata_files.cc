#include <filesystem>

#include "importers/common/checked_math.h"
#include "importers/common/minddata.h"
#include "importers/common/table_builder.h"
#include "importers/common/text_file.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

using nlohmann::json;

struct FileKind {
  std::string_view prefix;
  std::string_view suffix;
  std::string MinddataFiles::* place;
};
constexpr FileKind kKinds[] = {
    {"pipeline_profiling_", ".json", &MinddataFiles::pipeline},
    {"minddata_cpu_utilization_", ".json", &MinddataFiles::cpu},
    {"dataset_iterator_profiling_", ".txt", &MinddataFiles::iterator},
    {"device_queue_profiling_", ".txt", &MinddataFiles::device_queue},
};

}  // namespace

bool MinddataFiles::take(std::string_view name, const std::string& path) {
  for (const FileKind& kind : kKinds) {
    if (!number_in_name(name, kind.prefix, kind.suffix)) continue;
    this->*kind.place = path;
    return true;
  }
  return false;
}

std::optional<int64_t> minddata_rank(std::string_view name) {
  for (const FileKind& kind : kKinds) {
    if (const auto number = number_in_name(name, kind.prefix, kind.suffix)) return number;
  }
  return std::nullopt;
}

std::optional<int64_t> find_clock_offset_ns(const std::string& folder) {
  for (const std::string_view name : {"clock.json", "truth.json"}) {
    const std::string path = folder + "/" + std::string(name);
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) continue;
    const auto tree = read_json_file(path);
    if (!tree) continue;
    const json& inner = json_member(*tree, "clock");
    const json& clock = inner.is_object() ? inner : *tree;
    const int64_t offset_ns = json_integer(json_member(clock, "realtime_minus_monotonic_ns"));
    if (offset_ns != kNull) return offset_ns;
    const int64_t realtime_ns = json_integer(json_member(clock, "time_ns_start"));
    const int64_t monotonic_ns = json_integer(json_member(clock, "monotonic_ns_start"));
    const int64_t difference_ns = minus_or_null(realtime_ns, monotonic_ns);
    if (difference_ns != kNull) return difference_ns;
  }
  return std::nullopt;
}

}  // namespace stepscope
