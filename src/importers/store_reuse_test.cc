// When a store is used again and when it is rebuilt, where it is written, and what a search that is
// given up or an input that changes leads to.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "importers/discover.h"
#include "importers/import_run.h"
#include "store/store_file.h"
#include "tests/support/child_process.h"
#include "tests/support/imported_run.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/trace_text.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;
using testing::event;
using testing::run_in_child;
using testing::TemporaryFolder;
using testing::trace_of;

// A timeline that two importers can read.
constexpr const char* kTimeline =
    R"([{"ph":"M","name":"process_name","pid":7,"tid":0,"args":{"name":"Ascend Hardware"}},
{"ph":"X","name":"MatMul_1","pid":7,"tid":2,"ts":"100.5","dur":3.0,"args":{"Task Type":"AI_CORE"}}])";

class StoreReuse : public ::testing::Test {
 protected:
  Result<ImportedRun> import(const std::string& path, const std::string& form = "") {
    ImportOptions options;
    options.form = form;
    options.jobs = 2;
    return import_run({path}, options, progress_);
  }
  static std::string format_of(const std::string& store_path) {
    auto store = StoreReader::open(store_path);
    if (!store) return store.error().message();
    return std::string((*store)->string((*store)->column(Table::kRanks, "source_format", 0).at(0)));
  }

  TemporaryFolder folder_;
  Progress progress_;
};

TEST_F(StoreReuse, AFormThatWasChosenStays) {
  const std::string path = folder_.write("job/msprof_1.json", kTimeline);
  auto chosen = import(path, "kineto");
  ASSERT_TRUE(chosen) << chosen.error().message();
  EXPECT_EQ(format_of(chosen->store_path), "kineto");
  auto opened = import(path);
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_FALSE(opened->imported);
  EXPECT_EQ(opened->store_path, chosen->store_path);
  EXPECT_EQ(format_of(opened->store_path), "kineto");
  auto other = import(path, "ascend_text");
  ASSERT_TRUE(other) << other.error().message();
  EXPECT_TRUE(other->imported);
  ASSERT_FALSE(other->notes.empty());
  EXPECT_NE(other->notes[0].find("another form was asked for"), std::string::npos);
  EXPECT_EQ(format_of(other->store_path), "ascend_text");
}

TEST_F(StoreReuse, AStoreOfAnotherVersionIsRebuiltWithALine) {
  const std::string path = folder_.write("t.json", trace_of({event("a", 1)}));
  auto first = import(path);
  ASSERT_TRUE(first) << first.error().message();
  {
    const uint32_t version = kStoreVersion + 1;
    std::fstream file(first->store_path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(offsetof(StoreHeader, version));
    file.write(reinterpret_cast<const char*>(&version), sizeof version);
  }
  auto again = import(path);
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_TRUE(again->imported);
  ASSERT_EQ(again->notes.size(), 1u);
  EXPECT_EQ(again->notes[0],
            "rebuilding " + first->store_path + ": it was made by another version");
  EXPECT_FALSE(import(path)->imported);
}

TEST_F(StoreReuse, WhatAProfilerWritesAboutItsRecordingIsNoPartOfTheInput) {
  const auto stamp = [&] { return *stamp_paths({folder_.path()}); };
  folder_.write("run/FRAMEWORK/stepscope.raw", "");
  const uint64_t before = stamp();
  folder_.write("run/profiler_info_0.json", "{}");
  folder_.write("run/profiler_metadata.json", "{}");
  EXPECT_EQ(stamp(), before);
  folder_.write("run/FRAMEWORK/pipeline_profiling_0.json", "{}");
  EXPECT_NE(stamp(), before);
  std::filesystem::remove(folder_.path("run/FRAMEWORK/stepscope.raw"));
  const uint64_t of_others = stamp();
  folder_.write("run/profiler_info_0.json", "{} ");
  EXPECT_NE(stamp(), of_others);
}

TEST_F(StoreReuse, BesideAReadOnlyFolderTheCacheIsUsed) {
  const TemporaryFolder cache;
  const std::string path = folder_.write("job/t.json", trace_of({event("a", 1)}));
  ::chmod(folder_.path().c_str(), 0755);
  ::chmod(folder_.path("job").c_str(), 0555);
  ::chmod(cache.path().c_str(), 0777);
  const auto twice = run_in_child([&] {
    // Root may write everywhere; a child can give that up.
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0))
      return std::string("skip");
    ::setenv("XDG_CACHE_HOME", cache.path().c_str(), 1);
    std::string text;
    for (int i = 0; i < 2; ++i) {
      auto run = import(path);
      if (!run) return run.error().message();
      text += (run->imported ? "imported " : "reused ") + run->store_path + "\n";
    }
    return text;
  });
  ::chmod(folder_.path("job").c_str(), 0755);
  if (twice.text == "skip") GTEST_SKIP() << "cannot give up the rights of root here";
  const std::string place = cache.path("stepscope/stores/t.json-");
  EXPECT_TRUE(twice.text.starts_with("imported " + place)) << twice.text;
  EXPECT_NE(twice.text.find("\nreused " + place), std::string::npos) << twice.text;
  EXPECT_FALSE(fs::exists(path + ".stepscope"));
}

