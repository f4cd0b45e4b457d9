// The system's figures, from a /proc of the test's own.
#include "collector/sources/system/system_source.h"

#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/chunk_builder.h"
#include "format/chunk_reader.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

constexpr const char* kTaskStat = "%d (%s) S 1 1 1 0 -1 4194304 100 0 0 0 %d %d 0 0 20 0 3 0 5 0 0";

std::string task_stat(int id, const std::string& name, int user, int system) {
  char text[256];
  std::snprintf(text, sizeof text, kTaskStat, id, name.c_str(), user, system);
  return text;
}

class FakeProc {
 public:
  void machine(int user, int system, int idle, int iowait, int switches, int runnable) {
    folder_.write("stat", "cpu  " + std::to_string(user) + " 0 " + std::to_string(system) + " " +
                              std::to_string(idle) + " " + std::to_string(iowait) +
                              " 0 0 0 0 0\ncpu0 1 1 1 1 1 1 1 1 1 1\nctxt " +
                              std::to_string(switches) + "\nprocs_running " +
                              std::to_string(runnable) + "\n");
  }
  void process(int user) {
    folder_.write("10/stat", task_stat(10, "train (v2)", user, 5));
    folder_.write("10/statm", "1000 50 20 1 0 1 0");
    folder_.write("10/task/10/stat", task_stat(10, "train (v2)", user, 0));
    folder_.write("10/task/11/stat", task_stat(11, "loader", 0, 0));
    folder_.write("10/task/11/children", "20 ");
    folder_.write("20/stat", task_stat(20, "worker", user * 2, 0));
    folder_.write("20/statm", "1000 30 20 1 0 1 0");
  }
  void bytes(int sectors, int received) {
    folder_.write("diskstats",
                  "259 0 nvme0n1 5 0 " + std::to_string(sectors) +
                      " 0 7 0 16 0 0 0 0\n259 1 nvme0n1p1 5 0 999 0 7 0 999 0 0 0 0\n");
    folder_.write("net/dev",
                  "Inter-| Receive\n face |bytes\n    lo: 77 0 0 0 0 0 0 0 77 0\n  eth0: " +
                      std::to_string(received) + " 0 0 0 0 0 0 0 30 0\n");
  }
  std::string root() const { return folder_.path(); }

 private:
  testing::TemporaryFolder folder_;
};

// The last value of each series.
std::map<std::string, double> collect(SystemSource& source) {
  ChunkBuilder builder;
  NameTable names;
  LastingRows lasting(builder);
  SourceOutput output{builder, names, lasting};
  source.collect(output);
  names.visit_from(0, [&](uint32_t id, std::string_view text) { builder.add_string(id, text); });
  const auto packed = builder.pack(0);
  const testing::TemporaryFolder folder;
  const std::string path = folder.write(
      "x.raw", std::string(kRawFileMagic) +
                   std::string(reinterpret_cast<const char*>(packed.data()), packed.size()));
  auto reader = ChunkReader::open(path);
  RawChunk chunk;
  if (!reader || !reader->next(chunk)) return {};
  std::map<int64_t, std::string> texts;
  for (const RawString& string : chunk.strings) texts[string.id] = string.text;
  std::map<std::string, double> values;
  for (const RawTable& table : chunk.tables)
    values[texts[table.key]] = std::bit_cast<double>(table.column("value")->back());
  return values;
}

TEST(SystemSource, SharesOfTheMachineAddUpAndRatesNeedTwoSamples) {
  FakeProc proc;
  proc.machine(100, 50, 800, 50, 1000, 3);
  proc.process(10);
  proc.bytes(100, 1000);
  SystemSource source({1000, proc.root(), 10});
  source.sample();
  auto values = collect(source);
  EXPECT_EQ(values["machine runnable processes"], 3);
  EXPECT_EQ(values["machine processors"], 1);
  EXPECT_EQ(values["process resident bytes"], 50.0 * static_cast<double>(::sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(values["process threads"], 2);
  EXPECT_FALSE(values.contains("process cpu %"));

  proc.machine(130, 60, 850, 60, 3000, 1);
  proc.process(60);
  proc.bytes(300, 5000);
  ::usleep(20'000);
  source.sample();
  values = collect(source);
  EXPECT_DOUBLE_EQ(values["machine cpu user %"], 30);
  EXPECT_DOUBLE_EQ(values["machine cpu system %"], 10);
  EXPECT_DOUBLE_EQ(values["machine cpu idle %"], 50);
  EXPECT_DOUBLE_EQ(values["machine cpu iowait %"], 10);
  EXPECT_GT(values["process cpu %"], 0);
  // Twice the work in the same time.
  EXPECT_NEAR(values["worker cpu % 20 worker"] / values["process cpu %"], 2, 1e-9);
  EXPECT_NEAR(values["thread cpu % 10 train (v2)"] / values["process cpu %"], 1, 1e-9);
  EXPECT_EQ(values["thread cpu % 11 loader"], 0);
  EXPECT_NEAR(values["disk read bytes/s"] / values["network received bytes/s"], 200.0 * 512 / 4000,
              1e-9);
  EXPECT_EQ(values["disk write bytes/s"], 0);
}

TEST(SystemSource, WithoutProcItSaysSo) {
  SystemSource source({1000, "/nowhere", 1});
  const Status started = source.start();
  ASSERT_FALSE(started.ok());
  EXPECT_NE(started.error().message().find("/nowhere/stat"), std::string::npos);
}

TEST(SystemSource, TheRealProcGivesPlausibleFigures) {
  SystemSource source({5, "/proc", 0});
  ASSERT_TRUE(source.start().ok());
  ::usleep(60'000);
  source.stop();
  const auto values = collect(source);
  ASSERT_TRUE(values.contains("process resident bytes"));
  EXPECT_GT(values.at("process resident bytes"), 1 << 20);
  EXPECT_GE(values.at("process threads"), 1);
}

TEST(ProcFiles, BrokenTextsAreNothing) {
  EXPECT_FALSE(parse_machine(""));
  EXPECT_FALSE(parse_machine("ctxt 5\n"));
  EXPECT_FALSE(parse_task("12 no parentheses"));
  EXPECT_FALSE(parse_task(") backwards ("));
  EXPECT_EQ(parse_task("7 (x) S")->cpu, 0);
  EXPECT_EQ(parse_task(task_stat(7, "x) S (y", 1, 2))->started, 5);
  EXPECT_EQ(parse_network("garbage\n: \n").in, 0);
  EXPECT_EQ(parse_disks("8 0 sda\n").in, 0);
}

}  // namespace
}  // namespace stepscope
