// What begin and end events become, and what the quality report says: counts, examples, marks.
#include <algorithm>

#include "tests/support/imported_trace.h"

namespace stepscope {
namespace {

using testing::event;
using testing::trace_of;

using Names = std::vector<std::string>;

class Quality : public testing::ImportedTrace {
 protected:
  std::string example(const std::string& code) const {
    const auto codes = run_->texts("quality", "code");
    const auto found = std::find(codes.begin(), codes.end(), code);
    if (found == codes.end()) return "no " + code;
    return run_->texts("quality", "example")[static_cast<size_t>(found - codes.begin())];
  }
  // An event of any phase.
  static std::string raw(char phase, const std::string& name, int64_t ts, const std::string& more) {
    return R"({"ph": ")" + std::string(1, phase) + R"(", "name": ")" + name +
           R"(", "pid": 0, "tid": 7, "ts": )" + std::to_string(ts) + more + "}";
  }
};

TEST_F(Quality, BeginAndEndAreWhatTheirCategorySays) {
  import(trace_of(
      {event("cudaLaunchKernel", 1, R"("correlation": 5)", "cuda_runtime"),
       raw('B', "k", 10, R"(, "cat": "kernel", "args": {"correlation": 5, "grid": [1, 2, 3]})"),
       raw('E', "k", 12, ""),  // without its category
       raw('B', "op", 20, R"(, "cat": "cpu_op", "args": {"External id": 8})"),
       raw('E', "op", 25, R"(, "cat": "cpu_op")")}));
  EXPECT_EQ(run_->texts("kernels", "name"), Names{"k"});
  EXPECT_EQ(run_->column("kernels", "dur"), std::vector<int64_t>{2000});
  EXPECT_EQ(run_->texts("kernels", "grid"), Names{"[1, 2, 3]"});
  EXPECT_EQ(run_->column("kernels", "queue_delay"), std::vector<int64_t>{9000});
  EXPECT_EQ(run_->column("kernels", "device"), std::vector<int64_t>{0});
  EXPECT_EQ(run_->texts("ops", "name"), Names{"op"});
  EXPECT_EQ(run_->column("ops", "external_id"), std::vector<int64_t>{8});
  EXPECT_EQ(run_->quality("begin_without_end"), 0);
  EXPECT_EQ(run_->quality("end_without_begin"), 0);
}

TEST_F(Quality, EntriesThatAreNoEventsAreCountedOneByOne) {
  import(R"({"traceEvents": [7, )" + event("a", 1) +
         R"(,"str, \"2\"",7,null,[],[1,[2]],true,{}, )" + event("b", 2) + ", -1.5, \"end\"]}");
  EXPECT_EQ(run_->texts("slices", "name"), (Names{"a", "b"}));
  EXPECT_EQ(run_->quality("unparsable_event"), 10);
  EXPECT_EQ(run_->quality("truncated_input"), 0);
}

TEST_F(Quality, AnEventWithoutALengthIsNotOneOfLengthZero) {
  import(trace_of(
      {event("a", 1), raw('X', "no length", 2, ""), raw('X', "zero", 3, R"(, "dur": 0)")}));
  EXPECT_EQ(run_->column("slices", "ts").size(), 3u);
  EXPECT_EQ(run_->quality("zero_duration"), 1);
  EXPECT_EQ(run_->quality("bad_number"), 1);
  EXPECT_NE(example("bad_number").find("no length has no length"), std::string::npos);
}

TEST_F(Quality, RecordingsOfOneRankAtTheSameTimeAreDoubtful) {
  const auto of_rank = [](int rank, int64_t ts) {
    return R"({"distributedInfo": {"rank": )" + std::to_string(rank) + R"(}, "traceEvents": [)" +
           event("a", ts) + "," + event("b", ts + 100) + "]}";
  };
  folder_.write("run/one.json", of_rank(0, 0));
  folder_.write("run/later.json", of_rank(0, 500));
  folder_.write("run/other.json", of_rank(1, 0));
  EXPECT_EQ(testing::ImportedRun(folder_.path("run")).quality("overlapping_windows"), 0);
  folder_.write("run/copy.json", of_rank(0, 50));
  EXPECT_EQ(testing::ImportedRun(folder_.path("run")).quality("overlapping_windows"), 1);
}

