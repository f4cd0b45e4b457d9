#include "importers/chrome/json_text.h"

#include <cstdint>
#include <cstdio>

namespace stepscope {
namespace {

// Unlike strchr, never true for the byte 0.
bool is_one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Four hex digits at text[at], or -1.
int code_unit(std::string_view text, size_t at) {
  if (at + 4 > text.size()) return -1;
  int unit = 0;
  for (size_t i = at; i < at + 4; ++i) {
    const int digit = hex_value(text[i]);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

void append_utf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

size_t skip_blank(std::string_view text, size_t at) {
  while (at < text.size() && is_blank(text[at])) ++at;
  return at;
}

// Whether '{' at `at` can be the start of a list element: it follows "}," or "[" or begins the
// text. `after_any`: any text may stand before the comma.
bool follows_event(std::string_view text, size_t at, bool after_any) {
  size_t before = at;
  while (before > 0 && is_blank(text[before - 1])) --before;
  if (before == 0 || text[before - 1] == '[') return true;
  if (text[--before] != ',') return false;
  if (after_any) return true;
  while (before > 0 && is_blank(text[before - 1])) --before;
  return before == 0 || text[before - 1] == '}';
}

// Whether a quote at text[at] can close a string: what comes next must continue the object or list.
bool closes_string(std::string_view text, size_t at) {
  const size_t next = skip_blank(text, at + 1);
  if (next >= text.size()) return true;
  const char c = text[next];
  if (c == ':' || c == '}' || c == ']') return true;
  if (c != ',') return false;
  const size_t value = skip_blank(text, next + 1);
  if (value >= text.size()) return true;
  return is_one_of(text[value], "\"{[}]-0123456789tfnNI");
}

}  // namespace

std::string unescape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 >= text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    switch (c) {
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case 'r':
        out += '\r';
        break;
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case '"':
      case '\\':
      case '/':
        out += c;
        break;
      case 'u': {
        const int unit = code_unit(text, i + 1);
        if (unit < 0) {
          out += "\\u";
          break;
        }
        auto code = static_cast<uint32_t>(unit);
        i += 4;
        const int low = i + 6 < text.size() && text[i + 1] == '\\' && text[i + 2] == 'u'
                            ? code_unit(text, i + 3)
                            : -1;
        if (code >= 0xD800 && code < 0xDC00 && low >= 0xDC00 && low < 0xE000) {
          code = 0x10000 + ((code - 0xD800) << 10) + (static_cast<uint32_t>(low) - 0xDC00);
          i += 6;
        }
        append_utf8(out, code >= 0xD800 && code < 0xE000 ? 0xFFFD : code);
        break;
      }
      default:
        out += '\\';
        out += c;
    }
  }
  return out;
}

bool looks_like_event(std::string_view text, size_t at) {
  const size_t quote = skip_blank(text, at + 1);
  if (quote >= text.size() || text[quote] != '"') return false;
  const std::string_view rest = text.substr(quote + 1, 8);
  for (const std::string_view key : {"ph\"", "name\"", "cat\"", "pid\"", "tid\"", "ts\"", "dur\"",
                                     "args\"", "id\"", "bp\"", "s\""}) {
    if (rest.starts_with(key)) return true;
  }
  return false;
}

size_t next_event_start(std::string_view text, size_t from) {
  for (size_t at = text.find('{', from); at != std::string_view::npos;
       at = text.find('{', at + 1)) {
    // "ph" is a word of events alone: behind a lost bracket it is enough.
    const bool is_sure = text.substr(skip_blank(text, at + 1), 4) == "\"ph\"";
    if (looks_like_event(text, at) && follows_event(text, at, is_sure)) return at;
  }
  return std::string_view::npos;
}

size_t last_event_start(std::string_view text) {
  for (size_t at = text.rfind('{'); at != std::string_view::npos && at > 0;
       at = text.rfind('{', at - 1)) {
    if (looks_like_event(text, at) && follows_event(text, at, false)) return at;
  }
  return std::string_view::npos;
}

std::string repair_event(std::string_view text, size_t* used) {
  std::string out;
  out.reserve(text.size() + 16);
  bool in_string = false;
  size_t depth = 0;
  if (used != nullptr) *used = text.size();
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!in_string) {
      in_string = c == '"';
      out += c;
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && (depth == 0 || --depth == 0)) {
        if (used != nullptr) *used = i + 1;
        break;
      }
      continue;
    }
    if (c == '"') {
      if (closes_string(text, i))
        in_string = false;
      else
        out += '\\';
      out += c;
    } else if (c == '\\') {
      const char next = i + 1 < text.size() ? text[i + 1] : '\0';
      const bool valid = is_one_of(next, "\"\\/bfnrtu");
      // A backslash before the quote that ends the string is a stray one (a Windows path), not an
      // escape.
      if (valid && !(next == '"' && closes_string(text, i + 1))) {
        out += c;
        out += next;
        ++i;
      } else {
        out += "\\\\";
      }
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c) & 0xFF);
      out += escape;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace stepscope
