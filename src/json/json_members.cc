#include "json/json_members.h"

#include <limits>

namespace stepscope {
namespace {

// Null where there is none.
template <typename Tree>
const Tree* member(const Tree& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

template <typename Tree>
std::string text_member(const Tree& object, const char* key) {
  const Tree* found = member(object, key);
  return found != nullptr && found->is_string() ? found->template get<std::string>()
                                                : std::string();
}

template <typename Tree>
int64_t integer_member(const Tree& object, const char* key, int64_t otherwise) {
  const Tree* found = member(object, key);
  if (found == nullptr || !found->is_number_integer()) return otherwise;
  const bool fits =
      !found->is_number_unsigned() ||
      found->template get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  return fits ? found->template get<int64_t>() : otherwise;
}

template <typename Tree>
double number_member(const Tree& object, const char* key, double otherwise) {
  const Tree* found = member(object, key);
  return found != nullptr && found->is_number() ? found->template get<double>() : otherwise;
}

}  // namespace

std::string text_in(const nlohmann::json& object, const char* key) {
  return text_member(object, key);
}
std::string text_in(const nlohmann::ordered_json& object, const char* key) {
  return text_member(object, key);
}
int64_t integer_in(const nlohmann::json& object, const char* key, int64_t otherwise) {
  return integer_member(object, key, otherwise);
}
int64_t integer_in(const nlohmann::ordered_json& object, const char* key, int64_t otherwise) {
  return integer_member(object, key, otherwise);
}
double number_in(const nlohmann::json& object, const char* key, double otherwise) {
  return number_member(object, key, otherwise);
}
double number_in(const nlohmann::ordered_json& object, const char* key, double otherwise) {
  return number_member(object, key, otherwise);
}

}  // namespace stepscope
