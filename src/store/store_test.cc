// A store of several ranks, written and read back; and everything a damaged one may not do.
#include <cstring>
#include <functional>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "base/hash.h"
#include "store/store_reader.h"
#include "store/store_writer.h"
#include "store/table_reader.h"
#include "tests/support/rank_making.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

using testing::device_track;
using testing::host_track;
using testing::slice_of;
using testing::TemporaryFolder;

// Rank r has 3000 + r operators of 10 ns on "main" inside a step, and a kernel for each tenth.
void fill(RankBuilder& rank, int64_t number) {
  rank.info.rank = number;
  rank.info.source_format = "made";
  const TrackId host = host_track(rank, "main");
  const TrackId device = device_track(rank, number, 7);
  for (int64_t i = 0; i < 3000 + number; ++i) {
    SliceRecord op = slice_of(rank, i % 2 == 0 ? "even" : "odd of " + std::to_string(number),
                              1000 + i * 100, 10, SliceKind::kOp);
    op.external_id = rank.pack_id(i);
    op.args = rank.add_args("{\"n\": " + std::to_string(i) + "}");
    rank.add_slice(host, op);
    if (i % 10 != 0) continue;
    SliceRecord kernel = slice_of(rank, "kernel", 1050 + i * 100, 20 + number, SliceKind::kKernel);
    kernel.external_id = rank.pack_id(i);
    rank.add_slice(device, kernel);
  }
  StepRecord step;
  step.step = 40 + number;
  step.ts_ns = 1000;
  step.dur_ns = 1000;
  step.source = rank.strings.intern("marked");
  rank.steps.push_back(step);
  SourceTable table;
  table.name = "made_by_hand";
  table.doc = "two\nlines";
  table.columns.push_back(
      {"name with\na line break", Type::kText, {kNull, rank.strings.intern("x")}});
  table.columns.push_back({"number", Type::kInt64, {-5, kNull}});
  rank.source_tables.push_back(table);
}

std::string write_store(const TemporaryFolder& folder, int64_t ranks = 3) {
  const std::string path = folder.path("run.stepscope");
  auto writer = StoreWriter::create(path, static_cast<uint32_t>(ranks));
  EXPECT_TRUE(writer);
  for (int64_t number = ranks - 1; number >= 0; --number) {  // order must not matter
    RankBuilder rank;
    fill(rank, number);
    EXPECT_TRUE((*writer)->add_rank(static_cast<uint32_t>(number), rank, 2));
  }
  EXPECT_TRUE((*writer)->finish("{\"tool\":\"test\"}"));
  return path;
}

std::vector<int64_t> read_column(const StoreReader& store, Table table, std::string_view name) {
  const TableReader reader(store, table);
  std::vector<int64_t> values;
  int64_t block[kBlockRows];
  for (const Morsel& morsel : reader.morsels()) {
    reader.read(morsel, find_column(table_spec(table), name), block);
    values.insert(values.end(), block, block + morsel.rows);
  }
  return values;
}

TEST(Store, SeveralRanksRoundTrip) {
  TemporaryFolder folder;
  auto opened = StoreReader::open(write_store(folder));
  ASSERT_TRUE(opened) << opened.error().message();
  const StoreReader& store = **opened;
  EXPECT_TRUE(store.verify());
  EXPECT_EQ(store.run_info_json(), "{\"tool\":\"test\"}");
  ASSERT_EQ(store.rank_count(), 3u);
  const auto rank = read_column(store, Table::kSlices, "rank");
  const auto id = read_column(store, Table::kSlices, "id");
  const auto name = read_column(store, Table::kSlices, "name");
  const auto ts = read_column(store, Table::kSlices, "ts");
  const auto step = read_column(store, Table::kSlices, "step");
  std::map<std::string, int> names;
  std::map<int64_t, int64_t> per_rank;
  for (size_t i = 0; i < id.size(); ++i) {
    ASSERT_EQ(id[i], static_cast<int64_t>(i));
    ++names[std::string(store.string(name[i]))];
    ++per_rank[rank[i]];
    ASSERT_EQ(step[i], ts[i] < 2000 ? 40 + rank[i] : kNull);
  }
  EXPECT_EQ(per_rank, (std::map<int64_t, int64_t>{{0, 3300}, {1, 3302}, {2, 3303}}));
  EXPECT_EQ(names["even"], 1500 + 1501 + 1501);
  EXPECT_EQ(names["odd of 1"], 1500);
  EXPECT_EQ(names["kernel"], 300 + 301 + 301);
  EXPECT_EQ(store.find_strings("EVEN").size(), 1u);  // one string, though three ranks have it
}

