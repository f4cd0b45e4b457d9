#include "deliverables/chrome_arrows.h"

#include <map>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "deliverables/chrome_trace.h"
#include "deliverables/trace_view.h"
#include "json/json_tree.h"
#include "tests/support/made_run.h"
#include "tests/support/rank_making.h"

namespace stepscope {
namespace {

using nlohmann::json;

struct Recorded {
  std::string device_kind;
  std::string format;
  std::string path;
  std::string arrow;  // from the operator to the kernel, as the source has it
};

// An operator whose call launches a kernel; an arrow of the host to itself.
void fill(RankBuilder& rank, const Recorded& what) {
  rank.info.device_kind = what.device_kind;
  rank.info.source_format = what.format;
  rank.info.source_path = what.path;
  const TrackId thread = testing::host_track(rank, "main");
  const TrackId stream = testing::device_track(rank, 0, 7);
  rank.track(thread).pid = rank.track(thread).tid = rank.strings.intern("1");
  rank.track(stream).pid = rank.track(stream).tid = rank.strings.intern("7");
  SliceRecord op = testing::slice_of(rank, "MatMul", 1000, 500, SliceKind::kOp);
  op.external_id = rank.pack_id(3);
  rank.add_slice(thread, op);
  SliceRecord call = testing::slice_of(rank, "launch", 1100, 100, SliceKind::kLaunchCall);
  call.correlation = rank.pack_id(11);
  rank.add_slice(thread, call);
  SliceRecord kernel = testing::slice_of(rank, "gemm", 2000, 900, SliceKind::kKernel);
  kernel.external_id = op.external_id;
  kernel.correlation = call.correlation;
  rank.add_slice(stream, kernel);
  rank.add_slice(stream, testing::slice_of(rank, "alone", 4000, 100, SliceKind::kKernel));
  const auto arrow = [&](std::string_view kind, TrackId to, int64_t end_ns) {
    const StringId word = rank.strings.intern(kind);
    rank.flows.push_back({1000, 5, word, thread, FlowPhase::kStart});
    rank.flows.push_back({end_ns, 5, word, to, FlowPhase::kEnd});
  };
  arrow("async_task_queue", thread, 1100);
  arrow("async_mindspore", thread, 1100);
  if (!what.arrow.empty()) arrow(what.arrow, stream, 2000);
}

// What the arrows are called, with how many ends, and whether each is whole.
std::map<std::string, int> arrows_in(const json& events, bool marks_start) {
  std::map<std::string, int> names;
  std::map<std::string, int> open;
  for (const json& event : events) {
    const std::string phase = event["ph"];
    if (phase != "s" && phase != "f") continue;
    ++names[event["cat"].get<std::string>() + " " + event["name"].get<std::string>()];
    open[event["cat"].get<std::string>() + event["id"].dump()] += phase == "s" ? 1 : -1;
    const bool has_mark = phase == "f" || (marks_start && event["cat"] != "HostToDevice");
    EXPECT_EQ(event.contains("bp"), has_mark) << event.dump();
  }
  for (const auto& [id, ends] : open) EXPECT_EQ(ends, 0) << id;
  return names;
}

std::map<std::string, int> arrows_of(const Recorded& what, bool is_view) {
  const testing::TemporaryFolder folder;
  const auto store = testing::made_store(folder, [&](RankBuilder& rank) { fill(rank, what); });
  std::string text;
  const auto sink = [&](std::string_view piece) {
    text += piece;
    return Status();
  };
  const Status status =
      is_view ? write_trace_view(*store, 0, {}, {}, sink) : write_chrome_trace(*store, 0, {}, sink);
  EXPECT_TRUE(status.ok());
  const json trace = json_tree(text);
  return arrows_in(is_view ? trace : trace["traceEvents"], is_view);
}

using Names = std::map<std::string, int>;

TEST(ChromeArrows, ATraceViewHasTheNamesOfItsFramework) {
  const Names mindspore =
      arrows_of({"Ascend NPU", "ascend_text", "x_ascend_ms", "async_npu"}, true);
  EXPECT_EQ(mindspore.at("async_npu mindspore_to_npu"), 2);
  EXPECT_EQ(mindspore.at("async_mindspore mindspore_to_self"), 2);
  const Names torch = arrows_of({"Ascend NPU", "ascend_text", "x_ascend_pt", "async_npu"}, true);
  EXPECT_EQ(torch.at("async_npu torch_to_npu"), 2);
  EXPECT_EQ(torch.at("async_task_queue enqueue_to_dequeue"), 2);
}

// The names of arrows of launches have their ids in them.
bool has_launch_of_ascend(const Names& names) {
  const auto found = names.lower_bound("HostToDevice HostToDevice");
  return found != names.end() && found->first.starts_with("HostToDevice HostToDevice") &&
         found->second == 2;
}

TEST(ChromeArrows, LinksOfTheStoreAreDrawnWhereTheSourceDrawsNone) {
  const Names drawn = arrows_of({"Ascend NPU", "native", "x_ascend_ms", ""}, true);
  EXPECT_EQ(drawn.size(), 4u);
  EXPECT_EQ(drawn.at("async_npu mindspore_to_npu"), 2);
  EXPECT_TRUE(has_launch_of_ascend(drawn));
  // A launch that the source draws is not drawn twice.
  EXPECT_EQ(arrows_of({"NVIDIA GPU", "kineto", "", "ac2g"}, true).at("ac2g ac2g"), 2);
  EXPECT_EQ(arrows_of({"NVIDIA GPU", "kineto", "", ""}, true).at("ac2g ac2g"), 2);
}

TEST(ChromeArrows, AnExportHasThoseOfItsSourceAndOurRecordingsTheirLaunches) {
  EXPECT_EQ(
      arrows_of({"NVIDIA GPU", "kineto", "", ""}, false),
      (Names{{"async_mindspore async_mindspore", 2}, {"async_task_queue async_task_queue", 2}}));
  EXPECT_EQ(arrows_of({"NVIDIA GPU", "native", "", ""}, false).at("ac2g ac2g"), 2);
}

}  // namespace
}  // namespace stepscope
