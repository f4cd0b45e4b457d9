// Any bytes as a store: an error, or tables that can be read to the end. Checksums would keep a
// fuzzer out, so the directory's is made right first.
#include "store/store_reader.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/hash.h"
#include "store/rank_builder.h"
#include "store/store_file.h"
#include "store/table_reader.h"
#include "store/viewport.h"
#include "tests/fuzz/memory_file.h"

namespace {

using namespace stepscope;

void mend(std::string& bytes) {
  if (bytes.size() < sizeof(StoreHeader) + sizeof(StoreFooter)) return;
  StoreHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::memcpy(header.magic, kStoreMagic, sizeof header.magic);
  header.version = kStoreVersion;
  header.schema_version = kSchemaVersion;
  std::memcpy(bytes.data(), &header, sizeof header);
  StoreFooter footer;
  const size_t at = bytes.size() - sizeof footer;
  std::memcpy(&footer, bytes.data() + at, sizeof footer);
  std::memcpy(footer.magic, kStoreMagic, sizeof footer.magic);
  footer.file_bytes = bytes.size();
  if (footer.directory_offset <= at &&
      footer.section_count <= (at - footer.directory_offset) / sizeof(SectionEntry)) {
    footer.directory_checksum =
        crc32c(bytes.data() + footer.directory_offset, footer.section_count * sizeof(SectionEntry));
  }
  std::memcpy(bytes.data() + at, &footer, sizeof footer);
}

void read_all(const StoreReader& store) {
  static int64_t block[kBlockRows];
  constexpr size_t kMostMorsels = 64;  // constant blocks cost nothing: a small file may have many
  for (size_t table = 0; table < kTableCount; ++table) {
    const TableReader reader(store, static_cast<Table>(table));
    for (size_t i = 0; i < reader.morsels().size() && i < kMostMorsels; ++i) {
      const Morsel& morsel = reader.morsels()[i];
      for (size_t column = 0; column < tables()[table].columns.size(); ++column) {
        reader.read(morsel, column, block);
        for (size_t row = 0; row < morsel.rows; ++row) store.string(block[row]);
      }
      if (static_cast<Table>(table) != Table::kSlices) continue;
      for (size_t row = 0; row < morsel.rows; row += 97) (void)reader.args(morsel, row);
    }
  }
  for (size_t rank = 0; rank < store.rank_count() && rank < 4; ++rank) {
    for (const SourceTableView& table : store.source_tables(rank)) {
      for (const auto& column : table.columns) {
        for (uint64_t row = 0; row < table.rows && row < 5000; row += 13) column.values.at(row);
      }
    }
  }
  for (size_t rank = 0; rank < store.rank_count() && rank < 4; ++rank) {
    for (size_t lane = 0; lane < store.lanes(rank).size() && lane < 16; ++lane) {
      std::vector<ViewportItem> items;
      query_viewport(store, rank, lane, {0, kLatestNs, 50}, items);
      const int64_t first_ns = store.lanes(rank)[lane].first_ns;
      query_viewport(store, rank, lane, {first_ns, first_ns / 2 + 500, 200}, items);
    }
  }
  store.find_strings("e");
  (void)store.verify();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  mend(bytes);
  const testing::MemoryFile file(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  if (auto store = StoreReader::open(file.path())) read_all(**store);
  return 0;
}
