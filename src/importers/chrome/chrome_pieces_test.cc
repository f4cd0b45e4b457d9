// One trace, one result: whatever the pieces, the threads and the packing.
#include <zlib.h>
#include <zstd.h>

#include "importers/chrome/chrome_reader.h"
#include "store/store_writer.h"
#include "tests/support/imported_run.h"
#include "tests/support/table_dump.h"
#include "tests/support/trace_text.h"

namespace stepscope {
namespace {

using testing::event;
using testing::ImportedRun;
using testing::TemporaryFolder;
using testing::trace_of;

// Everything that a trace can have, several pieces of 1000 bytes long, with damage in some places.
std::string rich_trace() {
  std::vector<std::string> events;
  for (int i = 0; i < 120; ++i) {
    const std::string n = std::to_string(i);
    const std::string ts = std::to_string(i * 100);
    events.push_back(event("ProfilerStep#" + n, i * 100, "", "user_annotation"));
    events.push_back(
        event("op" + std::to_string(i % 7), i * 100 + 10,
              "\"External id\": " + n + R"(, "Input Dims": [[1, 2], []], "s": "a\"b")"));
    events.push_back(
        event("cudaLaunchKernel", i * 100 + 11, "\"correlation\": " + n, "cuda_runtime"));
    events.push_back(R"({"ph": "s", "id": )" + n + R"(, "pid": 10, "tid": 11, "ts": )" +
                     std::to_string(i * 100 + 11) + R"(, "cat": "ac2g", "name": "ac2g"})");
    events.push_back(R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": )" +
                     std::to_string(i * 100 + 20) + R"(, "dur": 9, "args": {"correlation": )" + n +
                     R"(, "stream": 7, "grid": [1, 1, 1]}})");
    if (i % 3 == 0) {
      events.push_back(R"({"ph": "i", "s": "t", "name": "mark", "pid": 10, "tid": 11, "ts": )" +
                       ts + "}");
    }
    events.push_back(R"({"ph": "f", "id": )" + n + R"(, "pid": 0, "tid": 7, "ts": )" +
                     std::to_string(i * 100 + 20) +
                     R"(, "cat": "ac2g", "name": "ac2g", "bp": "e"})");
    if (i % 5 == 0) events.push_back(event("say \"" + n, i * 100 + 30));
    if (i % 11 == 0) events.push_back(event("two\nlines", i * 100 + 40, R"("k": "x"y"z")"));
    if (i % 13 == 0) events.push_back(R"({"ph": "X", "name": "cut", "args": {"a": 1)");
    if (i % 17 == 0) {
      events.push_back(
          event("lists", i * 100 + 50, R"("l": [{"name": "x"}, {"ph": "y"}, {"ts": 1}])"));
    }
    if (i % 19 == 0) {
      events.push_back(R"({"ph": "s", "id": 900)" + n + R"(, "pid": 10, "tid": 11, "ts": )" + ts +
                       R"(, "cat": "async", "name": "other word"})");
    }
    events.push_back(R"({"ph": "C", "name": "c", "pid": 10, "tid": 11, "ts": )" + ts +
                     R"(, "args": {"a": )" + n + R"(, "b": 1.5}})");
    events.push_back(R"({"ph": ")" + std::string(i % 2 == 0 ? "B" : "E") +
                     R"(", "name": "be", "pid": 10, "tid": 12, "ts": )" + ts + "}");
  }
  events.push_back(
      R"({"ph": "M", "name": "thread_name", "pid": 10, "tid": 11, "args": {"name": "main"}})");
  return trace_of(events, R"("schemaVersion": 1, "INFO": ["a "b" c"])");
}

struct ReadOnce {
  std::string tables;
  std::string properties;
  uint64_t events = 0;
};

ReadOnce read(const std::string& path, size_t piece_bytes, unsigned threads) {
  TemporaryFolder folder;
  Progress progress;
  const ImportContext context{progress, threads, 0};
  RankBuilder rank;
  ChromeOptions options;
  options.piece_bytes = piece_bytes;
  auto trace = read_chrome_trace(path, options, context, rank);
  EXPECT_TRUE(trace) << trace.error().message();
  if (!trace) return {};
  auto writer = StoreWriter::create(folder.path("s"), 1);
  EXPECT_TRUE(writer && (*writer)->add_rank(0, rank, threads) && (*writer)->finish("{}"));
  auto store = StoreReader::open(folder.path("s"));
  EXPECT_TRUE(store);
  return {testing::dump_tables(**store), trace->properties, trace->events};
}

TEST(Pieces, TheResultDoesNotDependOnThemOrOnThreads) {
  TemporaryFolder folder;
  const std::string path = folder.write("t.json", rich_trace());
  const ReadOnce wanted = read(path, 512 * 1024, 1);
  EXPECT_GT(wanted.events, 1000u);
  EXPECT_NE(wanted.tables.find("code='repaired_event'"), std::string::npos);
  for (const size_t piece_bytes :
       {size_t{64}, size_t{300}, size_t{1000}, size_t{4096}, size_t{512} << 10}) {
    for (const unsigned threads : {1u, 2u, 4u}) {
      const ReadOnce now = read(path, piece_bytes, threads);
      EXPECT_EQ(now.events, wanted.events) << piece_bytes << " " << threads;
      EXPECT_EQ(now.properties, wanted.properties);
      ASSERT_TRUE(now.tables == wanted.tables)
          << piece_bytes << " bytes, " << threads << " threads";
    }
  }
}

// --- packing -----------------------------------------------------------------------------------

std::string deflate(const std::string& text, int window_bits, int level = 6) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, level, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string gzip(const std::string& text) { return deflate(text, 15 + 16); }

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string number(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

// Members: name, plain text.
std::string zip(const std::vector<std::pair<std::string, std::string>>& members, int method = 8) {
  std::string out;
  std::string directory;
  for (const auto& [name, text] : members) {
    const std::string data = method == 8 ? deflate(text, -15) : text;
    const std::string sizes = number(::crc32(0, reinterpret_cast<const Bytef*>(text.data()),
                                             static_cast<uInt>(text.size())),
                                     4) +
                              number(data.size(), 4) + number(text.size(), 4);
    const std::string common = number(20, 2) + number(0, 2) +
                               number(static_cast<uint64_t>(method), 2) + number(0, 4) + sizes +
                               number(name.size(), 2) + number(0, 2);
    directory += "PK\x01\x02" + number(20, 2) + common + number(0, 2) + number(0, 2) +
                 number(0, 2) + number(0, 4) + number(out.size(), 4) + name;
    out += "PK\x03\x04" + common + name + data;
  }
  const size_t at = out.size();
  const std::string count = number(members.size(), 2);
  return out + directory + "PK\x05\x06" + number(0, 4) + count + count +
         number(directory.size(), 4) + number(at, 4) + number(0, 2);
}

class Packed : public ::testing::Test {
 protected:
  // Tables, without the lines that name the file.
  std::string tables(const std::string& path, size_t piece_bytes = 1000) {
    std::string text = read(path, piece_bytes, 2).tables;
    std::string kept;
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at);
      const std::string line = text.substr(at, end + 1 - at);
      if (!line.starts_with("sources ")) kept += line;
      at = end + 1;
    }
    return kept;
  }
  TemporaryFolder folder_;
};