TEST_F(StoreReuse, WithoutAHomeAFolderOfTheUserAloneIsUsed) {
  const TemporaryFolder temporary;
  const std::string path = folder_.write("job/t.json", trace_of({event("a", 1)}));
  ::chmod(folder_.path().c_str(), 0755);
  ::chmod(folder_.path("job").c_str(), 0555);
  ::chmod(temporary.path().c_str(), 0777);
  const auto outcome = run_in_child([&] {
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0))
      return std::string("skip");
    ::unsetenv("XDG_CACHE_HOME");
    ::setenv("TMPDIR", temporary.path().c_str(), 1);
    const std::string own = temporary.path("stepscope-" + std::to_string(::geteuid()));
    std::string text;
    for (const char* home : {"", "/nonexistent"}) {
      ::setenv("HOME", home, 1);
      const auto run = import(path);
      if (!run) return run.error().message();
      text += run->store_path.starts_with(own + "/stores/t.json-") ? "own " : run->store_path;
      fs::remove_all(own);
    }
    std::ofstream(own) << "taken";
    const auto run = import(path);
    return text + (run ? run->store_path : run.error().message());
  });
  ::chmod(folder_.path("job").c_str(), 0755);
  if (outcome.text == "skip") GTEST_SKIP() << "cannot give up the rights of root here";
  EXPECT_TRUE(outcome.text.starts_with("own own cannot write a store")) << outcome.text;
  EXPECT_NE(outcome.text.find("set XDG_CACHE_HOME to a folder you can write"), std::string::npos)
      << outcome.text;
}

TEST_F(StoreReuse, NobodyReadsAStoreWhoMayNotReadTheInput) {
  const TemporaryFolder folder;
  for (const int mode : {0600, 0640, 0644}) {
    const std::string path = folder.write("trace.json", trace_of({event("a", 1)}));
    ASSERT_EQ(::chmod(path.c_str(), static_cast<mode_t>(mode)), 0);
    const auto run = import(path);
    ASSERT_TRUE(run.ok()) << run.error().message();
    struct stat about{};
    ASSERT_EQ(::stat(run->store_path.c_str(), &about), 0);
    EXPECT_EQ(static_cast<int>(about.st_mode) & 077 & ~mode, 0);
    fs::remove(run->store_path);
  }
}