TEST_F(Quality, UnknownCategoriesOfEveryPhaseAreCounted) {
  import(trace_of({event("x", 1, "", "odd"), raw('i', "i", 2, R"(, "cat": "odd")"),
                   raw('B', "b", 3, R"(, "cat": "odd")"), raw('E', "b", 4, R"(, "cat": "odd")"),
                   raw('b', "a", 5, R"(, "cat": "odder", "id": 1)"),
                   raw('n', "n", 6, R"(, "cat": "odder", "id": 1)"),
                   raw('e', "a", 7, R"(, "cat": "odder", "id": 1)")}));
  EXPECT_EQ(run_->column("slices", "ts").size(), 5u);
  EXPECT_EQ(run_->quality("unknown_category"), 5);  // each slice once
  EXPECT_EQ(example("unknown_category"), "odd; odd; odd");
}

TEST_F(Quality, ArgsOfABeginAndItsEndBecomeOneObject) {
  import(trace_of({raw('B', "both", 1, R"(, "args": {"a": 1, "k": "begin"})"),
                   raw('E', "both", 2, R"(, "args": {"k": "end", "b": [2.50]})"),
                   raw('B', "end only", 3, ""), raw('E', "end only", 4, R"(, "args": {"b": 2})"),
                   raw('b', "async", 5, R"(, "cat": "async", "id": 1, "args": {"a": 1})"),
                   raw('e', "async", 6, R"(, "cat": "async", "id": 1, "args": {"b": 2})"),
                   raw('n', "now", 6, R"(, "cat": "async", "id": 1, "args": {"c": 3})"),
                   raw('B', "say \"hi\"", 7, R"(, "args": {"a": 1})"), raw('E', "", 8, ""),
                   raw('B', "odd", 9, R"(, "args": {"a": 1})"),
                   raw('E', "odd", 10, R"(, "args": 7.5)")}));
  EXPECT_EQ(args_of("both"), R"({"a":1,"k":"end","b":[2.5]})");
  EXPECT_EQ(args_of("end only"), R"({"b": 2})");
  EXPECT_EQ(args_of("async"), R"({"a":1,"b":2})");
  EXPECT_EQ(args_of("now"), R"({"c": 3})");
  EXPECT_EQ(args_of("say \"hi\""), R"({"a": 1})");  // repaired: not the file's own text
  EXPECT_EQ(run_->quality("repaired_event"), 1);
  EXPECT_EQ(args_of("odd"), R"([{"a": 1}, 7.5])");
}

