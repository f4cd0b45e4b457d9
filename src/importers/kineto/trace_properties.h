// What a Kineto trace says about itself outside its events: device, job, versions, time base.
#ifndef STEPSCOPE_IMPORTERS_KINETO_TRACE_PROPERTIES_H_
#define STEPSCOPE_IMPORTERS_KINETO_TRACE_PROPERTIES_H_

#include <nlohmann/json_fwd.hpp>

#include "store/rank_builder.h"

namespace stepscope {

// Fills rank.info from the top-level object. Keys it does not know are kept in versions_json.
void apply_properties(const nlohmann::json& properties, RankBuilder& rank);

// Names the kind of device from the categories and properties when the trace does not.
void describe_device(RankBuilder& rank);

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_KINETO_TRACE_PROPERTIES_H_