TEST_F(StoreReuse, WhatAKilledImportLeftIsRemoved) {
  const std::string path = folder_.write("t.json", trace_of({event("a", 1)}));
  const pid_t dead = ::fork();
  ASSERT_GE(dead, 0);
  if (dead == 0) ::_exit(0);
  ::waitpid(dead, nullptr, 0);
  const std::string left =
      folder_.write("t.json.stepscope.partial." + std::to_string(dead) + ".0", "half");
  ASSERT_TRUE(import(path));
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(path + ".stepscope"));
}

TEST_F(StoreReuse, ASearchThatIsGivenUpIsSaid) {
  folder_.write("job/near.json", trace_of({event("a", 1)}));
  std::string deep = "job";
  for (int level = 0; level < 30; ++level) deep += "/d";
  folder_.write(deep + "/far.json", trace_of({event("b", 1)}));
  testing::ImportedRun run(folder_.path("job"));
  ASSERT_TRUE(run.ok()) << run.error();
  EXPECT_EQ(run.store().rank_count(), 1u);
  EXPECT_EQ(run.quality("limit_reached"), 1);
  ASSERT_EQ(run.notes().size(), 1u);
  EXPECT_NE(run.notes()[0].find("more than 24 levels deep"), std::string::npos) << run.notes()[0];
  fs::remove(folder_.path("job/near.json"));
  auto nothing = import(folder_.path("job"));
  ASSERT_FALSE(nothing);
  EXPECT_NE(nothing.error().why.find("more than 24 levels deep"), std::string::npos)
      << nothing.error().message();
}

TEST_F(StoreReuse, FilesAreComparedWithWhatTheyWere) {
  const std::string path = folder_.write("a.csv", "x\n1\n");
  const std::string gone = folder_.write("b.csv", "x\n1\n");
  FileStamps before;
  ASSERT_TRUE(stamp_paths({folder_.path()}, &before));
  const std::vector<SourceFile> read = {{path, {}, "a", 1}};
  EXPECT_TRUE(check_unchanged(before, read));
  EXPECT_TRUE(check_unchanged(before, {{"/no/such/file", {}, "c", 1}}));  // not under the paths
  fs::remove(gone);
  EXPECT_TRUE(check_unchanged(before, read));  // another file
  EXPECT_EQ(check_unchanged(before, {{gone, {}, "b", 1}}).error().code, ErrorCode::kChanged);
  std::ofstream(path, std::ios::app) << "2\n";
  const Status changed = check_unchanged(before, read);
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().code, ErrorCode::kChanged);
  EXPECT_EQ(changed.error().where, path);
  EXPECT_TRUE(check_unchanged(before, {{path, {}, "ignored", 0}}));
  EXPECT_TRUE(check_unchanged(before, {{path, {}, "raw", 0}}));  // a recording of ours grows
}

// The timeline is read first and takes long enough for the table beside it to change meanwhile.
TEST_F(StoreReuse, ATableThatChangesWhileTheRankIsReadFailsIt) {
  const std::string output = "job_ascend_pt/ASCEND_PROFILER_OUTPUT/";
  std::string text = kTimeline;
  text.pop_back();
  for (int i = 0; i < 200'000; ++i) text += ",\n" + event("aten::op", i);
  folder_.write(output + "trace_view.json", text + "]");
  const std::string table = folder_.write(
      output + "kernel_details.csv",
      "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim\n"
      "1,MatMul_1,MatMulV2,AI_CORE,100.5\t,3.0,0,20\n");
  std::thread writer([&] {
    while (progress_.done_bytes() == 0) std::this_thread::yield();
    std::ofstream(table, std::ios::app) << "2,MatMul_2,MatMulV2,AI_CORE,200.5\t,3.0,0,20\n";
  });
  auto run = import(folder_.path("job_ascend_pt"));
  writer.join();
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::kChanged) << run.error().message();
  EXPECT_EQ(run.error().where, table);
  EXPECT_EQ(run.error().remedy, "wait until it is completely written, then import again");
  EXPECT_FALSE(fs::exists(folder_.path("job_ascend_pt/run.stepscope")));
}

}  // namespace
}  // namespace stepscope
