// Members of JSON objects that somebody else wrote.
#ifndef STEPSCOPE_JSON_JSON_MEMBERS_H_
#define STEPSCOPE_JSON_JSON_MEMBERS_H_

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

namespace stepscope {

// Members of an object by their kind. "" or `otherwise` where the tree is no object, has no such
// member, or it is of another kind (for integers also: does not fit).
std::string text_in(const nlohmann::json& object, const char* key);
std::string text_in(const nlohmann::ordered_json& object, const char* key);
int64_t integer_in(const nlohmann::json& object, const char* key, int64_t otherwise);
int64_t integer_in(const nlohmann::ordered_json& object, const char* key, int64_t otherwise);
double number_in(const nlohmann::json& object, const char* key, double otherwise);
double number_in(const nlohmann::ordered_json& object, const char* key, double otherwise);

}  // namespace stepscope

#endif  // STEPSCOPE_JSON_JSON_MEMBERS_H_
