// Text files of other profilers, line by line, and what every importer does with the files of a
// folder: names with a number in them, places for messages, and the list of sources.
#ifndef STEPSCOPE_IMPORTERS_COMMON_TEXT_FILE_H_
#define STEPSCOPE_IMPORTERS_COMMON_TEXT_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/rank_builder.h"

namespace stepscope {

// The whole file in memory (limit 4 GiB); lines are views into it, without their line end.
class TextFile {
 public:
  static Result<TextFile> open(const std::string& path);

  // False at the end. Blank lines are returned like others.
  bool next(std::string_view& line);
  uint64_t line() const { return line_; }  // of the last line returned, from 1
  const std::string& path() const { return path_; }
  uint64_t bytes() const { return text_.size(); }
  std::string_view text() const { return text_; }
  // "name.txt line 12", for quality examples.
  std::string place() const;

 private:
  std::string path_;
  std::string text_;
  size_t at_ = 0;
  uint64_t line_ = 0;
};

std::string_view file_name_of(std::string_view path);
std::string folder_of(const std::string& path);

std::string_view trim_blanks(std::string_view text);
std::vector<std::string_view> split_text(std::string_view text, char separator);
// Words between blanks and TABs.
std::vector<std::string_view> split_words(std::string_view text);

// The number between `prefix` and `suffix` when that is all there is: ("cpu_op_12.txt", "cpu_op_",
// ".txt") == 12.
std::optional<int64_t> number_in_name(std::string_view name, std::string_view prefix,
                                      std::string_view suffix);

// Adds the file to rank.sources.
void add_source(RankBuilder& rank, const std::string& path, std::string_view role, int64_t rows);
// A file that should have been read: counted, and listed with role "ignored".
void add_unreadable(RankBuilder& rank, const std::string& path, const Error& error);

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_COMMON_TEXT_FILE_H_
