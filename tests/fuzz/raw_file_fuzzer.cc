// Any bytes as the content of a recording's chunk, behind a sound first one: what is not
// well-formed is counted, what is goes through the whole importer. Wrapped here, because no
// mutation would get past the checksum.
#include <cstdint>
#include <cstring>
#include <string>

#include <zstd.h>

#include "base/hash.h"
#include "base/progress.h"
#include "collector/record_tables.h"
#include "format/chunk_builder.h"
#include "importers/native/native_importer.h"
#include "tests/fuzz/memory_file.h"

namespace {

using namespace stepscope;

std::string sound_beginning() {
  ChunkBuilder chunk;
  chunk.add_note("recording", R"({"rank":0,"host":"fuzz","pid":1})");
  chunk.add_string(1, "name");
  chunk.table(kClocksTable, 0).add({1000, 1'000'000, 1'700'000'000'000'000'000});
  chunk.table(kClocksTable, 0).add({9'000'000, 4'000'000, 1'700'000'000'003'000'000});
  const auto packed = chunk.pack(0);
  return std::string(kRawFileMagic) +
         std::string(reinterpret_cast<const char*>(packed.data()), packed.size());
}

std::string as_chunk(const uint8_t* data, size_t size) {
  std::string packed(ZSTD_compressBound(size), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), data, size, 1));
  RawChunkHeader header;
  header.magic = kRawChunkMagic;
  header.packed_bytes = static_cast<uint32_t>(packed.size());
  header.plain_bytes = static_cast<uint32_t>(size);
  header.checksum = crc32c(packed.data(), packed.size());
  header.number = 1;
  std::string chunk(sizeof header, '\0');
  std::memcpy(chunk.data(), &header, sizeof header);
  return chunk + packed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string kBeginning = sound_beginning();
  const std::string file = kBeginning + as_chunk(data, size);
  const testing::MemoryFile memory(reinterpret_cast<const uint8_t*>(file.data()), file.size());
  const NativeImporter importer;
  Candidate candidate;
  candidate.importer = &importer;
  candidate.path = memory.path();
  candidate.bytes = file.size();
  Progress progress;
  RankBuilder rank;
  const Status imported = importer.import(candidate, {progress}, rank);
  // The first chunk is sound, so there is always something to open.
  if (!imported.ok()) __builtin_trap();
  return 0;
}
