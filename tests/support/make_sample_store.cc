// Writes a sample store, for tests that are not written in C++:
//   make_sample_store FOLDER RANKS
// leaves FOLDER/sample.stepscope.
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "store/store_writer.h"
#include "tests/support/sample_store.h"

int main(int count, char** words) {
  if (count != 3) return 2;
  const stepscope::testing::TemporaryFolder folder;
  const std::string made = stepscope::testing::write_sample_store(folder, std::atoll(words[2]));
  std::filesystem::create_directories(words[1]);
  const auto target = std::filesystem::path(words[1]) / "sample.stepscope";
  std::filesystem::copy_file(made, target, std::filesystem::copy_options::overwrite_existing);
  std::cout << target.string() << "\n";
  return 0;
}
