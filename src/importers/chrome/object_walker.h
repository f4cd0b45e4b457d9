// The second stage of reading JSON: walks the key/value pairs of one object along the structural
// index.
//
// Values are returned as raw text (strings with their quotes, containers whole). Tolerates trailing
// commas and bare words (NaN, N/A) as values. Nothing recurses: nested containers are skipped by
// counting brackets.
#ifndef STEPSCOPE_IMPORTERS_CHROME_OBJECT_WALKER_H_
#define STEPSCOPE_IMPORTERS_CHROME_OBJECT_WALKER_H_

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stepscope {

struct IndexedText {
  const char* text = nullptr;
  size_t size = 0;
  const uint32_t* positions = nullptr;
  size_t count = 0;
};

class ObjectWalker {
 public:
  enum class Step : uint8_t { kPair, kDone, kBroken, kOutOfText };

  ObjectWalker() : finished_(true) {}  // of nothing: done at once
  // `at` is the index of the object's { in the positions.
  ObjectWalker(const IndexedText& source, size_t at) : source_(&source), at_(at) {}

  Step next(std::string_view& key, std::string_view& value) {
    if (finished_) return Step::kDone;
    const IndexedText& s = *source_;
    if (at_ + 2 >= s.count) return last_step();
    const char* cursor = skip_blank(s.text + s.positions[at_] + 1);
    if (*cursor == '}') return finish(at_ + 1);
    const char* const colon = s.text + s.positions[at_ + 1];
    if (*cursor != '"' || *colon != ':') return Step::kBroken;
    const char* const key_end = back_over_blank(colon);
    if (key_end[-1] != '"' || key_end - 1 <= cursor) return Step::kBroken;
    key = {cursor + 1, static_cast<size_t>(key_end - cursor - 2)};
    const char* const start = skip_blank(colon + 1);
    size_t after = at_ + 2;
    value_index_ = after;
    if (*start == '{' || *start == '[') {
      if (s.text + s.positions[after] != start) return Step::kBroken;
      const size_t closing = matching_bracket(after);
      if (closing == kBadBrackets) return Step::kBroken;
      if (closing >= s.count) return Step::kOutOfText;
      value = {start, static_cast<size_t>(s.text + s.positions[closing] + 1 - start)};
      after = closing + 1;
      if (after >= s.count) return Step::kOutOfText;
      const char* const gap = skip_blank(s.text + s.positions[closing] + 1);
      if (gap != s.text + s.positions[after]) return Step::kBroken;
    } else {
      const char* const stop = back_over_blank(s.text + s.positions[after]);
      if (stop <= start) return Step::kBroken;
      if (*start == '"' && (stop - start < 2 || stop[-1] != '"')) return Step::kBroken;
      value = {start, static_cast<size_t>(stop - start)};
    }
    const char closer = s.text[s.positions[after]];
    if (closer != ',' && closer != '}') return Step::kBroken;
    at_ = after;
    finished_ = closer == '}';
    return Step::kPair;
  }

  // After kDone: the index just behind the object's }.
  size_t end() const { return at_ + 1; }
  // After kPair with a container value: a walker for it.
  ObjectWalker inner() const { return ObjectWalker(*source_, value_index_); }

  static const char* skip_blank(const char* p) {
    while (static_cast<unsigned char>(*p) <= ' ' && *p != '\0') ++p;
    return p;
  }

 private:
  static const char* back_over_blank(const char* end) {
    while (static_cast<unsigned char>(end[-1]) <= ' ') --end;
    return end;
  }
  Step finish(size_t closing) {
    if (closing >= source_->count || source_->text[source_->positions[closing]] != '}')
      return Step::kBroken;
    at_ = closing;
    finished_ = true;
    return Step::kDone;
  }
  // Near the end of the text: only the closing bracket of the object can still follow.
  Step last_step() {
    if (at_ + 1 < source_->count) {
      const char* cursor = skip_blank(source_->text + source_->positions[at_] + 1);
      if (cursor == source_->text + source_->positions[at_ + 1] && *cursor == '}')
        return finish(at_ + 1);
    }
    return Step::kOutOfText;
  }
  static constexpr size_t kBadBrackets = static_cast<size_t>(-1);
  static constexpr size_t kDeepest = 64;  // no profiler nests args like this

  // Brackets that do not match, and containers where none can stand, end the search: otherwise one
  // lost bracket would be looked for through the rest of the text.
  size_t matching_bracket(size_t opening) const {
    std::bitset<kDeepest> is_object;
    size_t depth = 0;
    size_t at = opening;
    for (; at < source_->count; ++at) {
      // { and [ have the low bits 011, } and ] 101; commas and colons have other high bits.
      const char c = source_->text[source_->positions[at]];
      const char folded = static_cast<char>(c | 0x20);
      if (folded == '{') {
        if (depth == kDeepest) return kBadBrackets;
        if (depth > 0) {
          const char before = source_->text[source_->positions[at - 1]];
          const bool fits = is_object[depth - 1] ? before == ':' : before == ',' || before == '[';
          if (!fits) return kBadBrackets;
        }
        is_object[depth++] = c == '{';
      } else if (folded == '}') {
        if (is_object[depth - 1] != (c == '}')) return kBadBrackets;
        if (--depth == 0) break;
      }
    }
    return at;
  }

  const IndexedText* source_ = nullptr;
  size_t at_ = 0;
  size_t value_index_ = 0;
  bool finished_ = false;
};

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_CHROME_OBJECT_WALKER_H_
