// Numbers as the files of profilers have them.
#ifndef STEPSCOPE_DELIVERABLES_NUMBER_TEXT_H_
#define STEPSCOPE_DELIVERABLES_NUMBER_TEXT_H_

#include <charconv>
#include <cstdint>
#include <string>

namespace stepscope {

inline void append_integer(std::string& out, int64_t value) {
  char buffer[24];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

// Nanoseconds as microseconds with exactly three decimals.
inline void append_us(std::string& out, int64_t ns) {
  const uint64_t size = ns < 0 ? 0 - static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
  if (ns < 0) out += '-';
  append_integer(out, static_cast<int64_t>(size / 1000));
  const auto rest = static_cast<unsigned>(size % 1000);
  out += '.';
  out += static_cast<char>('0' + rest / 100);
  out += static_cast<char>('0' + rest / 10 % 10);
  out += static_cast<char>('0' + rest % 10);
}

// With that many decimals at most.
inline void append_rounded(std::string& out, double value, int decimals) {
  char buffer[400];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, decimals).ptr;
  std::string_view text(buffer, static_cast<size_t>(end - buffer));
  if (text.find('.') != std::string_view::npos) {
    while (text.back() == '0') text.remove_suffix(1);
    if (text.back() == '.') text.remove_suffix(1);
  }
  out += text;
}

}  // namespace stepscope

#endif  // STEPSCOPE_DELIVERABLES_NUMBER_TEXT_H_
