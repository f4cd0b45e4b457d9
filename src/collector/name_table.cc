#include "collector/name_table.h"

#include <vector>

namespace stepscope {
namespace {

constexpr size_t kMostNames = 1 << 20;
constexpr size_t kMostTextMebibytes = 64;
constexpr size_t kLongestName = 16384;  // stacks and shapes fit; a dumped tensor does not

}  // namespace

NameTable::NameTable() : too_many_(names_.intern("(too many names)")) {}

uint32_t NameTable::intern(std::string_view text) {
  if (text.size() > kLongestName) {
    text = text.substr(0, kLongestName);
    lost_.fetch_add(1, std::memory_order_relaxed);
  }
  const std::lock_guard lock(mutex_);
  if (names_.size() >= kMostNames || names_.text_bytes() >= kMostTextMebibytes << 20) {
    const StringId known = names_.find(text);
    if (known != kNoString) return known;
    lost_.fetch_add(1, std::memory_order_relaxed);
    return too_many_;
  }
  return names_.intern(text);
}

std::string NameTable::how_lost(uint64_t count) {
  return std::to_string(count) + " names were cut at " + std::to_string(kLongestName) +
         " bytes, or are called (too many names): a process has " + std::to_string(kMostNames) +
         " of them, of " + std::to_string(kMostTextMebibytes) +
         " MiB, at most; give ranges that do the same the same name";
}

uint32_t NameTable::visit_from(uint32_t first,
                               const std::function<void(uint32_t, std::string_view)>& visit) {
  std::vector<std::string_view> added;
  {
    const std::lock_guard lock(mutex_);
    for (uint32_t id = first; id < names_.size(); ++id) added.push_back(names_.view(id));
  }
  for (size_t at = 0; at < added.size(); ++at) visit(first + static_cast<uint32_t>(at), added[at]);
  return first + static_cast<uint32_t>(added.size());
}

}  // namespace stepscope
