#include "base/json_text.h"

#include <charconv>
#include <cmath>
#include <cstdint>

#include "base/utf8.h"

namespace stepscope {
namespace {

constexpr int kMaxDepth = 1000;

// A recursive descent over the grammar of RFC 8259; every step moves on, so it is linear.
class Checker {
 public:
  explicit Checker(std::string_view text) : text_(text) {}

  bool whole() {
    blanks();
    if (!value(0)) return false;
    blanks();
    return at_ == text_.size();
  }

 private:
  bool more() const { return at_ < text_.size(); }
  char now() const { return more() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (now() != c || !more()) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view expected) {
    if (!text_.substr(at_).starts_with(expected)) return false;
    at_ += expected.size();
    return true;
  }
  void blanks() {
    while (now() == ' ' || now() == '\n' || now() == '\r' || now() == '\t') ++at_;
  }
  bool digits() {
    const size_t first = at_;
    while (now() >= '0' && now() <= '9') ++at_;
    return at_ > first;
  }
  bool number() {
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      return digits();
    }
    return true;
  }
  bool text() {
    if (!take('"')) return false;
    while (more()) {
      const char c = text_[at_++];
      if (c == '"') return true;
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c == '\\' && !escape()) return false;
    }
    return false;
  }
  bool escape() {
    if (!more()) return false;
    const char c = text_[at_++];
    if (c != 'u') return std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos;
    for (int i = 0; i < 4; ++i) {
      const char digit = now();
      const bool hex = (digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f') ||
                       (digit >= 'A' && digit <= 'F');
      if (!hex) return false;
      ++at_;
    }
    return true;
  }
  bool list(char close, bool keys, int depth) {
    blanks();
    if (take(close)) return true;
    while (true) {
      blanks();
      if (keys) {
        if (!text()) return false;
        blanks();
        if (!take(':')) return false;
        blanks();
      }
      if (!value(depth)) return false;
      blanks();
      if (take(close)) return true;
      if (!take(',')) return false;
    }
  }
  bool value(int depth) {
    if (depth > kMaxDepth) return false;
    switch (now()) {
      case '{':
        ++at_;
        return list('}', true, depth + 1);
      case '[':
        ++at_;
        return list(']', false, depth + 1);
      case '"':
        return text();
      case 't':
        return word("true");
      case 'f':
        return word("false");
      case 'n':
        return word("null");
      default:
        return number();
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

void append_json_text(std::string& out, std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  if (!is_utf8(text)) {
    append_json_text(out, repair_utf8(text));
    return;
  }
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20) {
          out += c;
        } else {
          out += "\\u00";
          out += kDigits[static_cast<unsigned char>(c) >> 4];
          out += kDigits[static_cast<unsigned char>(c) & 15];
        }
    }
  }
  out += '"';
}

void append_json_number(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  char buffer[64];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

bool is_json(std::string_view text) { return is_utf8(text) && Checker(text).whole(); }

std::string& JsonObject::begin_field(std::string_view name) {
  if (text_.size() > 1) text_ += ',';
  append_json_text(text_, name);
  text_ += ':';
  return text_;
}

JsonObject& JsonObject::add(std::string_view name, int64_t value) {
  begin_field(name) += std::to_string(value);
  return *this;
}

JsonObject& JsonObject::add(std::string_view name, double value) {
  append_json_number(begin_field(name), value);
  return *this;
}

JsonObject& JsonObject::add(std::string_view name, std::string_view text) {
  append_json_text(begin_field(name), text);
  return *this;
}

JsonObject& JsonObject::add(std::string_view name, const std::vector<std::string>& texts) {
  std::string& out = begin_field(name);
  append_json_texts(out, texts);
  return *this;
}

void append_json_texts(std::string& out, const std::vector<std::string>& texts) {
  out += '[';
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) out += ',';
    append_json_text(out, texts[i]);
  }
  out += ']';
}

}  // namespace stepscope
