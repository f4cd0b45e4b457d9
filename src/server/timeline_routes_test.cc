#include <cstring>
#include <map>
#include <set>

#include "json/json_tree.h"
#include "server/lane_segments.h"
#include "server/slice_colour.h"
#include "tests/support/server_fixture.h"

namespace stepscope {
namespace {

using nlohmann::json;

// Two steps; an operator with a child and a launching call, its kernel on a stream, a collective
// beside it, forward and backward joined by an arrow, a counter and memory events.
std::string rich_trace() {
  return testing::trace_of(
      {R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 0, "dur": 100})",
       R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", "pid": 1, "tid": 1, "ts": 100, "dur": 100})",
       R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 20, "args": {"External id": 5}})",
       R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 12, "dur": 4, "args": {"External id": 5, "correlation": 9}})",
       R"({"ph": "s", "id": 9, "pid": 1, "tid": 1, "ts": 12, "cat": "ac2g", "name": "ac2g"})",
       R"({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 30, "dur": 40, "args": {"device": 0, "stream": 7, "correlation": 9, "External id": 5}})",
       R"({"ph": "f", "id": 9, "pid": 0, "tid": 7, "ts": 30, "cat": "ac2g", "name": "ac2g", "bp": "e"})",
       R"({"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 20, "ts": 60, "dur": 30, "args": {"device": 0, "stream": 20, "correlation": 11}})",
       R"({"ph": "X", "cat": "cpu_op", "name": "MmBackward0", "pid": 1, "tid": 2, "ts": 110, "dur": 20})",
       R"({"ph": "s", "id": 3, "pid": 1, "tid": 1, "ts": 10, "cat": "fwdbwd", "name": "fwdbwd"})",
       R"({"ph": "f", "id": 3, "pid": 1, "tid": 2, "ts": 110, "cat": "fwdbwd", "name": "fwdbwd", "bp": "e"})",
       R"({"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 900})",
       R"({"ph": "C", "name": "queue", "pid": 1, "tid": 1, "ts": 10, "args": {"value": 3}})",
       R"({"ph": "C", "name": "queue", "pid": 1, "tid": 1, "ts": 50, "args": {"value": 8}})",
       R"({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 15, "args": {"Total Reserved": 4096, "Total Allocated": 1024, "Bytes": 1024, "Addr": 16, "Device Id": 0, "Device Type": 1}})",
       R"({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 80, "args": {"Total Reserved": 4096, "Total Allocated": 0, "Bytes": -1024, "Addr": 16, "Device Id": 0, "Device Type": 1}})"});
}

class TimelineRoutes : public testing::ServerFixture {
 protected:
  void SetUp() override {
    ServerFixture::SetUp();
    folder_.write("runs/rich.json", rich_trace());
    start();
    run_ = ready("rich.json");
  }
  std::string bytes(const std::string& path) {
    auto reply = client_->Get("/api/v1/" + run_ + path, headers_);
    EXPECT_TRUE(reply && reply->status == 200) << path << (reply ? reply->body : "");
    return reply ? reply->body : "";
  }
  json slice(const std::string& name) {
    const json hits = get(run_ + "/timeline/search?q=" + name);
    EXPECT_GE(hits["hits"].size(), 1u) << name;
    return get(run_ + "/slices/" + write_json(hits["hits"][0]["slice"]));
  }
  json lane(const std::string& kind) {
    const json reply = get(run_ + "/timeline/lanes");
    for (const json& one : reply["lanes"]) {
      if (one["kind"] == kind) return one;
    }
    ADD_FAILURE() << kind << " in " << write_json(reply);
    return {};
  }
  template <class T>
  static std::vector<T> array(const std::string& body, size_t at, size_t count) {
    std::vector<T> values(count);
    EXPECT_LE(at + count * sizeof(T), body.size());
    if (at + count * sizeof(T) <= body.size())
      std::memcpy(values.data(), body.data() + at, count * sizeof(T));
    return values;
  }

  std::string run_;
};

