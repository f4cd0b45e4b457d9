// Small pieces of JSON text: unescaping, quotes, event boundaries, and the repair of events that
// are not valid JSON.
#ifndef STEPSCOPE_IMPORTERS_CHROME_JSON_TEXT_H_
#define STEPSCOPE_IMPORTERS_CHROME_JSON_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace stepscope {

// The content of a raw value: without quotes when it is a string, as it is otherwise. Still
// escaped.
inline std::string_view unquote(std::string_view value) {
  return value.size() >= 2 && value.front() == '"' ? value.substr(1, value.size() - 2) : value;
}

// Replaces escapes by what they mean (UTF-8); unknown escapes are kept as they are.
std::string unescape(std::string_view text);

// Whether an event begins at text[at] == '{': the next thing is a quoted key that events have.
bool looks_like_event(std::string_view text, size_t at);
// Position of the next '{' at or after `from` that begins an event and follows "}," or "[", or
// npos.
size_t next_event_start(std::string_view text, size_t from);
// Same, searching backwards from the end; npos when there is none after position 0.
size_t last_event_start(std::string_view text);

// Rewrites one object so that it is valid JSON: quotes inside strings, raw control characters and
// stray backslashes are escaped. A quote ends a string only where the grammar can go on after it.
// Stops behind the bracket that closes the object and sets `used` to the bytes of `text` up to
// there.
std::string repair_event(std::string_view text, size_t* used = nullptr);

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_CHROME_JSON_TEXT_H_
