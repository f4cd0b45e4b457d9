// Test support: the text of a file.
#ifndef STEPSCOPE_TESTS_SUPPORT_FILE_TEXT_H_
#define STEPSCOPE_TESTS_SUPPORT_FILE_TEXT_H_

#include <fstream>
#include <iterator>
#include <string>

namespace stepscope::testing {

// "" when there is none.
inline std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace stepscope::testing

#endif  // STEPSCOPE_TESTS_SUPPORT_FILE_TEXT_H_
