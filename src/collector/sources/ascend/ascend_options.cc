#include "collector/sources/ascend/ascend_options.h"

#include "stepscope/record.h"

namespace stepscope::ascend {
namespace {

uint64_t of_level(Level level) {
  constexpr uint64_t k1 = kTaskTime | kAclApi | kHcclTrace | kAicoreMetrics;
  switch (level) {
    case Level::kNone:
      return 0;
    case Level::k0:
      return kTaskTimeLevel0 | kAclApi;
    case Level::k1:
      return k1;
    case Level::k2:
      return k1 | kAicpu | kRuntimeApi;
  }
  return kTaskTimeLevel0 | kAclApi;  // MindSpore's answer to a level that it does not know
}

}  // namespace

uint64_t data_types(const AscendOptions& options) {
  uint64_t types = of_level(options.level);
  if (options.metrics != kNoMetrics) types |= kAicoreMetrics;
  if ((options.data & STEPSCOPE_NPU_L2_CACHE) != 0) types |= kL2Cache;
  if ((options.data & STEPSCOPE_NPU_MEMORY) != 0) types |= kTaskMemory;
  if ((options.data & STEPSCOPE_NPU_MSTX) != 0) types |= kMstx;
  return types;
}

// The frequencies are MindSpore's, the highest that CANN takes but for the links.
std::vector<Value> device_settings(const AscendOptions& options) {
  std::vector<Value> values;
  const auto has = [&](uint32_t bit) { return (options.data & bit) != 0; };
  if (has(STEPSCOPE_NPU_MEMORY | STEPSCOPE_NPU_HBM_DDR)) {
    values.push_back(
        {kHardwareMemoryHertz, "100", has(STEPSCOPE_NPU_HBM_DDR) ? "hbm_ddr" : "profile_memory"});
  }
  if (has(STEPSCOPE_NPU_IO)) values.push_back({kIoHertz, "100", "sys_io"});
  if (has(STEPSCOPE_NPU_INTERCONNECTION | STEPSCOPE_NPU_PCIE)) {
    values.push_back({kInterconnectionHertz, "50",
                      has(STEPSCOPE_NPU_INTERCONNECTION) ? "sys_interconnection" : "pcie"});
  }
  return values;
}

std::vector<Value> host_settings(const AscendOptions& options) {
  constexpr struct {
    uint32_t bit;
    const char* word;
  } kGroups[] = {{STEPSCOPE_NPU_HOST_CPU, "cpu"},
                 {STEPSCOPE_NPU_HOST_MEMORY, "mem"},
                 {STEPSCOPE_NPU_HOST_DISK, "disk"},
                 {STEPSCOPE_NPU_HOST_NETWORK, "network"},
                 {STEPSCOPE_NPU_HOST_OSRT, "osrt"}};
  std::string text;
  for (const auto& group : kGroups) {
    if ((options.data & group.bit) == 0) continue;
    if (!text.empty()) text += ',';
    text += group.word;
  }
  if (text.empty()) return {};
  return {{kHostSystem, text, "host_sys"}};
}

const char* level_name(Level level) {
  constexpr const char* kNames[] = {"LevelNone", "Level0", "Level1", "Level2"};
  const auto number = static_cast<uint32_t>(level);
  return number >= 1 && number <= 4 ? kNames[number - 1] : "Level0";
}

}  // namespace stepscope::ascend
