#include "deliverables/report/short_name.h"

#include <algorithm>
#include <vector>

namespace stepscope {
namespace {

constexpr int kDeepest = 50;  // names come from files

bool is_continuation(char c) { return (c & 0xC0) == 0x80; }

// Says little about what a kernel does.
bool is_filler(std::string_view argument) {
  static constexpr std::string_view kTypes[] = {
      "",     "float", "double", "int",          "long",          "long long", "short",
      "char", "char*", "bool",   "unsigned int", "unsigned long", "true",      "false"};
  static constexpr std::string_view kTemplates[] = {
      "array<",        "OffsetCalculator<", "TrivialOffsetCalculator<", "LoadWithCast<",
      "LoadWithoutCa", "StoreWithCast<",    "StoreWithoutCa",           "integral_constant<"};
  if (std::find(std::begin(kTypes), std::end(kTypes), argument) != std::end(kTypes)) return true;
  if (argument.find_first_not_of("0123456789ul-") == std::string_view::npos) return true;
  return std::any_of(std::begin(kTemplates), std::end(kTemplates),
                     [&](std::string_view one) { return argument.starts_with(one); });
}

// Reads a demangled C++ name once, from left to right.
class CppName {
 public:
  explicit CppName(std::string_view text) : text_(text) {}

  // "" if it is not understood.
  std::string short_form() {
    std::string name = component(0);
    const bool is_name =
        !name.empty() && std::string_view("<>(){}:, ").find(name.front()) == std::string_view::npos;
    return failed_ || !is_name || at_ != text_.size() ? "" : name;
  }

 private:
  // To the next `,` or `>` that is not inside of something: the last part of a qualified name, or
  // the function that a lambda is in.
  std::string component(int depth) {
    std::string name;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ',' || c == '>') break;
      if (text_.substr(at_).starts_with("::")) {
        name.clear();
        at_ += 2;
      } else if (c == '<') {
        name += arguments(depth + 1);
      } else if (c == '(') {
        skip_group();
        if (!name.empty()) skip_rest();
      } else {
        name += c;
        ++at_;
      }
      if (failed_) return {};
    }
    if (depth == 0 && name.starts_with("void ")) name.erase(0, 5);
    const size_t first = std::min(name.find_first_not_of(' '), name.size());
    name.erase(0, first);
    while (name.ends_with(' ')) name.pop_back();
    return name;
  }

  std::string arguments(int depth) {
    std::vector<std::string> all;
    failed_ = depth > kDeepest;
    while (!failed_ && (all.empty() || text_[at_] == ',')) {
      ++at_;  // < or ,
      all.push_back(component(depth));
      failed_ |= at_ >= text_.size();
    }
    if (failed_) return {};
    ++at_;  // >
    const size_t before = all.size();
    if (!std::all_of(all.begin(), all.end(), is_filler)) std::erase_if(all, is_filler);
    std::string list = "<";
    for (const std::string& one : all) list += (list.size() == 1 ? "" : ", ") + one;
    return list + (all.size() < before ? ", …>" : ">");
  }

  // (...) with all in it.
  void skip_group() {
    int open = 0;
    do {
      if (at_ == text_.size()) {
        failed_ = true;
        return;
      }
      open += text_[at_] == '(' ? 1 : text_[at_] == ')' ? -1 : 0;
      ++at_;
    } while (open > 0);
  }

  // Of an argument behind its function: ::{lambda(float)#1} and the like.
  void skip_rest() {
    int open = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (open == 0 && (c == ',' || c == '>')) return;
      open += std::string_view("<({").find(c) != std::string_view::npos   ? 1
              : std::string_view(">)}").find(c) != std::string_view::npos ? -1
                                                                          : 0;
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  bool failed_ = false;
};

// The middle goes: beginnings and ends of names tell them apart.
std::string without_middle(const std::string& text, size_t width) {
  const size_t all = shown_width(text);
  if (all <= width || width < 8) return text;
  const size_t head = (width - 1) * 6 / 10;
  const auto byte_of = [&](size_t character) {
    size_t at = 0;
    for (; at < text.size(); ++at)
      if (!is_continuation(text[at]) && character-- == 0) break;
    return at;
  };
  return text.substr(0, byte_of(head)) + "…" + text.substr(byte_of(all - (width - 1 - head)));
}

}  // namespace

size_t shown_width(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); }));
}

std::string short_name(std::string_view name, size_t width) {
  if (shown_width(name) <= width) return std::string(name);
  const bool is_cpp = name.find("::") != std::string_view::npos || name.starts_with("void ");
  const std::string form = is_cpp ? CppName(name).short_form() : "";
  return without_middle(form.empty() ? std::string(name) : form, width);
}

}  // namespace stepscope
