#include "deliverables/chrome_trace.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "json/json_tree.h"
#include "store/store_writer.h"
#include "tests/support/chrome_format.h"
#include "tests/support/sample_store.h"

namespace stepscope {
namespace {

using Json = nlohmann::json;
using testing::TemporaryFolder;

constexpr int64_t kBase = 1'700'000'000'000'000'000;

std::string export_text(const std::string& path, size_t rank, const ChromeTraceOptions& options) {
  auto store = StoreReader::open(path);
  if (!store) return store.error().message();
  std::string out;
  const auto status = write_chrome_trace(**store, rank, options, [&](std::string_view text) {
    out += text;
    return Status();
  });
  return status ? out : status.error().message();
}

Json events_named(const Json& trace, const std::string& name) {
  Json found = Json::array();
  for (const Json& event : trace["traceEvents"]) {
    if (event.value("name", "") == name) found.push_back(event);
  }
  return found;
}

TEST(ChromeTrace, HeadAndTimes) {
  const TemporaryFolder folder;
  const std::string text = export_text(testing::write_sample_store(folder, 2), 1, {});
  const Json trace = json_tree(text);
  ASSERT_FALSE(trace.is_discarded()) << text;
  EXPECT_EQ(trace["baseTimeNanoseconds"], kBase);
  EXPECT_EQ(trace["distributedInfo"]["rank"], 1);
  EXPECT_EQ(trace["distributedInfo"]["world_size"], 2);
  EXPECT_EQ(trace["deviceProperties"][0]["name"], "NVIDIA H200");
  EXPECT_NE(text.find(R"("ts":1.500,"dur":0.100,"cat":"cuda_runtime")"), std::string::npos) << text;
  const Json op = events_named(trace, "aten::mm")[0];
  EXPECT_EQ(op["ph"], "X");
  EXPECT_EQ(op["args"]["Input Dims"][1][1], 4);
  EXPECT_EQ(op["pid"], 100);
}

TEST(ChromeTrace, OverlapsGetLanesOfTheirOwn) {
  const TemporaryFolder folder;
  const Json trace = json_tree(export_text(testing::write_sample_store(folder, 1), 0, {}));
  EXPECT_EQ(events_named(trace, "gemm_kernel")[0]["tid"], 7);
  EXPECT_EQ(events_named(trace, "add_kernel")[0]["tid"], "7 (overlap 1)");
  int named = 0;
  for (const Json& event : events_named(trace, "thread_name")) {
    if (event["tid"] != "7 (overlap 1)") continue;
    ++named;
    EXPECT_EQ(event["args"]["name"], "stream 7 (overlap 1)");
    EXPECT_EQ(event["args"]["overlap_of"], 7);
  }
  EXPECT_EQ(named, 1);
  const auto errors = testing::ChromeFormat::errors(trace, true);
  ASSERT_EQ(errors.size(), 1u) << write_json(Json(errors));  // the recording has that length wrong
  EXPECT_NE(errors[0].find("\"broken\""), std::string::npos) << errors[0];
}

TEST(ChromeTrace, ArrowsInstantsCountersMemory) {
  const TemporaryFolder folder;
  const Json trace = json_tree(export_text(testing::write_sample_store(folder, 1), 0, {}));
  const Json launches = events_named(trace, "ac2g");
  ASSERT_EQ(launches.size(), 4u);
  for (const Json& arrow : launches) EXPECT_EQ(arrow["cat"], "ac2g");
  const Json arrows = events_named(trace, "fwdbwd");
  ASSERT_EQ(arrows.size(), 2u);
  EXPECT_EQ(arrows[0]["ph"], "s");
  EXPECT_EQ(arrows[1]["ph"], "f");
  EXPECT_EQ(arrows[1]["bp"], "e");
  EXPECT_EQ(arrows[0]["id"], arrows[1]["id"]);
  const Json marker = events_named(trace, "marker \"quoted\"")[0];
  EXPECT_EQ(marker["ph"], "i");
  EXPECT_EQ(marker["s"], "t");
  EXPECT_EQ(events_named(trace, "utilisation")[1]["args"]["value"], 1.25);
  const Json memory = events_named(trace, "[memory]");
  ASSERT_EQ(memory.size(), 2u);
  EXPECT_EQ(memory[1]["args"], Json({{"Addr", 4096},
                                     {"Bytes", -512},
                                     {"Device Id", 0},
                                     {"Device Type", 1},
                                     {"Total Allocated", 1024},
                                     {"Total Reserved", 2048}}));
}

TEST(ChromeTrace, ChoiceOfTimeAndSteps) {
  const TemporaryFolder folder;
  const std::string path = testing::write_sample_store(folder, 1);
  ChromeTraceOptions options;
  options.to_ns = kBase + 1200;
  Json trace = json_tree(export_text(path, 0, options));
  EXPECT_EQ(events_named(trace, "aten::mm").size(), 1u);
  EXPECT_EQ(events_named(trace, "aten::add").size(), 0u);
  EXPECT_EQ(events_named(trace, "fwdbwd").size(), 0u);
  EXPECT_EQ(events_named(trace, "[memory]").size(), 1u);
  options = {};
  options.steps = {8};
  trace = json_tree(export_text(path, 0, options));
  EXPECT_EQ(events_named(trace, "aten::mm").size(), 0u);
  EXPECT_EQ(events_named(trace, "[memory]").size(), 0u);
}

TEST(ChromeTrace, HostileTextStaysJson) {
  const TemporaryFolder folder;
  RankBuilder rank;
  TrackInfo info;
  info.kind = TrackKind::kHost;
  info.pid = rank.strings.intern("Sp\"ans");
  info.tid = rank.strings.intern("007");
  info.thread = rank.strings.intern("a\nb");
  const TrackId track = rank.add_track(info);
  const auto add = [&](std::string_view name, std::string_view args, int64_t start) {
    SliceRecord slice;
    slice.ts_ns = start;
    slice.dur_ns = 10;
    slice.name = rank.strings.intern(name);
    slice.args = rank.add_args(args);
    rank.add_slice(track, slice);
  };
  add("quote \" back \\ \x01 \xFF end", R"({"path": "C:\new"})", 10);
  add("nan", R"({"x": NaN, })", 30);
  auto writer = StoreWriter::create(folder.path("x.stepscope"), 1);
  ASSERT_TRUE(writer);
  ASSERT_TRUE((*writer)->add_rank(0, rank, 1));
  ASSERT_TRUE((*writer)->finish("{}"));
  const std::string text = export_text(folder.path("x.stepscope"), 0, {});
  const Json trace = json_tree(text);
  ASSERT_FALSE(trace.is_discarded()) << text;
  EXPECT_EQ(events_named(trace, "nan")[0]["args"]["raw"], R"({"x": NaN, })");
  EXPECT_EQ(events_named(trace, "nan")[0]["tid"], "007");
}

}  // namespace
}  // namespace stepscope
