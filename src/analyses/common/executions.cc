#include "analyses/common/executions.h"

#include <nlohmann/json.hpp>

#include "json/json_members.h"
#include "json/json_tree.h"

namespace stepscope {

std::string executions_line(const StoreReader& store) {
  return text_in(json_tree(store.run_info_json()), "executions");
}

}  // namespace stepscope
