// Bad input: one clear message each (what, where, why, what to do), nothing left behind, no crash,
// no hang.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include <gtest/gtest.h>
#include <zlib.h>

#include "importers/import_run.h"
#include "store/store_reader.h"
#include "tests/support/child_process.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/trace_text.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;
using testing::event;
using testing::run_in_child;
using testing::trace_of;

class BadInput : public ::testing::Test {
 protected:
  Result<ImportedRun> import(const std::string& path, const std::string& output = "") {
    ImportOptions options;
    options.output = output.empty() ? out_.path("run.stepscope") : output;
    options.jobs = 2;
    return import_run({path}, options, progress_);
  }
  // The import fails with a complete message and leaves nothing.
  Error fails(const std::string& path) {
    auto run = import(path);
    if (run) {
      ADD_FAILURE() << path << " was imported";
      return {};
    }
    const Error error = run.error();
    EXPECT_FALSE(error.what.empty());
    EXPECT_NE(error.where.find(fs::path(path).filename().string()), std::string::npos)
        << error.message();
    EXPECT_FALSE(error.why.empty()) << error.message();
    EXPECT_FALSE(error.remedy.empty()) << error.message();
    EXPECT_EQ(error.message().find('\n'), std::string::npos) << error.message();
    expect_nothing_left();
    return error;
  }
  void expect_nothing_left() { EXPECT_TRUE(fs::is_empty(out_.path())); }
  static std::string gzip_of(const std::string& head, char filler, uint64_t count) {
    z_stream stream{};
    EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    std::string out;
    std::string buffer(1 << 16, '\0');
    const std::string block(1 << 20, filler);
    const auto feed = [&](const std::string& text, int flush) {
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
      stream.avail_in = static_cast<uInt>(text.size());
      do {
        stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
        stream.avail_out = static_cast<uInt>(buffer.size());
        ::deflate(&stream, flush);
        out.append(buffer, 0, buffer.size() - stream.avail_out);
      } while (stream.avail_out == 0);
    };
    feed(head, Z_NO_FLUSH);
    for (uint64_t done = 0; done < count; done += block.size()) feed(block, Z_NO_FLUSH);
    feed("", Z_FINISH);
    deflateEnd(&stream);
    return out;
  }
  std::string large_trace(int events) {
    const std::string path = in_.path("large.json");
    std::ofstream out(path, std::ios::binary);
    out << "{\"traceEvents\": [";
    for (int i = 0; i < events; ++i)
      out << (i == 0 ? "" : ",\n") << event("aten::some_operator" + std::to_string(i % 1000), i);
    out << "]}";
    return path;
  }

  testing::TemporaryFolder in_;
  testing::TemporaryFolder out_;
  Progress progress_;
};

TEST_F(BadInput, NothingThere) {
  EXPECT_EQ(fails(in_.path("none.json")).code, ErrorCode::kNotFound);
  EXPECT_EQ(fails(in_.write("empty.json", "")).why, "the file is empty");
  fs::create_directory(in_.path("folder"));
  EXPECT_EQ(fails(in_.path("folder")).why, "the folder is empty");
  in_.write("folder/notes.txt", "hello");
  EXPECT_NE(fails(in_.path("folder")).why.find("none is a trace"), std::string::npos);
  EXPECT_FALSE(import_run({}, {}, progress_));
}

