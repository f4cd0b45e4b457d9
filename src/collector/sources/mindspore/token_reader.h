// TokenReader: a text file cut at given characters, read through a buffer of fixed size.
//
// MindSpore writes all executions of an operator into one line, so lines have any length; tokens
// are short. A token that is longer than kLongestToken is passed over and counted.
#ifndef STEPSCOPE_COLLECTOR_SOURCES_MINDSPORE_TOKEN_READER_H_
#define STEPSCOPE_COLLECTOR_SOURCES_MINDSPORE_TOKEN_READER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace stepscope {

class TokenReader {
 public:
  static constexpr size_t kLongestToken = 16 << 10;

  // Reads from byte `from` on.
  static Result<TokenReader> open(const std::string& path, uint64_t from = 0);

  // The text up to the next character of `ends`, which is `end()` then and not part of the token;
  // at the end of the file `end()` is '\n'. False when there is nothing left or reading fails.
  // The token is valid until the next call.
  bool next(std::string_view ends, std::string_view& token);
  char end() const { return end_; }

  uint64_t size() const { return file_.size(); }
  int64_t too_long() const { return too_long_; }

 private:
  explicit TokenReader(InputFile file);
  bool fill();

  InputFile file_;
  std::vector<char> buffer_;
  size_t begin_ = 0;  // of what has not been handed out
  size_t filled_ = 0;
  uint64_t position_ = 0;  // in the file, behind the buffer
  char end_ = '\n';
  int64_t too_long_ = 0;
};

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_SOURCES_MINDSPORE_TOKEN_READER_H_
