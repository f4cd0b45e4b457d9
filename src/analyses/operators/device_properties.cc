#include "analyses/operators/device_properties.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include <nlohmann/json.hpp>

#include "analyses/common/rank_rows.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

using Json = nlohmann::json;

// A number, or a number in quotes as Ascend's files have it; 0 when it is neither.
double number_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return 0;
  if (found->is_number()) return found->get<double>();
  if (!found->is_string()) return 0;
  const auto& text = found->get_ref<const std::string&>();
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

int64_t whole_number_of(const Json& object, const char* name) {
  const double value = number_of(object, name);
  return value > 0 && value < 1e9 ? static_cast<int64_t>(value) : 0;
}

// Kineto and recordings of our own: {"deviceProperties": [{"id": 0, "name": "NVIDIA H200",
// "numSms": 132, ...}]}
void add_cuda_devices(const Json& versions, std::vector<DeviceProperties>& devices) {
  const auto found = versions.find("deviceProperties");
  if (found == versions.end() || !found->is_array()) return;
  for (const Json& entry : *found) {
    if (!entry.is_object()) continue;
    DeviceProperties device;
    device.device = whole_number_of(entry, "id");
    if (const auto name = entry.find("name"); name != entry.end() && name->is_string())
      device.name = name->get<std::string>();
    device.multiprocessors = whole_number_of(entry, "numSms");
    device.compute_capability =
        10 * whole_number_of(entry, "computeMajor") + whole_number_of(entry, "computeMinor");
    devices.push_back(std::move(device));
  }
}

// Ascend: {"info.json.0": {"DeviceInfo": [{"id": 0, "ai_core_num": 32, "aic_frequency": "1000"}]}}
void add_ascend_devices(const Json& versions, std::vector<DeviceProperties>& devices) {
  for (const auto& [key, info] : versions.items()) {
    if (!key.starts_with("info.json") || !info.is_object()) continue;
    const auto found = info.find("DeviceInfo");
    if (found == info.end() || !found->is_array()) continue;
    for (const Json& entry : *found) {
      if (!entry.is_object()) continue;
      DeviceProperties device;
      device.device = whole_number_of(entry, "id");
      device.ai_cores = whole_number_of(entry, "ai_core_num");
      device.ai_core_hz = number_of(entry, "aic_frequency") * 1e6;
      devices.push_back(std::move(device));
    }
  }
}

}  // namespace

std::vector<DeviceProperties> device_properties(const StoreReader& store, size_t rank) {
  std::vector<DeviceProperties> devices;
  const std::string_view text = text_at(store, Table::kRanks, "versions", rank);
  const Json versions = json_tree(text);
  if (versions.is_object()) {
    add_cuda_devices(versions, devices);
    add_ascend_devices(versions, devices);
  }
  const std::string_view name = text_at(store, Table::kRanks, "device_name", rank);
  if (devices.empty()) devices.emplace_back();
  for (DeviceProperties& device : devices) {
    if (device.name.empty()) device.name = name;
  }
  return devices;
}

const DeviceProperties* find_device(const std::vector<DeviceProperties>& devices, int64_t device) {
  for (const DeviceProperties& entry : devices) {
    if (entry.device == device) return &entry;
  }
  return devices.size() == 1 ? &devices[0] : nullptr;
}

double blocks_in_grid(std::string_view grid) {
  double blocks = 1;
  int numbers = 0;
  for (const char* at = grid.data(); at < grid.data() + grid.size();) {
    if (*at < '0' || *at > '9') {
      ++at;
      continue;
    }
    int64_t size = 0;
    const auto [end, error] = std::from_chars(at, grid.data() + grid.size(), size);
    if (error != std::errc()) return std::nan("");
    blocks *= static_cast<double>(size);
    ++numbers;
    at = end;
  }
  return numbers > 0 ? blocks : std::nan("");
}

double number_in_json(std::string_view json, std::string_view name) {
  for (size_t at = json.find(name); at != std::string_view::npos; at = json.find(name, at + 1)) {
    const size_t end = at + name.size();
    if (at == 0 || json[at - 1] != '"' || end + 1 >= json.size() || json[end] != '"') continue;
    size_t value = json.find_first_not_of(": ", end + 1);
    if (value == std::string_view::npos) break;
    double number = 0;
    const auto result = std::from_chars(json.data() + value, json.data() + json.size(), number);
    return result.ec == std::errc() ? number : std::nan("");
  }
  return std::nan("");
}

void add_undescribed_gpus(const StoreReader& store, size_t rank,
                          std::vector<DeviceProperties>& devices) {
  const bool is_gpu =
      text_at(store, Table::kRanks, "device_kind", rank).find("GPU") != std::string_view::npos;
  const bool is_described = std::any_of(devices.begin(), devices.end(), [](const auto& device) {
    return device.multiprocessors > 0;
  });
  if (!is_gpu || is_described) return;
  struct Kernel {
    int64_t slice = 0;
    int64_t grid = 0;
  };
  std::map<int64_t, Kernel> first;  // by device
  for_each_row<3>(store, Table::kKernels, rank, {"id", "device", "grid"}, [&](const auto& row) {
    if (row[2] != kNull) first.try_emplace(row[1] == kNull ? 0 : row[1], Kernel{row[0], row[2]});
  });
  const auto base = static_cast<int64_t>(store.row_base(Table::kSlices, rank));
  for (const auto& [number, kernel] : first) {
    const auto args = store.args(rank, static_cast<uint64_t>(kernel.slice - base));
    if (!args.ok()) continue;
    const double multiprocessors =
        blocks_in_grid(store.string(kernel.grid)) / number_in_json(*args, "blocks per SM");
    if (!(multiprocessors >= 1 && multiprocessors < 1e6)) continue;
    auto device = std::find_if(devices.begin(), devices.end(),
                               [&](const DeviceProperties& one) { return one.device == number; });
    if (device == devices.end()) {
      device = devices.emplace(devices.end());
      device->device = number;
    }
    device->multiprocessors = std::llround(multiprocessors);
  }
}

}  // namespace stepscope
