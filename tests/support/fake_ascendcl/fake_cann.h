// Test support: the stand-in for CANN in tests that have it in their own process.
#ifndef STEPSCOPE_TESTS_SUPPORT_FAKE_ASCENDCL_FAKE_CANN_H_
#define STEPSCOPE_TESTS_SUPPORT_FAKE_ASCENDCL_FAKE_CANN_H_

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/built_file.h"
#include "tests/support/temporary_folder.h"

namespace stepscope::testing {

// The environment is set here once, before a test has threads: a getenv() beside a setenv()
// crashes.
class FakeCann {
 public:
  FakeCann() {
    ::setenv("STEPSCOPE_ASCENDCL", built_file("tests/libstepscope_fake_ascendcl.so").c_str(), 1);
    ::setenv("FAKE_ASCENDCL_LOG", folder_.path("calls").c_str(), 1);
    ::setenv("FAKE_ASCENDCL_TOLD", folder_.path("told").c_str(), 1);
  }

  // From the next call on; forgets what it was told before. In one go: a call may be reading.
  void tell(const std::string& lines) const {
    std::filesystem::rename(folder_.write("told.new", lines), folder_.path("told"));
  }

  std::vector<std::string> calls() const {
    std::vector<std::string> lines;
    std::ifstream file(folder_.path("calls"));
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace stepscope::testing

#endif  // STEPSCOPE_TESTS_SUPPORT_FAKE_ASCENDCL_FAKE_CANN_H_
