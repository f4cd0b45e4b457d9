// libstepscope_nvtx.so: torch's operators without a C++ compiler, where ITT is not to be had.
//
// Programs that use NVTX load the library named in NVTX_INJECTION64_PATH at their first NVTX call
// and let it put its own functions in. torch makes such calls for every operator when asked to,
// with a text like "aten::mm, op_id = 7, sizes = [[2, 3], [3, 4]]": names, nesting and shapes. What
// else the program calls NVTX for is recorded as the user's ranges. Works without a GPU. Cost:
// twice that of the callbacks built against torch, because the text is made and taken apart each
// time.
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stepscope/record.h"

namespace {

// NVTX's binary interface: a module's table has the addresses of its function pointers.
using Function = void (*)();
struct ExportTable {
  size_t bytes;
  int (*functions_of)(uint32_t module, Function*** table, uint32_t* count);
};
using GetExportTable = const void* (*)(uint32_t id);
constexpr uint32_t kCallbacksTable = 1;
constexpr uint32_t kCoreModule = 1;
constexpr uint32_t kRangePush = 9;
constexpr uint32_t kRangePop = 11;

constexpr size_t kMostNames = 50000;  // for each thread
constexpr size_t kDeepest = 1000;     // a range that is never popped stays open

struct OpenRange {
  uint64_t start = 0;  // 0: nothing recorded when it began
  uint32_t name = 0;
  uint32_t args = 0;
  uint32_t kind = STEPSCOPE_USER;
};

struct ThreadRanges {
  std::vector<OpenRange> open;
  uint64_t too_deep = 0;  // open above those
  std::unordered_map<std::string, uint32_t> names;

  uint32_t id(std::string_view text) {
    std::string key(text);
    const auto known = names.find(key);
    if (known != names.end()) return known->second;
    if (names.size() >= kMostNames) names.clear();
    const uint32_t id = stepscope_name(text.data(), text.size());
    names.emplace(std::move(key), id);
    return id;
  }
};

ThreadRanges& this_thread() {
  thread_local ThreadRanges ranges;
  return ranges;
}

// The list behind `key` with its brackets; empty when there is none.
std::string_view list_behind(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  const std::string_view list = text.substr(at + key.size());
  int depth = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    depth += (list[i] == '[') - (list[i] == ']');
    if (depth == 0) return list[i] == ']' ? list.substr(0, i + 1) : std::string_view();
  }
  return {};
}

void open_range(ThreadRanges& thread, std::string_view text) {
  if (thread.open.size() >= kDeepest) {  // its end must not end another
    ++thread.too_deep;
    return;
  }
  OpenRange range;
  if (stepscope_is_recording()) {
    size_t name_ends = text.find(", op_id = ");
    if (name_ends != std::string_view::npos) {
      range.kind = STEPSCOPE_OPERATOR;
      name_ends = std::min(name_ends, text.find(", seq = "));
      const std::string_view sizes = list_behind(text, ", sizes = ");
      if (!sizes.empty()) range.args = thread.id("{\"Input Dims\":" + std::string(sizes) + "}");
    }
    range.name = thread.id(text.substr(0, name_ends));
    range.start = stepscope_ticks();
  }
  thread.open.push_back(range);
}

extern "C" {

int stepscope_nvtx_push(const char* text) try {
  open_range(this_thread(), text == nullptr ? "" : text);
  return static_cast<int>(this_thread().open.size() + this_thread().too_deep) - 1;
} catch (const std::exception&) {  // without memory there is no range
  return -1;
}

int stepscope_nvtx_pop() {
  const uint64_t now = stepscope_ticks();
  ThreadRanges& thread = this_thread();
  auto& open = thread.open;
  if (thread.too_deep > 0) {
    --thread.too_deep;
    return static_cast<int>(open.size() + thread.too_deep);
  }
  if (open.empty()) return -1;
  const OpenRange range = open.back();
  open.pop_back();
  if (range.start != 0 && stepscope_is_recording()) {
    stepscope_put(range.start, now - range.start,
                  range.args == 0 ? range.kind : range.kind | STEPSCOPE_VALUES, range.name,
                  range.args, 0);
  }
  return static_cast<int>(open.size());
}

// NVTX's entry point: 1 is success.
STEPSCOPE_API int InitializeInjectionNvtx2(GetExportTable get_export_table) {
  const auto* const exports = static_cast<const ExportTable*>(get_export_table(kCallbacksTable));
  Function** table = nullptr;
  uint32_t count = 0;
  if (exports == nullptr || exports->bytes < sizeof(ExportTable) ||
      exports->functions_of(kCoreModule, &table, &count) == 0 || count <= kRangePop) {
    return 0;
  }
  *table[kRangePush] = reinterpret_cast<Function>(stepscope_nvtx_push);
  *table[kRangePop] = reinterpret_cast<Function>(stepscope_nvtx_pop);
  return 1;
}

}  // extern "C"

}  // namespace
