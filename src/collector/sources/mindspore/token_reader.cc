#include "collector/sources/mindspore/token_reader.h"

#include <cstring>
#include <utility>

namespace stepscope {
namespace {

constexpr size_t kBufferBytes = 4 * TokenReader::kLongestToken;

}  // namespace

Result<TokenReader> TokenReader::open(const std::string& path, uint64_t from) {
  auto file = InputFile::open(path);
  if (!file) return std::move(file.error());
  TokenReader reader(std::move(*file));
  reader.position_ = from;
  return reader;
}

TokenReader::TokenReader(InputFile file) : file_(std::move(file)) { buffer_.resize(kBufferBytes); }

// Moves what is left to the front and reads behind it. False when nothing came.
bool TokenReader::fill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, filled_ - begin_);
  filled_ -= begin_;
  begin_ = 0;
  const auto got = file_.read_at(position_, buffer_.data() + filled_, kBufferBytes - filled_);
  if (!got || *got == 0) return false;
  position_ += *got;
  filled_ += *got;
  return true;
}

bool TokenReader::next(std::string_view ends, std::string_view& token) {
  size_t looked_at = 0;  // behind begin_
  bool skipping = false;
  while (true) {
    const std::string_view left(buffer_.data() + begin_ + looked_at, filled_ - begin_ - looked_at);
    const size_t at = left.find_first_of(ends);
    if (at != std::string_view::npos) {
      token = std::string_view(buffer_.data() + begin_, looked_at + at);
      end_ = left[at];
      begin_ += looked_at + at + 1;
      if (!skipping && token.size() <= kLongestToken) return true;
      if (!skipping) ++too_long_;
      skipping = false;
      looked_at = 0;
      continue;
    }
    looked_at += left.size();
    if (looked_at > kLongestToken) {
      if (!skipping) ++too_long_;
      skipping = true;
      begin_ += looked_at;
      looked_at = 0;
    }
    if (fill()) continue;
    token = std::string_view(buffer_.data() + begin_, looked_at);
    end_ = '\n';
    begin_ = filled_;
    return !skipping && !token.empty();
  }
}

}  // namespace stepscope
