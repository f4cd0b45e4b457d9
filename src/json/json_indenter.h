// Indents JSON text that comes in pieces, so that a file of any size is written with constant
// memory.
#ifndef STEPSCOPE_JSON_JSON_INDENTER_H_
#define STEPSCOPE_JSON_JSON_INDENTER_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace stepscope {

// A member and an element a line, four spaces a level, {} and [] as they are: what Python's
// json.dumps(indent=4) and write_json(value, 4) write. White space between values is dropped;
// texts, numbers and their order are not touched. The text must be JSON: nothing is checked. Levels
// beyond the 32nd are indented like it, or a nested text could make a file a thousand times its
// size.
class JsonIndenter {
 public:
  // The next piece, which may begin and end anywhere, also inside of a text. What is returned is
  // good until the next call.
  std::string_view indent(std::string_view piece);

 private:
  static constexpr size_t kDeepest = 32;

  void new_line();

  std::string out_;
  size_t depth_ = 0;
  bool in_text_ = false;
  bool escaped_ = false;    // the next byte of a text is
  bool just_open_ = false;  // nothing yet behind { or [
};

}  // namespace stepscope

#endif  // STEPSCOPE_JSON_JSON_INDENTER_H_
