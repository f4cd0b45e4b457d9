// libstepscope_itt.so: torch's operators without a C++ compiler on the user's machine.
//
// torch calls Intel's tracing interface (ITT) when asked to (emit_itt), and that loads the library
// named in INTEL_LIBITTNOTIFY64 and looks up the functions below by their names. They get the names
// and nesting of operators; shapes, sequence numbers and threads of forward operators do not pass
// through this interface. Cost: a third more than the callbacks built against torch.
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <unordered_map>
#include <vector>

#include "stepscope/record.h"

// Two structures and a number that ITT's callers know the layout of.
struct __itt_domain {  // NOLINT(bugprone-reserved-identifier): the interface's names
  volatile int flags;  // callers skip domains with 0
  const char* name;
  const void* wide_name;
  int extra1;
  void* extra2;
  __itt_domain* next;
};

struct __itt_string_handle {  // NOLINT(bugprone-reserved-identifier)
  const char* text;
  const void* wide_text;
  int name;  // unused by callers; here Stepscope's id of the name
  void* extra2;
  __itt_string_handle* next;
};

struct __itt_id {  // NOLINT(bugprone-reserved-identifier)
  unsigned long long parts[3];
};

namespace {

constexpr char kTorchDomain[] = "PyTorch";
constexpr size_t kMostNames = 50000;  // for each thread

struct OpenTask {
  uint64_t start;  // 0: nothing recorded when it began
  uint32_t name;
};

struct ThreadTasks {
  std::vector<OpenTask> open;
  std::unordered_map<std::string, __itt_string_handle> handles;
};

ThreadTasks& thread_tasks() {
  thread_local ThreadTasks tasks;
  return tasks;
}

__itt_string_handle no_name{"", nullptr, 0, nullptr, nullptr};

}  // namespace

extern "C" {

// Its presence says: look up the functions by name.
STEPSCOPE_API const char* __itt_api_version() { return "3.0"; }  // NOLINT

// oneDNN has domains too; its primitives would double what torch's operators show.
STEPSCOPE_API __itt_domain* __itt_domain_create(const char* name) {  // NOLINT
  auto* const domain = new __itt_domain{0, name, nullptr, 0, nullptr, nullptr};
  domain->flags = name != nullptr && std::strcmp(name, kTorchDomain) == 0 ? 1 : 0;
  return domain;  // for as long as the process lives
}

// Called for every operator. The handle is valid until this thread has seen kMostNames others.
STEPSCOPE_API __itt_string_handle* __itt_string_handle_create(const char* text) try {  // NOLINT
  auto& handles = thread_tasks().handles;
  const auto found = handles.find(text);
  if (found != handles.end()) return &found->second;
  if (handles.size() >= kMostNames) handles.clear();
  const auto entry = handles.try_emplace(text).first;
  entry->second.text = entry->first.c_str();
  entry->second.name = static_cast<int>(stepscope_name(text, entry->first.size()));
  return &entry->second;
} catch (const std::exception&) {
  return &no_name;
}

STEPSCOPE_API void __itt_task_begin(const __itt_domain* domain, __itt_id, __itt_id,  // NOLINT
                                    __itt_string_handle* handle) try {
  if (domain == nullptr || domain->flags == 0 || handle == nullptr) return;
  auto& open = thread_tasks().open;
  open.push_back({0, static_cast<uint32_t>(handle->name)});
  if (stepscope_is_recording()) open.back().start = stepscope_ticks();
} catch (const std::exception&) {  // without memory there is no range
}

STEPSCOPE_API void __itt_task_end(const __itt_domain* domain) {  // NOLINT
  const uint64_t now = stepscope_ticks();
  if (domain == nullptr || domain->flags == 0) return;
  auto& open = thread_tasks().open;
  if (open.empty()) return;
  const OpenTask task = open.back();
  open.pop_back();
  if (task.start != 0 && stepscope_is_recording())
    stepscope_put(task.start, now - task.start, STEPSCOPE_OPERATOR, task.name, 0, 0);
}

}  // extern "C"