TEST_F(Packed, EveryPackingGivesTheSameTables) {
  const std::string text = rich_trace();
  const std::string wanted = tables(folder_.write("plain", text));
  const std::pair<std::string, std::string> packed[] = {
      {"a.json.gz", gzip(text)},
      {"two_members.gz", gzip(text.substr(0, 5000)) + gzip(text.substr(5000))},
      {"padded.gz", gzip(text) + std::string(100, '\0')},
      {"b.zst", zstd(text)},
      {"two_frames.zst", zstd(text.substr(0, 5000)) + zstd(text.substr(5000))},
      {"c.zip", zip({{"small.txt", "no"}, {"trace.json", text}})},
      {"stored.zip", zip({{"small.txt", "no"}, {"trace.json", text}, {"z.txt", "no"}}, 0)},
      {"gzip_named_json.json", gzip(text)},
  };
  for (const auto& [name, bytes] : packed) {
    EXPECT_TRUE(tables(folder_.write(name, bytes)) == wanted) << name;
    ImportedRun run(folder_.path(name));
    EXPECT_TRUE(run.ok()) << name << ": " << run.error();
  }
}

TEST_F(Packed, APackedFileThatEndsEarlyKeepsItsBeginning) {
  std::vector<std::string> events;  // several of zstd's blocks of 128 KiB
  for (int i = 0; i < 6000; ++i) events.push_back(event("n" + std::to_string(i * 7919), i));
  const std::string text = trace_of(events);
  for (const auto& [name, bytes] :
       {std::pair{"a.gz", gzip(text)}, std::pair{"b.zst", zstd(text)}}) {
    ImportedRun run(folder_.write(name, bytes.substr(0, bytes.size() * 3 / 4)));
    ASSERT_TRUE(run.ok()) << name << ": " << run.error();
    EXPECT_EQ(run.quality("truncated_input"), 1) << name;
    EXPECT_GT(run.column("slices", "ts").size(), 2000u);
    EXPECT_LT(run.column("slices", "ts").size(), 6000u);
  }
}

