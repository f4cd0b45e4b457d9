// Writing JSON without a document in memory, and checking text that claims to be JSON.
#ifndef STEPSCOPE_BASE_JSON_TEXT_H_
#define STEPSCOPE_BASE_JSON_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope {

// "text" with everything escaped that JSON wants escaped; bytes that are no UTF-8 become U+FFFD.
void append_json_text(std::string& out, std::string_view text);
void append_json_texts(std::string& out, const std::vector<std::string>& texts);
// Shortest text that reads back as the same number; null for NaN and the infinities.
void append_json_number(std::string& out, double value);
// Whether the text is one JSON value and nothing else. Nesting is limited to 1,000 levels.
bool is_json(std::string_view text);

// A flat object, field by field.
class JsonObject {
 public:
  JsonObject& add(std::string_view name, int64_t value);
  JsonObject& add(std::string_view name, double value);
  JsonObject& add(std::string_view name, std::string_view text);
  JsonObject& add(std::string_view name, const std::vector<std::string>& texts);
  std::string text() const { return text_ + "}"; }

 private:
  std::string& begin_field(std::string_view name);
  std::string text_ = "{";
};

}  // namespace stepscope

#endif  // STEPSCOPE_BASE_JSON_TEXT_H_