TEST(Store, ColumnsOfTypedTablesComeFromTheSlice) {
  TemporaryFolder folder;
  auto opened = StoreReader::open(write_store(folder));
  ASSERT_TRUE(opened);
  const StoreReader& store = **opened;
  const auto slice_ts = read_column(store, Table::kSlices, "ts");
  const auto slice_name = read_column(store, Table::kSlices, "name");
  const auto slice_track = read_column(store, Table::kSlices, "track");
  const auto id = read_column(store, Table::kKernels, "id");
  const auto ts = read_column(store, Table::kKernels, "ts");
  const auto op = read_column(store, Table::kKernels, "op");
  const auto track = read_column(store, Table::kKernels, "track");
  const auto rank = read_column(store, Table::kKernels, "rank");
  const auto dur = read_column(store, Table::kKernels, "dur");
  const auto device = read_column(store, Table::kKernels, "device");
  ASSERT_EQ(id.size(), 902u);
  for (size_t i = 0; i < id.size(); ++i) {
    const auto slice = static_cast<size_t>(id[i]);
    ASSERT_EQ(ts[i], slice_ts[slice]);
    ASSERT_EQ(track[i], slice_track[slice]);
    ASSERT_EQ(track[i], 2 * rank[i] + 1);  // ids of tracks are global
    ASSERT_EQ(store.string(slice_name[slice]), "kernel");
    ASSERT_EQ(dur[i], 20 + rank[i]);
    ASSERT_EQ(device[i], rank[i]);
    ASSERT_EQ(slice_ts[static_cast<size_t>(op[i])] + 50,
              ts[i]);  // the operator with its external id
  }
}

TEST(Store, ArgsAndSourceTables) {
  TemporaryFolder folder;
  auto opened = StoreReader::open(write_store(folder));
  ASSERT_TRUE(opened);
  const StoreReader& store = **opened;
  EXPECT_EQ(*store.args(1, 0), "{\"n\": 0}");
  EXPECT_EQ(*store.args(1, 2999), "{\"n\": 2999}");
  EXPECT_EQ(*store.args(1, 3001), "");  // a kernel without args
  ASSERT_EQ(store.source_tables(2).size(), 1u);
  const SourceTableView& table = store.source_tables(2)[0];
  EXPECT_EQ(table.name, "made_by_hand");
  EXPECT_EQ(table.doc, "two lines");
  ASSERT_EQ(table.columns.size(), 2u);
  EXPECT_EQ(table.columns[0].name, "name with a line break");
  EXPECT_EQ(table.columns[0].values.at(0), kNull);
  EXPECT_EQ(store.string(table.columns[0].values.at(1)), "x");
  EXPECT_EQ(table.columns[1].values.at(0), -5);
}

TEST(Store, TotalsTilesAndLanesAddUp) {
  TemporaryFolder folder;
  auto opened = StoreReader::open(write_store(folder, 1));
  ASSERT_TRUE(opened);
  const StoreReader& store = **opened;
  int64_t counted = 0;
  for (const int64_t count : read_column(store, Table::kTotalsByName, "count")) counted += count;
  EXPECT_EQ(counted, 3300);
  int64_t total = 0;
  for (const int64_t sum : read_column(store, Table::kTotalsByStep, "total")) total += sum;
  EXPECT_EQ(total, 3000 * 10 + 300 * 20);
  uint64_t rows = 0;
  for (const Lane& lane : store.lanes(0)) {
    rows += lane.rows;
    for (uint32_t level = 0; level < lane.level_count; ++level) {
      const TileLevel& of = store.tile_levels(0)[lane.first_level + level];
      EXPECT_GT(of.tiles, 0u);
      EXPECT_LT(store.tiles(0)[of.first_tile + of.tiles - 1].first_row, lane.rows);
    }
  }
  EXPECT_EQ(rows, 3300u);
}

