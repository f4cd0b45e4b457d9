#include "deliverables/recording_form.h"

#include <initializer_list>
#include <string_view>

#include <nlohmann/json.hpp>

#include "analyses/common/rank_rows.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

using Json = nlohmann::json;

// The value below these keys, nullptr when there is none.
const Json* value_in(const Json& tree, std::initializer_list<const char*> keys) {
  const Json* at = &tree;
  for (const char* key : keys) {
    if (!at->is_object()) return nullptr;
    const auto found = at->find(key);
    if (found == at->end()) return nullptr;
    at = &*found;
  }
  return at;
}

bool is_text(const Json* value, std::string_view text) {
  return value != nullptr && value->is_string() && value->get_ref<const std::string&>() == text;
}

bool ran_mindspore(const StoreReader& store, size_t rank, const Json& versions, bool is_npu) {
  const std::string_view format = text_at(store, Table::kRanks, "source_format", rank);
  // Our own run folders have the name of MindSpore's, whatever ran; without its note only the
  // device tells.
  if (format == "native") return is_npu || value_in(versions, {"metadata", "mindspore"}) != nullptr;
  return format == "mindspore_raw" ||
         text_at(store, Table::kRanks, "source_path", rank).find("_ascend_ms") !=
             std::string_view::npos;
}

}  // namespace

RecordingForm recording_form(const StoreReader& store, size_t rank) {
  const Json versions = json_tree(text_at(store, Table::kRanks, "versions", rank));
  RecordingForm form;
  form.is_npu = text_at(store, Table::kRanks, "device_kind", rank) == "Ascend NPU";
  form.is_mindspore = ran_mindspore(store, rank, versions, form.is_npu);
  for (const Json* level :
       {value_in(versions, {"config", "experimental_config", "_profiler_level"}),
        value_in(versions, {"profiler_parameters", "profiler_level"}),
        value_in(versions, {"metadata", "parameters", "profiler_level"})}) {
    form.is_level0 |= form.is_npu && is_text(level, "Level0");
  }
  form.sinks_graphs = form.is_mindspore && is_text(value_in(versions, {"jit_level"}), "O2");
  for_each_row<1>(store, Table::kSteps, rank, {"source"}, [&](const auto& row) {
    form.has_marked_steps |= store.string(row[0]) == "marked";
  });
  return form;
}

}  // namespace stepscope
