// Runs a fuzz target once over files and folders of seeds, without libFuzzer, so that a finding is
// checked again by every build and compiler. Having no seeds is not a failure: the entry point
// then sees empty input alone.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

bool Replay(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "cannot read seed %s\n", path.c_str());
    return false;
  }
  // Printed first: when the target crashes, the last line names the seed.
  std::printf("%s\n", path.c_str());
  std::fflush(stdout);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint8_t nothing = 0;
  LLVMFuzzerTestOneInput(&nothing, 0);

  bool all_read = true;
  for (int i = 1; i < argc; ++i) {
    const std::filesystem::path path = argv[i];
    if (std::filesystem::is_directory(path)) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
        if (entry.is_regular_file()) all_read = Replay(entry.path()) && all_read;
      }
    } else if (std::filesystem::exists(path)) {
      all_read = Replay(path) && all_read;
    }
  }
  return all_read ? 0 : 1;
}
