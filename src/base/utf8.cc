#include "base/utf8.h"

#include <cstdint>
#include <cstring>

namespace stepscope {
namespace {

// Length of the character at text[at], 0 when it is not one.
size_t character_length(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto follows = [&](size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned first = byte(at);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return follows(at + 1) ? 2 : 0;
  if (first >= 0xE0 && first < 0xF0) {
    if (!follows(at + 1) || !follows(at + 2)) return 0;
    const unsigned second = byte(at + 1);
    const bool overlong = first == 0xE0 && second < 0xA0;
    const bool surrogate = first == 0xED && second >= 0xA0;
    return overlong || surrogate ? 0 : 3;
  }
  if (first >= 0xF0 && first < 0xF5) {
    if (!follows(at + 1) || !follows(at + 2) || !follows(at + 3)) return 0;
    const unsigned second = byte(at + 1);
    const bool overlong = first == 0xF0 && second < 0x90;
    const bool too_large = first == 0xF4 && second >= 0x90;
    return overlong || too_large ? 0 : 4;
  }
  return 0;
}

// Position of the first byte that is not part of a character, or the end.
size_t valid_prefix(std::string_view text, size_t at) {
  while (at < text.size()) {
    if (at + 8 <= text.size()) {
      uint64_t word;
      std::memcpy(&word, text.data() + at, sizeof word);
      if ((word & 0x8080808080808080ull) == 0) {
        at += 8;
        continue;
      }
    }
    const size_t length = character_length(text, at);
    if (length == 0) return at;
    at += length;
  }
  return at;
}

}  // namespace

bool is_valid_utf8(std::string_view text) { return valid_prefix(text, 0) == text.size(); }

std::string to_valid_utf8(std::string_view text) {
  std::string out;
  size_t at = 0;
  while (true) {
    const size_t bad = valid_prefix(text, at);
    out += text.substr(at, bad - at);
    if (bad == text.size()) return out;
    out += "\xEF\xBF\xBD";
    at = bad + 1;
  }
}

}  // namespace stepscope