TEST(Store, TimesBeyondAnyCalendarAreKeptInRange) {
  TemporaryFolder folder;
  const std::string path = folder.path("run.stepscope");
  auto writer = StoreWriter::create(path, 1);
  RankBuilder rank;
  const TrackId track = host_track(rank, "main");
  for (const int64_t ts : {INT64_MAX, INT64_MIN, int64_t{0}}) {
    for (const int64_t dur : {INT64_MAX, INT64_MIN, int64_t{1}})
      rank.add_slice(track, slice_of(rank, "x", ts, dur));
  }
  StepRecord step;
  step.ts_ns = INT64_MIN;
  step.dur_ns = INT64_MAX;
  rank.steps.push_back(step);
  ASSERT_TRUE((*writer)->add_rank(0, rank, 1));
  ASSERT_TRUE((*writer)->finish("{}"));
  auto opened = StoreReader::open(path);
  ASSERT_TRUE(opened);
  EXPECT_EQ(read_column(**opened, Table::kSlices, "ts").size(), 9u);
  const auto totals = read_column(**opened, Table::kTotalsByName, "count");
  ASSERT_EQ(totals.size(), 1u);
  EXPECT_EQ(totals[0], 3);  // the others are impossible
}

// --- damage ------------------------------------------------------------------------------------

class DamagedStore : public ::testing::Test {
 protected:
  DamagedStore() : bytes_(*read_file(write_store(folder_, 1), 1ull << 30)) {}

  Result<std::shared_ptr<StoreReader>> open(const std::string& bytes) {
    return StoreReader::open(folder_.write("damaged.stepscope", bytes));
  }
  StoreFooter footer() const {
    StoreFooter footer;
    std::memcpy(&footer, bytes_.data() + bytes_.size() - sizeof footer, sizeof footer);
    return footer;
  }
  // Changes the directory and makes its checksum right again.
  std::string with_directory(
      const std::function<void(std::vector<SectionEntry>&, StoreFooter&)>& change) {
    StoreFooter foot = footer();
    std::vector<SectionEntry> entries(foot.section_count);
    std::memcpy(entries.data(), bytes_.data() + foot.directory_offset,
                entries.size() * sizeof(SectionEntry));
    change(entries, foot);
    std::string changed = bytes_;
    std::memcpy(changed.data() + foot.directory_offset, entries.data(),
                entries.size() * sizeof(SectionEntry));
    foot.directory_checksum = crc32c(entries.data(), entries.size() * sizeof(SectionEntry));
    std::memcpy(changed.data() + changed.size() - sizeof foot, &foot, sizeof foot);
    return changed;
  }

  TemporaryFolder folder_;
  std::string bytes_;
};

void read_everything(const StoreReader& store) {
  int64_t block[kBlockRows];
  for (size_t table = 0; table < kTableCount; ++table) {
    const TableReader reader(store, static_cast<Table>(table));
    for (const Morsel& morsel : reader.morsels()) {
      for (size_t column = 0; column < tables()[table].columns.size(); ++column)
        reader.read(morsel, column, block);
    }
  }
}

TEST_F(DamagedStore, TruncationIsAnErrorEverywhere) {
  const uint64_t directory = footer().directory_offset;
  std::vector<size_t> sizes = {0,
                               1,
                               7,
                               8,
                               63,
                               64,
                               65,
                               127,
                               128,
                               129,
                               directory - 1,
                               directory,
                               directory + 1,
                               directory + 39,
                               directory + 40};
  for (size_t at = bytes_.size() - 130; at < bytes_.size(); ++at) sizes.push_back(at);
  for (size_t at = 130; at < bytes_.size(); at += bytes_.size() / 61) sizes.push_back(at);
  for (const size_t size : sizes) {
    auto store = open(bytes_.substr(0, size));
    ASSERT_FALSE(store) << size;
    EXPECT_EQ(store.error().what, "cannot open the store");
    EXPECT_FALSE(store.error().why.empty());
    EXPECT_NE(store.error().remedy, "");
  }
}

TEST_F(DamagedStore, EveryFlippedByteOfTheDirectoryIsNoticed) {
  const uint64_t directory = footer().directory_offset;
  const size_t end = directory + footer().section_count * sizeof(SectionEntry);
  for (size_t at = directory; at < end; at += 13) {
    std::string changed = bytes_;
    changed[at] = static_cast<char>(changed[at] ^ 0x20);
    auto store = open(changed);
    ASSERT_FALSE(store) << at;
    EXPECT_EQ(store.error().why, "the checksum of its directory is wrong");
  }
}

TEST_F(DamagedStore, FlippedBytesOfHeaderAndFooterNeverCrash) {
  for (size_t at = 0; at < 128; ++at) {
    std::string changed = bytes_;
    const size_t place = at < 64 ? at : bytes_.size() - 128 + at;
    changed[place] = static_cast<char>(changed[place] ^ 0xFF);
    if (auto store = open(changed)) read_everything(**store);  // reserved bytes do not matter
  }
}

