#include "importers/common/text_file.h"

#include "base/decimal.h"
#include "base/file.h"

namespace stepscope {
namespace {

constexpr uint64_t kMostBytes = 4ull << 30;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

Result<TextFile> TextFile::open(const std::string& path) {
  auto text = read_file(path, kMostBytes);
  if (!text) return std::move(text.error());
  TextFile file;
  file.path_ = path;
  file.text_ = std::move(*text);
  return file;
}

bool TextFile::next(std::string_view& line) {
  if (at_ >= text_.size()) return false;
  size_t end = text_.find('\n', at_);
  if (end == std::string::npos) end = text_.size();
  line = std::string_view(text_).substr(at_, end - at_);
  if (line.ends_with('\r')) line.remove_suffix(1);
  at_ = end + 1;
  ++line_;
  return true;
}

std::string TextFile::place() const {
  return std::string(file_name_of(path_)) + " line " + std::to_string(line_);
}

std::string_view file_name_of(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string folder_of(const std::string& path) {
  std::string_view whole = path;
  while (whole.size() > 1 && whole.ends_with('/')) whole.remove_suffix(1);
  const size_t slash = whole.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(slash == 0 ? "/" : whole.substr(0, slash));
}

std::string_view trim_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split_text(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  size_t start = 0;
  while (true) {
    const size_t end = text.find(separator, start);
    if (end == std::string_view::npos) break;
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  parts.push_back(text.substr(start));
  return parts;
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  size_t at = 0;
  while (true) {
    while (at < text.size() && is_blank(text[at])) ++at;
    if (at >= text.size()) return words;
    const size_t start = at;
    while (at < text.size() && !is_blank(text[at])) ++at;
    words.push_back(text.substr(start, at - start));
  }
}

std::optional<int64_t> number_in_name(std::string_view name, std::string_view prefix,
                                      std::string_view suffix) {
  if (name.size() <= prefix.size() + suffix.size() || !name.starts_with(prefix) ||
      !name.ends_with(suffix)) {
    return std::nullopt;
  }
  const std::string_view digits =
      name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
  if (digits.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  return parse_integer(digits);
}

void add_source(RankBuilder& rank, const std::string& path, std::string_view role, int64_t rows) {
  auto stamp = stamp_file(path);
  rank.sources.push_back({path, stamp ? *stamp : FileStamp{}, std::string(role), rows});
}

void add_unreadable(RankBuilder& rank, const std::string& path, const Error& error) {
  rank.quality.add(QualityCode::kUnreadableFile, path + ": " + error.why);
  add_source(rank, path, "ignored", 0);
}

}  // namespace stepscope
