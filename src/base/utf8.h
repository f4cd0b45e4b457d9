// UTF-8: is it, and make it so.
#ifndef STEPSCOPE_BASE_UTF8_H_
#define STEPSCOPE_BASE_UTF8_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace stepscope {

// Bytes of the character at the start of `text` (not empty), 0 when those bytes are none.
size_t utf8_character_bytes(std::string_view text);
// ASCII, the usual case, is checked eight bytes at a time.
bool is_utf8(std::string_view text);
// Every byte that belongs to no character becomes U+FFFD.
std::string repair_utf8(std::string_view text);
// Control characters, which would break a line or steer the terminal, as escapes: \n, \t, \x1b.
// `keep_lines`: line breaks stay.
std::string visible_text(std::string_view text, bool keep_lines = false);

}  // namespace stepscope

#endif  // STEPSCOPE_BASE_UTF8_H_
