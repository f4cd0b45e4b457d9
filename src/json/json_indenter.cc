#include "json/json_indenter.h"

#include <algorithm>

namespace stepscope {

std::string_view JsonIndenter::indent(std::string_view piece) {
  constexpr std::string_view kSpace = " \t\r\n";
  out_.clear();
  for (const char c : piece) {
    if (in_text_) {
      out_ += c;
      if (escaped_) {
        escaped_ = false;
      } else if (c == '\\') {
        escaped_ = true;
      } else if (c == '"') {
        in_text_ = false;
      }
      continue;
    }
    if (kSpace.find(c) != std::string_view::npos) continue;
    const bool closes = c == '}' || c == ']';
    if (closes && depth_ > 0) --depth_;
    if (closes != just_open_) new_line();  // before the first of several, and behind the last
    just_open_ = c == '{' || c == '[';
    if (just_open_) ++depth_;
    in_text_ = c == '"';
    out_ += c;
    if (c == ',') new_line();
    if (c == ':') out_ += ' ';
  }
  return out_;
}

void JsonIndenter::new_line() {
  out_ += '\n';
  out_.append(std::min(depth_, kDeepest) * 4, ' ');
}

}  // namespace stepscope
