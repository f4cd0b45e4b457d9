// Test support: what the build made, wherever it was made.
#ifndef STEPSCOPE_TESTS_SUPPORT_BUILT_FILE_H_
#define STEPSCOPE_TESTS_SUPPORT_BUILT_FILE_H_

#include <cstdlib>
#include <string>

namespace stepscope::testing {

// ctest names the build folder; a test that is run by hand from the checkout finds the usual one.
inline std::string built_file(const std::string& name) {
  const char* const build = std::getenv("STEPSCOPE_BINARY_DIR");
  return std::string(build == nullptr ? "build" : build) + "/" + name;
}

}  // namespace stepscope::testing

#endif  // STEPSCOPE_TESTS_SUPPORT_BUILT_FILE_H_
