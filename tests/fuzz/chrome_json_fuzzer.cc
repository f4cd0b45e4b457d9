// Any bytes as a Chrome trace: no crash, and the same events whatever the pieces. What was read is
// also written as a store, so that layout and links see times and ids that nobody would write.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "importers/chrome/chrome_reader.h"
#include "store/store_writer.h"
#include "tests/fuzz/memory_file.h"

namespace {

using namespace stepscope;

struct Outcome {
  bool read = false;
  uint64_t events = 0;
  std::map<QualityCode, int64_t> quality;

  bool operator==(const Outcome&) const = default;
};

Outcome read(const std::string& path, size_t piece_bytes, RankBuilder& rank) {
  Progress progress;
  const ImportContext context{progress, 1, 0};
  ChromeOptions options;
  options.piece_bytes = piece_bytes;
  const auto trace = read_chrome_trace(path, options, context, rank);
  Outcome outcome;
  if (!trace) return outcome;
  outcome.read = true;
  outcome.events = trace->events;
  for (const auto& [code, entry] : rank.quality.entries()) outcome.quality[code] = entry.count;
  return outcome;
}

const std::string& store_path() {
  static const std::string path =
      (std::filesystem::temp_directory_path() / ("chrome-fuzz-" + std::to_string(::getpid())))
          .string();
  return path;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const testing::MemoryFile file(data, size);
  RankBuilder whole;
  RankBuilder pieces;
  const Outcome first = read(file.path(), 1 << 16, whole);
  const Outcome second = read(file.path(), 100, pieces);
  // Where damaged packed data stops depends on the size of the reads.
  const bool is_packed = size > 0 && (data[0] == 0x1F || data[0] == 0x28 || data[0] == 'P');
  if (first != second && !is_packed) {
    std::fprintf(stderr, "whole: %d, %llu events; in pieces: %d, %llu events\n", first.read,
                 static_cast<unsigned long long>(first.events), second.read,
                 static_cast<unsigned long long>(second.events));
    for (const Outcome* outcome : {&first, &second}) {
      for (const auto& [code, count] : outcome->quality)
        std::fprintf(stderr, "%s %lld\n", std::string(quality_spec(code).name).c_str(),
                     static_cast<long long>(count));
      std::fprintf(stderr, "--\n");
    }
    std::abort();
  }
  if (!first.read) return 0;
  // Never finished: the file is removed with the writer.
  auto writer = StoreWriter::create(store_path(), 1);
  if (writer && !(*writer)->add_rank(0, whole, 1)) std::abort();
  return 0;
}
