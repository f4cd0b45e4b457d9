// Text of other programs is not always UTF-8, but everything that leaves a store (SQL, JSON,
// Python) must be.
#ifndef STEPSCOPE_BASE_UTF8_H_
#define STEPSCOPE_BASE_UTF8_H_

#include <string>
#include <string_view>

namespace stepscope {

// Overlong forms, surrogates and codes above U+10FFFF are invalid. About 0.1 ns a byte for ASCII.
bool is_valid_utf8(std::string_view text);

// The text with every byte that cannot be read replaced by U+FFFD; equal to `text` when it is
// valid.
std::string to_valid_utf8(std::string_view text);

}  // namespace stepscope

#endif  // STEPSCOPE_BASE_UTF8_H_