TEST_F(Packed, AStoredMemberThatLiesAboutItsSizeIsReadToTheEndOfTheFile) {
  const std::string text = rich_trace();
  std::string liar = zip({{"t.json", text}}, 0);
  const size_t entry = liar.find("PK\x01\x02");
  liar.replace(entry + 20, 4, number(text.size() * 4, 4));
  ImportedRun longer(folder_.write("longer.zip", liar));
  ASSERT_TRUE(longer.ok()) << longer.error();
  ImportedRun honest(folder_.write("honest.zip", zip({{"t.json", text}}, 0)));
  EXPECT_EQ(longer.column("slices", "ts"), honest.column("slices", "ts"));
  liar.replace(entry + 20, 4, number(text.size() / 2, 4));
  ImportedRun shorter(folder_.write("shorter.zip", liar));
  ASSERT_TRUE(shorter.ok()) << shorter.error();
  EXPECT_EQ(shorter.quality("truncated_input"), 1);
}

TEST_F(Packed, EveryTraceOfAZipIsARank) {
  const std::string first = trace_of({event("of rank 0", 1, R"("a": 0)")});
  const std::string second = trace_of({event("of rank 1", 1, R"("a": 1)"), event("more", 5)});
  for (const int method : {8, 0}) {
    ImportedRun run(folder_.write("two.zip", zip({{"rank0.json", first},
                                                  {"notes.txt", "not a trace"},
                                                  {"deep/rank1.json", second},
                                                  {"table.csv", "a,b"}},
                                                 method)));
    ASSERT_TRUE(run.ok()) << run.error();
    EXPECT_EQ(run.column("ranks", "rank"), (std::vector<int64_t>{0, 1}));
    EXPECT_EQ(run.texts("sources", "path")[1], folder_.path("two.zip") + "/deep/rank1.json");
    EXPECT_EQ(run.column("slices", "ts").size(), 3u);
    const auto args = run.store().args(1, 0);
    EXPECT_EQ(args.ok() ? *args : args.error().message(), R"({"a": 1})");
    EXPECT_EQ(run.quality("ignored_file"), 2);
    ASSERT_EQ(run.notes().size(), 1u);
    EXPECT_NE(run.notes()[0].find("2 of its 4 members were not read (notes.txt ...); unpack it"),
              std::string::npos)
        << run.notes()[0];
  }
  ImportedRun none(folder_.write("none.zip", zip({{"a.txt", "no"}, {"b.txt", "no"}})));
  EXPECT_NE(none.error().find("none of the 2 members of the zip is a trace"), std::string::npos)
      << none.error();
}

// The checksum stands behind the text: all of it was read.
TEST_F(Packed, AFlawBehindTheTextLosesNothing) {
  const std::string text =
      trace_of({event("ProfilerStep#3", 1, "", "user_annotation"), event("a", 2)});
  std::string wrong_sum = gzip(text);
  wrong_sum[wrong_sum.size() - 8] = static_cast<char>(wrong_sum[wrong_sum.size() - 8] ^ 1);
  for (const auto& [name, bytes, flaws] :
       {std::tuple{"sum.gz", wrong_sum, 1}, std::tuple{"behind.gz", gzip(text) + "garbage", 1},
        std::tuple{"short.gz", gzip(text).substr(0, gzip(text).size() - 4), 1},
        std::tuple{"padded.gz", gzip(text) + std::string(9, '\0'), 0}}) {
    ImportedRun run(folder_.write(name, bytes));
    ASSERT_TRUE(run.ok()) << run.error();
    EXPECT_EQ(run.quality("damaged_packing"), flaws) << name;
    EXPECT_EQ(run.quality("truncated_input"), 0) << name;
    EXPECT_EQ(run.column("steps", "complete"), std::vector<int64_t>{1}) << name;
  }
}

TEST_F(Packed, DamagedZipsSayWhatToDo) {
  const std::string text = rich_trace();
  const std::string good = zip({{"t.json", text}});
  std::string encrypted = good;
  encrypted[good.find("PK\x01\x02") + 8] = 1;
  const std::pair<std::string, std::string> bad[] = {
      {"another method", zip({{"t.json", text}}, 12)},
      {"encrypted", encrypted},
      {"no directory", good.substr(0, good.size() - 30)},
      {"short", good.substr(0, 10)},
      {"no members", zip({})},
  };
  for (const auto& [name, bytes] : bad) {
    auto source = ImportedRun(folder_.write(name + ".zip", bytes));
    EXPECT_FALSE(source.ok()) << name;
    EXPECT_NE(source.error().find(name), std::string::npos) << source.error();
  }
}

}  // namespace
}  // namespace stepscope
