#include "analyses/common/module_names.h"

namespace stepscope {
namespace {

constexpr std::string_view kPrefix = "nn.Module: ";
constexpr std::string_view kCategory = "module";

}  // namespace

ModuleNames::ModuleNames(const StoreReader& store) : store_(store) {
  // Both contain the category's word, as the search, which ignores case, finds it.
  for (const StringId id : store.find_strings(kCategory)) {
    const std::string_view text = store.string(id);
    has_prefix_ = has_prefix_ || text.starts_with(kPrefix);
    if (text == kCategory) category_ = id;
  }
}

bool ModuleNames::is_module(int64_t name, int64_t category) {
  if (category_ != kNull && category == category_) return true;
  if (!has_prefix_) return false;
  if (name != last_) {
    last_ = name;
    last_has_prefix_ = store_.string(name).starts_with(kPrefix);
  }
  return last_has_prefix_;
}

std::string_view ModuleNames::label(int64_t name) const {
  const std::string_view text = store_.string(name);
  return text.starts_with(kPrefix) ? text.substr(kPrefix.size()) : text;
}

}  // namespace stepscope
