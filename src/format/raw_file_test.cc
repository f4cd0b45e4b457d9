// What the builder writes, the reader reads; what is damaged or torn is passed over and counted.
#include <fstream>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "format/chunk_builder.h"
#include "format/chunk_reader.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

constexpr std::string_view kColumns[] = {"a", "b"};
constexpr RawTableLayout kTable{"numbers", kColumns};

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string chunk_with(uint64_t number, int64_t first) {
  ChunkBuilder builder;
  builder.add_string(7, "seven");
  builder.add_note("about", "{\"x\":1}");
  RawTableBuilder& table = builder.table(kTable, -3);
  table.add({first, std::numeric_limits<int64_t>::max()});
  table.add({first - 5, std::numeric_limits<int64_t>::min()});
  return text_of(builder.pack(number));
}

std::string write_file(const testing::TemporaryFolder& folder, const std::string& chunks) {
  return folder.write("stepscope.raw", std::string(kRawFileMagic) + chunks);
}

TEST(RawFile, EverythingComesBack) {
  const testing::TemporaryFolder folder;
  auto reader = ChunkReader::open(write_file(folder, chunk_with(0, 100) + chunk_with(1, -9)));
  ASSERT_TRUE(reader) << reader.error().message();
  RawChunk chunk;
  for (const int64_t first : {100, -9}) {
    auto more = reader->next(chunk);
    ASSERT_TRUE(more && *more);
    ASSERT_EQ(chunk.strings.size(), 1u);
    EXPECT_EQ(chunk.strings[0].id, 7u);
    EXPECT_EQ(chunk.strings[0].text, "seven");
    ASSERT_EQ(chunk.notes.size(), 1u);
    EXPECT_EQ(chunk.notes[0].json, "{\"x\":1}");
    ASSERT_EQ(chunk.tables.size(), 1u);
    const RawTable& table = chunk.tables[0];
    EXPECT_EQ(table.name, "numbers");
    EXPECT_EQ(table.key, -3);
    EXPECT_EQ(*table.column("a"), (std::vector<int64_t>{first, first - 5}));
    EXPECT_EQ(*table.column("b"), (std::vector<int64_t>{std::numeric_limits<int64_t>::max(),
                                                        std::numeric_limits<int64_t>::min()}));
    EXPECT_EQ(table.column("c"), nullptr);
  }
  auto more = reader->next(chunk);
  ASSERT_TRUE(more);
  EXPECT_FALSE(*more);
  EXPECT_EQ(reader->torn_bytes(), 0u);
  EXPECT_EQ(reader->damaged_chunks(), 0);
}

// A process may be killed after any byte.
TEST(RawFile, CutAnywhereItKeepsItsWholeChunks) {
  const testing::TemporaryFolder folder;
  const std::string first = chunk_with(0, 1);
  const std::string both = first + chunk_with(1, 2);
  for (size_t cut = 0; cut < both.size(); ++cut) {
    auto reader = ChunkReader::open(write_file(folder, both.substr(0, cut)));
    ASSERT_TRUE(reader);
    RawChunk chunk;
    size_t chunks = 0;
    while (true) {
      auto more = reader->next(chunk);
      ASSERT_TRUE(more);
      if (!*more) break;
      ++chunks;
    }
    EXPECT_EQ(chunks, cut >= first.size() ? 1u : 0u) << cut;
    EXPECT_EQ(reader->torn_bytes(), cut >= first.size() ? cut - first.size() : cut) << cut;
  }
}

TEST(RawFile, ADamagedChunkDoesNotHideTheNext) {
  const testing::TemporaryFolder folder;
  std::string first = chunk_with(0, 1);
  first[first.size() - 3] ^= 0x20;
  auto reader = ChunkReader::open(write_file(folder, first + chunk_with(1, 2)));
  ASSERT_TRUE(reader);
  RawChunk chunk;
  auto more = reader->next(chunk);
  ASSERT_TRUE(more && *more);
  EXPECT_EQ(chunk.number, 1u);
  EXPECT_EQ(reader->damaged_chunks(), 1);
  EXPECT_EQ(reader->first_damage(), kRawFileMagic.size());
}

TEST(RawFile, OtherFilesAreRefused) {
  const testing::TemporaryFolder folder;
  for (const std::string text : {"", "stepscope", "something else entirely"}) {
    EXPECT_FALSE(ChunkReader::open(folder.write("x.raw", text)));
  }
}

TEST(ChunkBuilder, NothingMakesNoChunk) {
  ChunkBuilder builder;
  builder.table(kTable, 1);
  EXPECT_TRUE(builder.pack(0).empty());
}

}  // namespace
}  // namespace stepscope
