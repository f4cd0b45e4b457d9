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
class WorkFolder {
 public:
  WorkFolder()
      : path_(std::filesystem::temp_directory_path() /
              ("sqlite-fuzz-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~WorkFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string path(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stepscope;
  static const WorkFolder folder;
  const std::string path = folder.path("ascend_pytorch_profiler_0.db");
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
  auto writer = StoreWriter::create(folder.path("store"), 1);
  if (writer && !(*writer)->add_rank(0, rank, 1)) std::abort();
  return 0;
}
