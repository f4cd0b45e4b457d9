// JSON documents as trees: settings, metadata, summaries, requests and answers. Traces are not read
// this way: see importers/chrome/.
//
// The one place that instantiates the library's parser and serializer. A file that does so itself
// takes twice as long to compile, and has to think of the bounds.
#ifndef STEPSCOPE_JSON_JSON_TREE_H_
#define STEPSCOPE_JSON_JSON_TREE_H_

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace stepscope {

// The value that the text is; `is_discarded()` where it is none, or nested more than 100 deep (the
// library's own functions recurse). Never throws. Ordered: keys stay in the order of the text.
nlohmann::json json_tree(std::string_view text);
nlohmann::ordered_json ordered_json_tree(std::string_view text);

// The same with an error that names the file. Comments are skipped; bare NaN and Infinity, which
// some writers emit, are read as null.
Result<nlohmann::json> parse_json(std::string_view text, const std::string& path);
// Of at most 256 MiB.
Result<nlohmann::json> read_json_file(const std::string& path);

// In one line, or with `indent` spaces a level. Bytes that are no UTF-8 become U+FFFD.
std::string write_json(const nlohmann::json& tree, int indent = -1);
std::string write_json(const nlohmann::ordered_json& tree, int indent = -1);

}  // namespace stepscope

#endif  // STEPSCOPE_JSON_JSON_TREE_H_