TEST_F(TimelineRoutes, ComputedLanesAreDrawnLikeTracks) {
  const json computation = lane("merged_computation");
  EXPECT_EQ(computation["process"], "Op Overlap Analyse");
  EXPECT_EQ(computation["busy_ns"], 40'000);
  EXPECT_EQ(lane("merged_communication")["busy_ns"], 30'000);
  const json pure = lane("pure_communication");
  EXPECT_EQ(pure["busy_ns"], 20'000);
  lane("step");

  const std::string body =
      bytes("/timeline/view?from=0&to=200000&width=1000&tracks=" + write_json(pure["track"]));
  const auto head = array<uint32_t>(body, 0, 4);
  EXPECT_EQ(head[0], 0x31565353u);
  ASSERT_EQ(head[1], 1u);
  ASSERT_EQ(head[2], 1u);
  EXPECT_EQ(array<double>(body, 32, 1)[0], 70'000);  // start
  EXPECT_EQ(array<double>(body, 40, 1)[0], 90'000);  // end
  EXPECT_EQ(array<double>(body, 48, 1)[0], -1);      // no slice
  const auto name = array<uint32_t>(body, 56, 1)[0];
  EXPECT_EQ(get(run_ + "/timeline/names?ids=" + std::to_string(name))["names"][0],
            "communication_not_overlapped");
  get(run_ + "/timeline/view?tracks=" + std::to_string(kFirstComputedLane + 900), 404);
}

TEST_F(TimelineRoutes, TracksSayHowBusyTheyAre) {
  const json reply = get(run_ + "/timeline/tracks");
  EXPECT_EQ(reply["from"], 0);
  EXPECT_EQ(reply["to"], 200'000);  // the mark at 900 has no length
  const json tracks = reply["tracks"];
  const json busy = get(run_ + "/timeline/lanes")["busy"];
  ASSERT_EQ(busy.size(), tracks.size());
  for (size_t i = 0; i < tracks.size(); ++i) {
    if (tracks[i].value("stream", 0) != 7) continue;
    EXPECT_EQ(busy[i], 40'000);
  }
}

TEST_F(TimelineRoutes, CurvesOfCountersAndMemory) {
  const json series = get(run_ + "/timeline/series")["series"];
  std::map<std::string, json> by_name;
  for (const json& one : series) by_name[one["name"]] = one;
  ASSERT_TRUE(by_name.contains("allocated")) << write_json(series);
  EXPECT_EQ(by_name["allocated"]["kind"], "memory");
  EXPECT_EQ(by_name["allocated"]["unit"], "bytes");
  EXPECT_EQ(by_name["allocated"]["high"], 1024);
  EXPECT_EQ(by_name["reserved"]["low"], 4096);
  ASSERT_TRUE(by_name.contains("queue")) << write_json(series);
  EXPECT_EQ(by_name["queue"]["kind"], "counter");
  EXPECT_EQ(by_name["queue"]["last"], 50'000);

  const std::string body = bytes("/timeline/curves?from=0&to=200000&width=1000&series=" +
                                 write_json(by_name["queue"]["series"]));
  const auto head = array<uint32_t>(body, 0, 4);
  EXPECT_EQ(head[0], 0x31435353u);
  EXPECT_EQ(head[1], 1u);
  ASSERT_EQ(head[2], 2u);
  EXPECT_EQ(array<double>(body, 24, 2), (std::vector<double>{10'000, 50'000}));
  EXPECT_EQ(array<double>(body, 24 + 3 * 16, 2), (std::vector<double>{3, 8}));
  get(run_ + "/timeline/curves?series=999", 404);
  get(run_ + "/timeline/curves?series=x", 400);
  get(run_ + "/timeline/curves?width=0", 400);
}

TEST_F(TimelineRoutes, ASliceHasItsArrowsWithBothEnds) {
  const json kernel = slice("gemm");
  ASSERT_GE(kernel["arrows"].size(), 1u) << write_json(kernel);
  const json& arrow = kernel["arrows"][0];
  EXPECT_EQ(arrow["from"]["name"], "cudaLaunchKernel");
  EXPECT_EQ(arrow["from"]["start"], 12'000);
  EXPECT_EQ(arrow["to"]["name"], "gemm");
  EXPECT_EQ(arrow["to"]["slice"], kernel["place"]["slice"]);
  // Each pair of ends is told once.
  size_t launches = 0;
  for (const json& one : kernel["arrows"]) launches += one["from"]["name"] == "cudaLaunchKernel";
  EXPECT_EQ(launches, 1u);

  const json backward = slice("MmBackward0");
  ASSERT_EQ(backward["arrows"].size(), 1u) << write_json(backward);
  EXPECT_EQ(backward["arrows"][0]["kind"], "fwdbwd");
  EXPECT_EQ(backward["arrows"][0]["from"]["name"], "aten::mm");
}

TEST_F(TimelineRoutes, ASliceKnowsItsOwnTimeAndItsNeighbours) {
  const json op = slice("aten::mm");
  EXPECT_EQ(op["self_ns"], 16'000);  // without the launching call
  EXPECT_EQ(op["parents"][0]["name"], "ProfilerStep#1");
  const json step = slice("ProfilerStep%231");
  EXPECT_TRUE(step["previous"].is_null());
  const json next = get(run_ + "/slices/" + write_json(step["next"]));
  EXPECT_EQ(next["slice"]["name"], "ProfilerStep#2");
}

TEST_F(TimelineRoutes, SearchPagesThroughTime) {
  const json all = get(run_ + "/timeline/search?q=ProfilerStep");
  EXPECT_EQ(all["total"], 2);
  EXPECT_EQ(all["before"], 0);
  const json later = get(run_ + "/timeline/search?q=ProfilerStep&from=50000");
  EXPECT_EQ(later["total"], 2);
  EXPECT_EQ(later["before"], 1);
  ASSERT_EQ(later["hits"].size(), 1u);
  const json last = get(run_ + "/timeline/search?q=ProfilerStep&latest=1&limit=1");
  EXPECT_EQ(last["before"], 1);
  EXPECT_EQ(last["hits"][0]["name"], "ProfilerStep#2");
  EXPECT_EQ(get(run_ + "/timeline/search?q=ProfilerStep&rank=7")["total"], 0);
}

TEST_F(TimelineRoutes, ARangeIsToldByNameAndByTrack) {
  const json range = get(run_ + "/timeline/range?from=40000&to=80000");
  std::map<std::string, json> rows;
  for (const json& row : range["rows"]) rows[row["name"]] = row;
  EXPECT_EQ(rows["gemm"]["total_ns"], 30'000);  // what lies inside
  EXPECT_EQ(rows["gemm"]["max_ns"], 40'000);    // all of it
  EXPECT_EQ(rows["gemm"]["colour"].get<int>() & 15, static_cast<int>(SliceColour::kComputing));
  EXPECT_EQ(rows["ncclDevKernel_AllReduce"]["total_ns"], 20'000);
  int64_t busy = 0;
  std::map<int64_t, int64_t> computed;
  for (const json& track : range["tracks"]) {
    if (track["track"] < kFirstComputedLane) {
      busy += track["busy_ns"].get<int64_t>();
    } else {
      computed[track["track"]] = track["busy_ns"];
    }
  }
  EXPECT_EQ(computed[lane("merged_computation")["track"]], 30'000);
  EXPECT_EQ(computed[lane("pure_communication")["track"]], 10'000);
  EXPECT_EQ(busy, 30'000 + 20'000 + 40'000);  // two streams and the step
  EXPECT_EQ(get(run_ + "/timeline/range?rank=4")["names"], 0);
}

TEST_F(TimelineRoutes, AnArchiveHasARankAFile) {
  const std::string all = bytes("/timeline/archive");
  EXPECT_EQ(all.substr(0, 4), "PK\x03\x04");
  EXPECT_NE(all.find("rank_0_0.pt.trace.json"), std::string::npos);
  // What touches the second step only.
  EXPECT_LT(bytes("/timeline/archive?from=105000&to=200000").size(), all.size());
  get(run_ + "/timeline/archive?rank=5", 404);
  get(run_ + "/timeline/archive?from=x", 400);
}

TEST(SliceColours, TheTrackDecidesWhereTheNameDoesNot) {
  const uint8_t unknown = shaded(slice_colour("", "Conv2D-op1"), "Conv2D-op1");
  EXPECT_EQ(unknown & 15, static_cast<int>(SliceColour::kOther));
  EXPECT_EQ(on_track(unknown, "device") & 15, static_cast<int>(SliceColour::kComputing));
  EXPECT_EQ(on_track(unknown, "communication") & 15, static_cast<int>(SliceColour::kCommunication));
  EXPECT_EQ(on_track(unknown, "device") >> 4, unknown >> 4);
  EXPECT_EQ(on_track(unknown, "host"), unknown);
  const uint8_t wait = shaded(slice_colour("", "EVENT_WAIT"), "EVENT_WAIT");
  EXPECT_EQ(wait & 15, static_cast<int>(SliceColour::kSync));
  EXPECT_EQ(on_track(wait, "device"), wait);
}

TEST(SliceColours, ShadesDependOnTheNameAlone) {
  EXPECT_EQ(shaded(SliceColour::kHost, "aten::mm"), shaded(SliceColour::kHost, "aten::mm"));
  std::set<int> shades;
  for (const char* name : {"a", "b", "gemm", "relu", "conv", "add", "mul", "softmax", "copy"}) {
    EXPECT_EQ(shaded(SliceColour::kHost, name) & 15, static_cast<int>(SliceColour::kHost));
    shades.insert(shaded(SliceColour::kHost, name) >> 4);
  }
  EXPECT_GT(shades.size(), 3u);
}

// A device that runs behind the host: two steps are marked, and its work begins when the second
// does. An annotation and a wait lie on its streams; marks before and behind everything.
std::string late_device_trace() {
  return testing::trace_of(
      {R"({"ph": "i", "s": "t", "cat": "trace", "name": "begin", "pid": 1, "tid": 1, "ts": 0})",
       R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 500, "dur": 100})",
       R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 510, "dur": 4, "args": {"correlation": 9}})",
       R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", "pid": 1, "tid": 1, "ts": 600, "dur": 100})",
       R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 610, "dur": 4, "args": {"correlation": 10}})",
       R"({"ph": "X", "cat": "gpu_user_annotation", "name": "ProfilerStep#1", "pid": 0, "tid": 7, "ts": 650, "dur": 100, "args": {"device": 0, "stream": 7}})",
       R"({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 660, "dur": 40, "args": {"device": 0, "stream": 7, "correlation": 9}})",
       R"({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 760, "dur": 20, "args": {"device": 0, "stream": 7, "correlation": 10}})",
       R"({"ph": "i", "s": "t", "cat": "trace", "name": "end", "pid": 0, "tid": 7, "ts": 2000})"});
}

class LateDevice : public TimelineRoutes {
 protected:
  void SetUp() override {
    ServerFixture::SetUp();
    folder_.write("runs/late.json", late_device_trace());
    start();
    run_ = ready("late.json");
  }
  size_t stream() {
    const json tracks = get(run_ + "/timeline/tracks")["tracks"];
    for (size_t i = 0; i < tracks.size(); ++i) {
      if (tracks[i].value("stream", 0) == 7) return i;
    }
    ADD_FAILURE() << write_json(tracks);
    return 0;
  }
};

TEST_F(LateDevice, MarksAtTheEndsOfALaneAreNotShownAsTheRun) {
  const json reply = get(run_ + "/timeline/tracks");
  EXPECT_EQ(reply["from"], 500'000);
  EXPECT_EQ(reply["to"], 780'000);  // the last work of a lane that ends with a mark
}

TEST_F(LateDevice, AStreamIsBusyWithDeviceWorkOnly) {
  EXPECT_EQ(get(run_ + "/timeline/lanes")["busy"][stream()], 60'000);
  EXPECT_EQ(lane("merged_computation")["busy_ns"], 60'000);
  const json range = get(run_ + "/timeline/range?from=680000&to=770000");
  const size_t wanted = stream();
  for (const json& track : range["tracks"]) {
    if (track["track"] != wanted) continue;
    EXPECT_EQ(track["busy_ns"], 30'000);
  }
}

TEST_F(LateDevice, StepsOfADeviceAreThoseOfItsWork) {
  const json steps = lane("step");
  const std::string body =
      bytes("/timeline/view?from=0&to=1000000&width=1000&tracks=" + write_json(steps["track"]));
  const auto head = array<uint32_t>(body, 0, 4);
  ASSERT_EQ(head[2], 2u);
  EXPECT_EQ(array<double>(body, 48, 1)[0], 700'000);  // end of the first: of its kernel
}

TEST_F(LateDevice, ARangeTellsSelfTimes) {
  const json range = get(run_ + "/timeline/range?from=500000&to=600000");
  std::map<std::string, json> rows;
  for (const json& row : range["rows"]) rows[row["name"]] = row;
  EXPECT_EQ(rows["ProfilerStep#1"]["total_ns"], 100'000);
  EXPECT_EQ(rows["ProfilerStep#1"]["self_ns"], 96'000);
  EXPECT_EQ(rows["cudaLaunchKernel"]["self_ns"], 4'000);
  EXPECT_EQ(range["self_ns"], 100'000);  // every moment once
  EXPECT_EQ(range["total_ns"], 104'000);
}

}  // namespace
}  // namespace stepscope