TEST_F(DamagedStore, OtherVersionsSaySo) {
  for (const size_t at : {size_t{8}, size_t{12}}) {
    std::string changed = bytes_;
    changed[at] = 9;
    auto store = open(changed);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, ErrorCode::kUnsupported);
    EXPECT_NE(store.error().why.find("version"), std::string::npos);
    EXPECT_EQ(store.error().remedy, "import the trace again");
  }
  auto other = open("{\"traceEvents\":[]}" + std::string(200, ' '));
  EXPECT_EQ(other.error().code, ErrorCode::kNotRecognised);
}

TEST_F(DamagedStore, VerifyFindsFlippedData) {
  std::string changed = bytes_;
  changed[footer().directory_offset - 100] ^= 1;
  auto store = open(changed);
  ASSERT_TRUE(store);
  EXPECT_FALSE((*store)->verify());
}

// Every byte of every column's data, not only the index of its blocks.
TEST_F(DamagedStore, VerifyFindsFlippedColumnData) {
  std::vector<SectionEntry> directory(footer().section_count);
  std::memcpy(directory.data(), bytes_.data() + footer().directory_offset,
              directory.size() * sizeof(SectionEntry));
  int flipped = 0;
  for (const SectionEntry& section : directory) {
    if (section.kind != SectionKind::kColumn || section.bytes == 0) continue;
    BlockEntry block;
    std::memcpy(&block, bytes_.data() + section.offset, sizeof block);
    if (block.width() == 0) continue;
    std::string changed = bytes_;
    changed[block.offset()] ^= 1;
    auto store = open(changed);
    ASSERT_TRUE(store);
    EXPECT_FALSE((*store)->verify());
    ++flipped;
  }
  EXPECT_GT(flipped, 3);
}

TEST_F(DamagedStore, PlacesOutsideTheFileAreRefused) {
  using Entries = std::vector<SectionEntry>;
  const std::function<void(Entries&, StoreFooter&)> changes[] = {
      [](Entries& e, StoreFooter&) { e[0].offset = ~0ull; },
      [](Entries& e, StoreFooter&) { e[0].bytes = ~0ull; },
      [](Entries& e, StoreFooter&) { e[0].rows = ~0ull; },
      [](Entries& e, StoreFooter&) {  // an empty table: the number of blocks wraps around to 0
        for (SectionEntry& entry : e) {
          const bool is_queue = entry.table == static_cast<uint16_t>(Table::kQueues);
          if (entry.kind == SectionKind::kColumn && is_queue) entry.rows = ~0ull;
        }
      },
      [](Entries& e, StoreFooter&) { e[0].rank = 7; },
      [](Entries& e, StoreFooter&) { e[0].table = 99; },
      [](Entries& e, StoreFooter&) { e[0].column = 99; },
      [](Entries& e, StoreFooter&) { e[0].kind = static_cast<SectionKind>(77); },
      [](Entries& e, StoreFooter&) { e[0].offset += 4; },
      [](Entries& e, StoreFooter&) { e[5] = e[4]; },
      [](Entries&, StoreFooter& f) { f.rank_count = 1u << 19; },
      [](Entries&, StoreFooter& f) { f.rank_count = 2; },
      [](Entries&, StoreFooter& f) { f.rank_count = 0; },
  };
  for (size_t i = 0; i < std::size(changes); ++i) {
    auto store = open(with_directory(changes[i]));
    ASSERT_FALSE(store) << "change " << i;
    EXPECT_EQ(store.error().code, ErrorCode::kBadInput) << i;
  }
}

TEST_F(DamagedStore, RandomBytesInTheDataNeverCrash) {
  std::mt19937_64 random(31);
  for (int round = 0; round < 60; ++round) {
    std::string changed = bytes_;
    for (int i = 0; i < 200; ++i)
      changed[64 + random() % (footer().directory_offset - 64)] = static_cast<char>(random());
    auto store = open(changed);
    if (!store) continue;
    read_everything(**store);
    for (uint64_t row = 0; row < (*store)->rows(Table::kSlices, 0); row += 100) {
      const auto args = (*store)->args(0, row);
      if (!args) {
        EXPECT_FALSE(args.error().why.empty());
      }
    }
  }
}

}  // namespace
}  // namespace stepscope
