// Any bytes as one of Ascend's databases: an error or a rank, never a crash.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "importers/ascend_db/ascend_db_importer.h"
#include "store/store_writer.h"

namespace {

// The importer wants a name that it knows, in a folder of its own.
const std::string& folder() {
  static const std::string path = [] {
    const auto made =
        std::filesystem::temp_directory_path() / ("sqlite-fuzz-" + std::to_string(::getpid()));
    std::filesystem::create_directories(made);
    std::atexit([] {
      std::error_code ignored;
      std::filesystem::remove_all(folder(), ignored);
    });
    return made.string();
  }();
  return path;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stepscope;
  const std::string path = folder() + "/ascend_pytorch_profiler_0.db";
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  const AscendDbImporter importer;
  Candidate candidate;
  candidate.importer = &importer;
  candidate.path = path;
  candidate.unit = path;
  candidate.rank = 0;
  candidate.bytes = size;
  std::vector<Candidate> found;
  const std::string_view head(reinterpret_cast<const char*>(data), size < 65536 ? size : 65536);
  importer.probe_file(path, head, found);
  if (!found.empty()) candidate = found.front();
  Progress progress;
  const ImportContext context{progress, 1, 0};
  RankBuilder rank;
  if (!importer.import(candidate, context, rank)) return 0;
  auto writer = StoreWriter::create(folder() + "/store", 1);
  if (writer && !(*writer)->add_rank(0, rank, 1)) std::abort();
  return 0;
}