TEST_F(Quality, TheLastStepOfACutFileIsIncomplete) {
  const std::string whole = trace_of({event("ProfilerStep#1", 10, "", "user_annotation"),
                                      event("ProfilerStep#2", 20, "", "user_annotation"),
                                      event("a", 21), event("b", 24)});
  import(whole);
  EXPECT_EQ(run_->column("steps", "complete"), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(run_->quality("window_cut"), 0);
  import(whole.substr(0, whole.find("\"b\"")));
  EXPECT_EQ(run_->quality("truncated_input"), 1);
  EXPECT_EQ(run_->column("steps", "complete"), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(run_->quality("window_cut"), 1);
  EXPECT_EQ(example("window_cut"), "step 2, the input ends early");
}

TEST_F(Quality, OddTimesAreCountedWithAnExample) {
  import(trace_of(
      {R"({"ph": "X", "cat": "cpu_op", "name": "zero", "pid": 1, "tid": 1, "ts": 50, "dur": 0})",
       R"({"ph": "X", "cat": "cpu_op", "name": "early", "pid": 1, "tid": 1, "ts": -5, "dur": 1})",
       R"({"ph": "X", "cat": "cpu_op", "name": "late", "pid": 1, "tid": 1, "ts": 90000000000, "dur": 1})",
       R"({"ph": "i", "name": "instant", "pid": 1, "tid": 1, "ts": 60})"}));
  EXPECT_EQ(run_->quality("zero_duration"), 1);
  EXPECT_EQ(example("zero_duration"), "zero at 50000 ns");
  EXPECT_EQ(run_->quality("negative_time"), 1);
  EXPECT_EQ(example("negative_time"), "early");
  EXPECT_EQ(run_->quality("clock_jump"), 1);
  EXPECT_EQ(example("clock_jump"), "before late");
}

TEST_F(Quality, EveryCountHasAnExample) {
  const auto flow = [](char phase, int id, int ts, const std::string& cat) {
    return raw(phase, "arrow", ts,
               R"(, "cat": ")" + cat + R"(", "id": )" + std::to_string(id) +
                   (phase == 'f' ? R"(, "bp": "e")" : ""));
  };
  import(trace_of(
      {raw('X', "k1", 100, R"(, "dur": 50, "cat": "kernel", "args": {"correlation": 1})"),
       raw('X', "k2", 120, R"(, "dur": 90, "cat": "kernel", "args": {"correlation": 2})"),
       flow('f', 2, 120, "ac2g"), flow('s', 9, 100, "fwdbwd"), flow('f', 8, 100, "fwdbwd"),
       event("cudaLaunchKernel", 90, R"("correlation": 77)", "cuda_runtime"),
       R"({"ph": "s", "id": 77, "pid": 10, "tid": 11, "ts": 90, "cat": "ac2g", "name": "ac2g"})",
       R"({"ph": "X", "cat": "cpu_op", "name": "parent", "pid": 1, "tid": 1, "ts": 1, "dur": 10})",
       R"({"ph": "X", "cat": "cpu_op", "name": "child", "pid": 1, "tid": 1, "ts": 5, "dur": 6.5})",
       event("open", 300, R"("finished": false)"),
       R"({"ph": "f", "id": 3, "pid": 77, "tid": 77, "ts": 90, "cat": "fwdbwd", "name": "x"})"}));
  EXPECT_EQ(example("stream_overlap"), "k2 at 120000 ns, in k1");
  EXPECT_EQ(example("outlives_parent"), "child at 5000 ns, in parent");
  EXPECT_EQ(example("launch_outside_window"), "k1 id 1; k2 id 2");
  EXPECT_EQ(example("unfinished_operation"), "open");
  EXPECT_EQ(run_->quality("flow_end_without_start"), 2);
  EXPECT_EQ(example("flow_end_without_start"), "ac2g 2; fwdbwd 8");
  EXPECT_EQ(run_->quality("flow_start_without_end"), 2);
  EXPECT_EQ(example("flow_start_without_end"), "ac2g 77; fwdbwd 9");
  const auto codes = run_->texts("quality", "code");
  const auto examples = run_->texts("quality", "example");
  for (size_t i = 0; i < codes.size(); ++i) {
    // That nothing of a kind is there has no place.
    EXPECT_TRUE(!examples[i].empty() || codes[i] == "no_steps") << codes[i];
  }
}

TEST_F(Quality, LossesThatKinetoReportsAreDroppedRecords) {
  import(trace_of({event("a", 1)},
                  R"("schemaVersion": 1, "WARNING": ["Dropped 12 activity records", "all well"],
                  "ERROR": ["Stopped early: buffer full"])"));
  EXPECT_EQ(run_->quality("dropped_records"), 2);
  EXPECT_NE(example("dropped_records").find("Dropped 12 activity records"), std::string::npos);
}

TEST_F(Quality, RocmTraces) {
  import(trace_of(
      {event("aten::mm", 5, R"("External id": 3)"),
       event("hipLaunchKernel", 6, R"("cid": 211, "correlation": 9, "External id": 3)",
             "cuda_runtime"),
       R"({"ph": "s", "id": 9, "pid": 10, "tid": 11, "ts": 6, "cat": "ac2g", "name": "ac2g"})",
       raw('X', "Cijk_Ailk_Bljk", 20,
           R"(, "dur": 5, "cat": "kernel", "args": {"External id": 3, "device": 0, "stream": "0x7f2c",
           "correlation": 9, "kind": "Dispatch Kernel", "grid": [64, 1, 1], "block": [256, 1, 1]})"),
       raw('f', "ac2g", 20, R"(, "id": 9, "cat": "ac2g", "bp": "e")"),
       raw('X', "Memcpy HtoD (Host -> Device)", 30,
           R"(, "dur": 2, "cat": "gpu_memcpy", "args": {"stream": "0x7f2c", "bytes": 64})")},
      R"("schemaVersion": 1, "rocprofiler-sdk_version": 100, "hip_runtime_version": 60200000,
      "deviceProperties": [{"id": 0, "name": "AMD Instinct MI300X"}])"));
  EXPECT_EQ(run_->texts("ranks", "device_kind"), Names{"AMD GPU"});
  EXPECT_EQ(run_->texts("ranks", "device_name"), Names{"AMD Instinct MI300X"});
  EXPECT_EQ(run_->texts("kernels", "class"), (Names{"compute", "memory"}));
  EXPECT_EQ(run_->column("kernels", "queue_delay"), (std::vector<int64_t>{14000, kNull}));
  EXPECT_EQ(run_->column("kernels", "stream"), (std::vector<int64_t>{7, 7}));
  EXPECT_NE(run_->column("kernels", "op")[0], kNull);
  EXPECT_EQ(run_->column("flows", "to_slice").size(), 1u);
  EXPECT_NE(args_of("Cijk_Ailk_Bljk").find("\"0x7f2c\""), std::string::npos);
  for (const char* code : {"bad_number", "unknown_category", "launch_outside_window"})
    EXPECT_EQ(run_->quality(code), 0) << code;
}

}  // namespace
}  // namespace stepscope
