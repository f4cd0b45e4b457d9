// Small JSON files (metadata, settings, summaries) as a tree. Traces are not read this way: see
// chrome/.
#ifndef STEPSCOPE_IMPORTERS_COMMON_JSON_FILE_H_
#define STEPSCOPE_IMPORTERS_COMMON_JSON_FILE_H_

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace stepscope {

// Bounded in size (256 MiB) and depth (100); never throws. Bare NaN and Infinity are read as null.
Result<nlohmann::json> read_json_file(const std::string& path);
Result<nlohmann::json> parse_json(std::string_view text, const std::string& path);

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_COMMON_JSON_FILE_H_
