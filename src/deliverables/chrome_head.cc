#include "deliverables/chrome_head.h"

#include <filesystem>

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/own_files.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

using Json = nlohmann::ordered_json;

Json parse_object(std::string_view text) {
  Json value = ordered_json_tree(text);
  return value.is_object() ? value : Json::object();
}

// Numbers of c10::DeviceType.
int device_type(std::string_view kind) {
  constexpr struct {
    std::string_view name;
    int number;
  } kKinds[] = {{"CPU", 0}, {"CUDA", 1}, {"HIP", 6}, {"XPU", 12}, {"MTIA", 19}, {"NPU", 20}};
  for (const auto& known : kKinds) {
    if (known.name == kind) return known.number;
  }
  return -1;
}

}  // namespace

std::string chrome_head(const ChromeRank& rank) {
  Json head;
  head["schemaVersion"] = 1;
  head[kExportOf] = "";  // here, where readers of beginnings find it
  const Json versions = parse_object(rank.text(Table::kRanks, "versions"));
  Json devices = Json::array();
  const std::string name(rank.text(Table::kRanks, "device_name"));
  const int64_t count = rank.number(Table::kRanks, "device_count");
  for (int64_t id = 0; !name.empty() && id < count; ++id) {
    devices.push_back({{"id", id}, {"name", name}});
  }
  head["deviceProperties"] = devices;
  Json distributed = parse_object(rank.text(Table::kRanks, "parallel"));
  if (rank.number(Table::kRanks, "rank_inferred") != 1)
    distributed["rank"] = rank.number(Table::kRanks, "rank");
  if (const int64_t world = rank.number(Table::kRanks, "world_size"); world != kNull)
    distributed["world_size"] = world;
  if (!distributed.empty()) head["distributedInfo"] = distributed;
  if (const std::string_view host = rank.text(Table::kRanks, "host"); !host.empty())
    head["host_name"] = std::string(host);
  for (const auto& [key, value] : versions.items()) head[key] = value;
  // The name alone: files travel, and where they were is nobody's business.
  const std::filesystem::path source(rank.text(Table::kRanks, "source_path"));
  head[kExportOf] = source.filename().string();
  head["displayTimeUnit"] = "ms";
  head["baseTimeNanoseconds"] = rank.base_ns();
  head.erase("traceEvents");
  std::string text = write_json(head);
  text.pop_back();
  return text + ",\n\"traceEvents\":[";
}

std::string chrome_id(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  const bool number = !digits.empty() && digits.size() <= 18 &&
                      digits.find_first_not_of("0123456789") == std::string_view::npos &&
                      (digits.size() == 1 || digits[0] != '0');
  if (number) return std::string(text);
  std::string out;
  append_json_text(out, text);
  return out;
}

std::string chrome_memory_args(const ChromeRank& rank, uint64_t row) {
  Json args;
  const auto add = [&](const char* key, std::string_view column) {
    const int64_t value = rank.number(Table::kMemory, column, row);
    if (value != kNull) args[key] = value;
  };
  add("Total Reserved", "total_reserved");
  add("Total Allocated", "total_allocated");
  add("Total Active", "total_active");
  add("Bytes", "bytes");
  add("Addr", "address");
  add("Device Id", "device");
  add("Duration ns", "duration");
  const std::string kind(rank.text(Table::kMemory, "device_kind", row));
  if (const int number = device_type(kind); number >= 0) {
    args["Device Type"] = number;
  } else if (!kind.empty()) {
    args["Device Type"] = kind;
  }
  for (const auto& [key, column] : {std::pair{"Component", "component"}, {"Name", "name"}}) {
    const std::string value(rank.text(Table::kMemory, column, row));
    // The operator's name follows from the time and the thread.
    if (!value.empty() && (std::string_view(column) != "name" ||
                           rank.number(Table::kMemory, "slice", row) == kNull)) {
      args[key] = value;
    }
  }
  return args.is_null() ? "{}" : write_json(args);
}

}  // namespace stepscope