TEST_F(BadInput, NotATrace) {
  const std::pair<std::string, std::string> files[] = {
      {"text.json", "hello world"},
      {"object.json", R"({"a": [1, 2]})"},
      {"number.json", "42"},
      {"gzip.json.gz", "\x1F\x8B and then nothing of the kind"},
      {"zstd.zst", std::string("\x28\xB5\x2F\xFD") + std::string(50, 'x')},
      {"zip.zip", std::string("PK\x03\x04") + std::string(100, 'x')},
      {"binary", std::string(100'000, '\xFF')},
      {"zeros", std::string(100'000, '\0')},
      {"database.db", "SQLite format 3" + std::string(100, '\0')},
  };
  for (const auto& [name, bytes] : files) {
    const Error error = fails(in_.write(name, bytes));
    EXPECT_TRUE(error.code == ErrorCode::kNotRecognised || error.code == ErrorCode::kBadInput)
        << error.message();
  }
  EXPECT_NE(fails(in_.write("wide.json", "\xFF\xFE{")).why.find("save it as UTF-8"),
            std::string::npos);
  EXPECT_TRUE(
      fails(in_.write("list.json", "[ ]\n")).why.starts_with("its list of events is empty"));
}

TEST_F(BadInput, ATraceWithNothingInIt) {
  EXPECT_EQ(fails(in_.write("a.json", R"({"traceEvents": []})")).why,
            "its list of events is empty");
  EXPECT_EQ(fails(in_.write("b.json", R"({"schemaVersion": 1, "traceEvents": [)")).why,
            "it ends before the first complete event");
  EXPECT_EQ(fails(in_.write("c.json", R"({"traceEvents": [{"ph": "X" "name" 1}]})")).why,
            "none of its events can be read");
  EXPECT_FALSE(fails(in_.write("d.json", R"({"schemaVersion": 1, "deviceProp)")).why.empty());
}

TEST_F(BadInput, StoresThatAreDamaged) {
  ASSERT_TRUE(import(in_.write("t.json", trace_of({event("a", 1)})), in_.path("good.stepscope")));
  const std::string bytes = *read_file(in_.path("good.stepscope"), 1 << 20);
  auto run = import(in_.write("cut.stepscope", bytes.substr(0, bytes.size() / 2)));
  ASSERT_TRUE(run);  // a store is given back as it is; opening it says what is wrong
  auto store = StoreReader::open(run->store_path);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().why, "its end is missing");
  EXPECT_EQ(store.error().remedy, "delete it and import the trace again");
}

TEST_F(BadInput, GzipBombs) {
  const std::string bomb = gzip_of("{\"traceEvents\": [", ' ', 200 << 20);
  ASSERT_LT(bomb.size(), 300'000u);
  const Error error = fails(in_.write("bomb.json.gz", bomb));
  EXPECT_EQ(error.code, ErrorCode::kLimit);
  EXPECT_NE(error.why.find("expands more than"), std::string::npos);
  (void)fails(in_.write("zeros.json.gz", gzip_of("", '\0', 100 << 20)));
}

TEST_F(BadInput, TenMillionLevels) {
  constexpr size_t kLevels = testing::kSanitized ? 1'000'000 : 10'000'000;
  const auto repeated = [](std::string_view piece) {
    std::string text;
    text.reserve(piece.size() * kLevels);
    for (size_t i = 0; i < kLevels; ++i) text += piece;
    return text;
  };
  (void)fails(in_.write("lists.json", repeated("[")));
  (void)fails(in_.write("objects.json", repeated("{\"a\":")));
  (void)fails(
      in_.write("in_args.json", "{\"traceEvents\": [{\"ph\": \"X\", \"args\": " + repeated("[")));
  (void)fails(in_.write("in_events.json", "{\"traceEvents\": " + repeated("[{\"args\":")));
  // What is around it is kept.
  auto run = import(in_.write("kept.json", "{\"traceEvents\": [" + event("a", 1) + "," +
                                               R"({"ph": "X", "args": )" + repeated("[") +
                                               repeated("]") + "}," + event("b", 2) + "]}"));
  ASSERT_TRUE(run) << run.error().message();
  EXPECT_EQ((*StoreReader::open(run->store_path))->rows(Table::kSlices), 2u);
}

TEST_F(BadInput, AVeryLongString) {
  const std::string path = in_.path("long.json");
  {
    std::ofstream out(path, std::ios::binary);
    out << "{\"traceEvents\": [" << event("before", 1) << ", {\"ph\": \"X\", \"name\": \"";
    const std::string block(1 << 20, 'x');
    for (int i = 0; i < 80; ++i) out << block;
    out << "\", \"pid\": 1, \"tid\": 1, \"ts\": 5, \"dur\": 1}, " << event("after", 9) << "]}";
  }
  const auto result = run_in_child([&] {
    auto run = import(path);
    if (!run) return run.error().message();
    auto store = StoreReader::open(run->store_path);
    std::string names;
    for (uint64_t row = 0; row < (*store)->rows(Table::kSlices); ++row) {
      const auto name = (*store)->string((*store)->column(Table::kSlices, "name", 0).at(row));
      names += (name.size() > 100 ? "long" : std::string(name)) + " ";
    }
    return names;
  });
  ASSERT_TRUE(result.exited_well);
  EXPECT_NE(result.text.find("before"), std::string::npos) << result.text;
  EXPECT_NE(result.text.find("after"), std::string::npos) << result.text;
  if (!testing::kSanitized) {
    EXPECT_LT(result.peak_bytes, 700ull << 20);
  }
}

TEST_F(BadInput, MayNotBeRead) {
  const std::string secret = in_.write("run/secret.json", trace_of({event("a", 1)}));
  in_.write("run/open.json", trace_of({event("b", 1)}));
  in_.write("closed/t.json", trace_of({event("b", 1)}));
  ::chmod(secret.c_str(), 0);
  ::chmod(in_.path("closed").c_str(), 0);
  for (const std::string& folder : {in_.path(), out_.path(), in_.path("run")})
    ::chmod(folder.c_str(), 0777);
  const auto as_nobody = [&](const std::string& path) {
    return run_in_child([&] {
      // Root may read everything; a child can give that up.
      if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0))
        return std::string("skip");
      auto run = import(path);
      if (!run)
        return std::to_string(static_cast<int>(run.error().code)) + " " + run.error().message();
      std::string text = "imported";
      for (const std::string& note : run->notes) text += "; " + note;
      return text;
    });
  };
  const auto file = as_nobody(secret);
  if (file.text == "skip") GTEST_SKIP() << "cannot give up the rights of root here";
  const std::string denied = std::to_string(static_cast<int>(ErrorCode::kPermission)) + " ";
  EXPECT_TRUE(file.text.starts_with(denied)) << file.text;
  EXPECT_NE(file.text.find("secret.json"), std::string::npos);
  EXPECT_NE(file.text.find("check owner and mode"), std::string::npos) << file.text;
  const auto closed = as_nobody(in_.path("closed"));
  EXPECT_TRUE(closed.text.starts_with(denied)) << closed.text;
  // A readable rank beside it is imported, and the other is named.
  const auto both = as_nobody(in_.path("run"));
  EXPECT_TRUE(both.text.starts_with("imported")) << both.text;
  EXPECT_NE(both.text.find("secret.json cannot be read"), std::string::npos) << both.text;
  ::chmod(in_.path("closed").c_str(), 0755);
}

TEST_F(BadInput, TheDiskIsFull) {
  const std::string path = large_trace(30'000);
  for (const rlim_t most : {rlim_t{0}, rlim_t{10'000}, rlim_t{200'000}}) {
    const auto result = run_in_child([&] {
      ::signal(SIGXFSZ, SIG_IGN);
      const struct rlimit limit{most, most};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      auto run = import(path);
      if (run) return std::string("imported");
      return std::to_string(static_cast<int>(run.error().code)) + " " + run.error().message();
    });
    ASSERT_TRUE(result.exited_well);
    EXPECT_TRUE(result.text.starts_with(std::to_string(static_cast<int>(ErrorCode::kNoSpace))))
        << result.text;
    EXPECT_NE(result.text.find("cannot write"), std::string::npos) << result.text;
    EXPECT_NE(result.text.find("run.stepscope"), std::string::npos) << result.text;
    EXPECT_NE(result.text.find("ulimit -f"), std::string::npos) << result.text;
    expect_nothing_left();
  }
}

TEST_F(BadInput, TheFileChangesWhileItIsRead) {
  const std::string path = large_trace(200'000);
  std::thread writer([&] {
    while (progress_.done_bytes() == 0) std::this_thread::yield();
    std::ofstream(path, std::ios::app) << " ";
  });
  auto run = import(path);
  writer.join();
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::kChanged) << run.error().message();
  EXPECT_EQ(run.error().where, path);
  EXPECT_FALSE(run.error().remedy.empty());
  expect_nothing_left();
}

TEST_F(BadInput, TheOutputFolderIsMissing) {
  auto run =
      import(in_.write("t.json", trace_of({event("a", 1)})), out_.path("none/run.stepscope"));
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().what, "cannot write");
  EXPECT_NE(run.error().where.find("none/run.stepscope"), std::string::npos);
  EXPECT_EQ(run.error().remedy, "check the path");
  expect_nothing_left();
}

TEST_F(BadInput, CancelledBeforeAndDuring) {
  const std::string path = large_trace(200'000);
  progress_.cancel();
  auto before = import(path);
  ASSERT_FALSE(before);
  EXPECT_EQ(before.error().code, ErrorCode::kCancelled);
  expect_nothing_left();
  Progress progress;
  ImportOptions options;
  options.output = out_.path("run.stepscope");
  std::thread user([&] {
    while (progress.done_bytes() == 0) std::this_thread::yield();
    progress.cancel();
  });
  auto during = import_run({path}, options, progress);
  user.join();
  ASSERT_FALSE(during);
  EXPECT_EQ(during.error().code, ErrorCode::kCancelled);
  expect_nothing_left();
}

TEST_F(BadInput, OneBadRankDoesNotLoseTheOthers) {
  const auto rank = [](int number, const std::string& events) {
    return "{\"distributedInfo\": {\"rank\": " + std::to_string(number) + "}, \"traceEvents\": [" +
           events;
  };
  in_.write("run/r0.json", rank(0, event("a", 1) + "]}"));
  in_.write("run/r1.json", rank(1, ""));
  in_.write("run/r2.json", rank(2, event("b", 1) + "]}"));
  auto run = import(in_.path("run"));
  ASSERT_TRUE(run) << run.error().message();
  ASSERT_EQ(run->notes.size(), 1u);
  EXPECT_NE(run->notes[0].find("rank 1 could not be read"), std::string::npos) << run->notes[0];
  EXPECT_NE(run->notes[0].find("r1.json"), std::string::npos);
  auto store = StoreReader::open(run->store_path);
  ASSERT_TRUE(store);
  EXPECT_EQ((*store)->rank_count(), 3u);
  EXPECT_EQ((*store)->rows(Table::kSlices), 2u);
  std::map<std::string, std::string> report;  // of rank 1
  for (uint64_t row = 0; row < (*store)->rows(Table::kQuality, 1); ++row) {
    const auto text = [&](std::string_view column) {
      return std::string((*store)->string((*store)->column(Table::kQuality, column, 1).at(row)));
    };
    report[text("code")] = text("example");
  }
  EXPECT_NE(report["failed_rank"].find("r1.json"), std::string::npos) << report["failed_rank"];
}

// Files that are made to be slow: the time must grow with the size, not with its square.
TEST_F(BadInput, HostileFilesAreReadInTime) {
  constexpr int kEvents = testing::kSanitized ? 20'000 : 100'000;
  const auto seconds_for = [&](const std::function<std::string(int)>& event_of) {
    std::string text = "{\"traceEvents\": [";
    for (int i = 0; i < kEvents; ++i) text += (i == 0 ? "" : ",\n") + event_of(i);
    const std::string path = in_.write("hostile.json", text + "]}");
    const std::clock_t start = std::clock();  // of all threads, whatever else the machine does
    auto run = import(path);
    EXPECT_TRUE(run) << run.error().message();
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  constexpr double kLimit = 30;  // seconds; thirty times what it takes
  EXPECT_LT(seconds_for([](int i) { return event("odd\"quote", i); }), kLimit);
  EXPECT_LT(seconds_for([](int i) {
              return i % 2 == 0 ? event("good", i) : event("lost", i, "\"k\": [1").substr(0, 100);
            }),
            kLimit);
  EXPECT_LT(seconds_for([](int i) { return event("c", i, "", "category" + std::to_string(i)); }),
            kLimit);
  EXPECT_LT(seconds_for([](int i) {
              return R"({"ph": "s", "id": 1, "cat": "x", "ts": 1, "pid": 1, "tid": )" +
                     std::to_string(i) + "}";
            }),
            kLimit);
  EXPECT_LT(seconds_for([](int i) {
              return i % 2 == 0
                         ? event("same", 0)
                         : R"({"ph": "f", "id": 1, "cat": "x", "ts": 0, "pid": 10, "tid": 11})";
            }),
            kLimit);
  EXPECT_LT(seconds_for([](int i) {
              return event("ProfilerStep#" + std::to_string(i), (i * 7919) % kEvents);
            }),
            kLimit);
}

}  // namespace
}  // namespace stepscope
