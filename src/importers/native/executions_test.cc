#include "importers/native/executions.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/chunk_builder.h"
#include "importers/import_run.h"
#include "store/store_reader.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

using testing::TemporaryFolder;

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kNoon = 1'598'961'600 * kSecond;  // 2020-09-01 12:00:00 UTC
enum class Ending { kStopped, kKilled };

class Executions : public ::testing::Test {
 protected:
  // What a process left that recorded a rank between two seconds behind noon.
  void record(int64_t rank, int64_t pid, int64_t from, int64_t to,
              Ending ending = Ending::kStopped) {
    const auto number = [](int64_t value) { return std::to_string(value); };
    const std::string name = "node_" + number(pid) + "_" + number(from) + "_ascend_ms";
    ChunkBuilder chunk;
    chunk.add_note("recording", R"({"rank":)" + number(rank) + R"(,"host":"node","pid":)" +
                                    number(pid) + R"(,"started_ns":)" +
                                    number(kNoon + from * kSecond) + "}");
    add_clock(chunk, from);
    std::string file(kRawFileMagic);
    append(chunk, 0, file);
    add_clock(chunk, to);
    append(chunk, 1, file);
    if (ending == Ending::kStopped) {
      chunk.add_note("end", R"({"seconds":)" + number(to - from) + "}");
      append(chunk, 2, file);
    }
    folder_.write("data/" + name + "/FRAMEWORK/stepscope.raw", file);
  }

  // The processes whose recordings are opened, with the ranks.
  std::string opened() {
    ImportOptions options;
    Progress progress;
    const auto run = import_run({folder_.path("data")}, options, progress);
    EXPECT_TRUE(run) << run.error().message();
    notes_ = run->notes;
    const auto store = StoreReader::open(run->store_path);
    EXPECT_TRUE(store);
    std::string text;
    for (size_t at = 0; at < (*store)->rank_count(); ++at) {
      const auto value = [&](const char* column) {
        return std::to_string((*store)->column(Table::kRanks, column, at).at(0));
      };
      text +=
          (text.empty() ? "" : " ") + value("rank") + ":" + value("pid") + "/" + value("window");
    }
    return text;
  }

  std::vector<std::string> notes_;

 private:
  static void append(ChunkBuilder& chunk, uint64_t number, std::string& file) {
    const auto packed = chunk.pack(number);
    file.append(reinterpret_cast<const char*>(packed.data()), packed.size());
  }
  static void add_clock(ChunkBuilder& chunk, int64_t second) {
    static constexpr std::string_view kColumns[] = {"ticks", "monotonic_ns", "realtime_ns"};
    const int64_t ns = second * kSecond;
    chunk.table({"clocks", kColumns}, 0).add({ns, ns, kNoon + ns});
  }

  TemporaryFolder folder_;
};

TEST_F(Executions, WindowsOfOneProcessAreOne) {
  record(0, 7, 0, 10);
  record(0, 7, 20, 30);
  EXPECT_EQ(opened(), "0:7/0 0:7/1");
  EXPECT_TRUE(notes_.empty());
}

TEST_F(Executions, TheNewestIsOpenedAndSaysSo) {
  record(0, 10, 0, 10);
  record(1, 11, 1, 10);
  record(0, 10, 12, 20, Ending::kKilled);
  record(1, 9, 30, 40);  // its ranks begin in another order
  record(0, 8, 31, 40);
  EXPECT_EQ(opened(), "0:8/0 1:9/0");
  const std::vector<std::string> said = {
      "2 executions in this folder; this is the newest, started 2020-09-01 12:00:30 UTC; name the "
      "folder of another to open it"};
  EXPECT_EQ(notes_, said);
  EXPECT_EQ(opened(), "0:8/0 1:9/0");
  EXPECT_EQ(notes_, said) << "also when the store is there already";
  record(0, 12, 50, 60);
  EXPECT_EQ(opened(), "0:12/0");
}

TEST_F(Executions, ProcessesThatRecordAtTheSameTimeStayTogether) {
  for (const Ending ending : {Ending::kStopped, Ending::kKilled}) {
    record(0, 10, 0, 30, ending);
    record(0, 11, 20, 40, ending);
    EXPECT_EQ(opened(), "0:10/0 0:11/1");
  }
}

}  // namespace
}  // namespace stepscope
