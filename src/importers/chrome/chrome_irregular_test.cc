// Every irregularity that real profilers write: events are read, and the report says what was odd.
#include <bit>
#include <map>

#include "tests/support/imported_trace.h"

namespace stepscope {
namespace {

using testing::event;
using testing::ImportedRun;
using testing::trace_of;

using Names = std::vector<std::string>;

class Irregular : public testing::ImportedTrace {
 protected:
  // Names of all slices in order of time.
  Names names() const {
    const auto ts = run_->column("slices", "ts");
    const auto texts = run_->texts("slices", "name");
    std::multimap<int64_t, std::string> sorted;
    for (size_t i = 0; i < ts.size(); ++i) sorted.emplace(ts[i], texts[i]);
    Names out;
    for (const auto& [start, name] : sorted) out.push_back(name);
    return out;
  }
};

TEST_F(Irregular, EvenUnescapedQuotes) {
  import(trace_of(
      {event("before", 1), event("say \"hi\" now", 2, R"("k": "a "b" c")"), event("after", 3)}));
  EXPECT_EQ(names(), (Names{"before", "say \"hi\" now", "after"}));
  EXPECT_EQ(run_->quality("repaired_event"), 1);
  EXPECT_EQ(args_of("say \"hi\" now"), R"({"k": "a \"b\" c"})");
}

TEST_F(Irregular, OddUnescapedQuotesHideNoOtherEvent) {
  std::vector<std::string> events;
  Names wanted;
  for (int i = 0; i < 200; ++i) {
    const bool bad = i % 7 == 3;
    wanted.push_back("n" + std::to_string(i) + (bad ? "\"x" : ""));
    events.push_back(event(wanted.back(), i, bad && i % 2 == 0 ? R"j("lib": "load("a")")j" : ""));
  }
  events.push_back(event("last\"one", 1000));
  wanted.push_back("last\"one");
  import(trace_of(events));
  EXPECT_EQ(names(), wanted);
  EXPECT_EQ(run_->quality("repaired_event"), 29 + 1);
  EXPECT_EQ(run_->quality("unparsable_event"), 0);
  EXPECT_EQ(run_->quality("truncated_input"), 0);
}

TEST_F(Irregular, RawBackslashes) {
  import(trace_of({event(R"(C:\Users\model.py)", 1), event(R"(ends\)", 2), event("after", 3)}));
  EXPECT_EQ(names(), (Names{R"(C:\Users\model.py)", R"(ends\)", "after"}));
}

TEST_F(Irregular, ControlCharactersNewlinesAndBytesThatAreNotUtf8) {
  import(trace_of({event("two\nlines\x01", 1, "\"stack\": \"a\nb\""), event("latin gr\xFC\xDF", 2),
                   event("after", 3)}));
  EXPECT_EQ(names(), (Names{"two\nlines\x01", "latin gr\xFC\xDF", "after"}));
  EXPECT_EQ(run_->quality("repaired_event"), 1);
  EXPECT_EQ(run_->quality("invalid_text"), 1);
  EXPECT_EQ(args_of("two\nlines\x01"), "{\"stack\": \"a\\u000ab\"}");
}

TEST_F(Irregular, BareWordsInsteadOfNumbers) {
  import(trace_of({event("k", 1,
                         R"("blocks per SM": inf, "warps per SM": nan, "bytes": N/A, "x": -Infinity,
                            "correlation": 7)",
                         "kernel"),
                   event("after", 2)}));
  EXPECT_EQ(names(), (Names{"k", "after"}));
  EXPECT_EQ(run_->column("kernels", "correlation"), std::vector<int64_t>{7});
  EXPECT_EQ(run_->column("kernels", "bytes"), std::vector<int64_t>{kNull});
}

TEST_F(Irregular, TrailingCommasAndEmptyArgs) {
  import("{\"traceEvents\": [" + event("a", 1, R"("k": 1,)") + ",\n" +
         R"({"ph": "X", "name": "b", "pid": 1, "tid": 1, "ts": 2, "dur": 1, "args": {},},)" +
         "\n ,\n" + event("c", 3) + ",\n]}");
  EXPECT_EQ(names(), (Names{"a", "b", "c"}));
  EXPECT_EQ(run_->quality("truncated_input"), 0);
}

TEST_F(Irregular, LogLinesWithQuotesAtTheTop) {
  for (const std::string line :
       {R"("Profile time range: "x" y")", R"("unpaired " quote")", R"("a\b "c", "d" e")"}) {
    const std::string log = "\"baseTimeNanoseconds\": 1000000, \"INFO\": [" + line + ", ],";
    import("{" + log + "\"traceEvents\": [" + event("a", 1) + "," + event("b", 2) +
           "], \"WARNING\": [" + line + "], \"distributedInfo\": {\"rank\": 3}}");
    EXPECT_EQ(names(), (Names{"a", "b"})) << line;
  }
}

TEST_F(Irregular, IntegersBeyondInt64) {
  import(trace_of({event("k", 1,
                         R"("Comms Id": 10159970886766084423, "correlation": 4294967295,
                            "External id": 99999999999999999999)",
                         "kernel"),
                   event("cudaLaunchKernel", 0, R"("correlation": 4294967295)", "cuda_runtime")}));
  EXPECT_EQ(run_->column("kernels", "correlation"), std::vector<int64_t>{4294967295});
  EXPECT_NE(run_->column("kernels", "launch"), std::vector<int64_t>{kNull});
  EXPECT_NE(args_of("k").find("10159970886766084423"), std::string::npos);
}

TEST_F(Irregular, TruncatedAnywhereKeepsWhatIsComplete) {
  std::vector<std::string> events;
  for (int i = 0; i < 40; ++i)
    events.push_back(event("n" + std::to_string(i), i, R"("k": [1, {"name": "x"}], "s": "a\"b")"));
  const std::string text = trace_of(events);
  const size_t begin = text.find('[') + 1;
  const size_t list_end = text.find("\n  ],");
  for (size_t size = begin; size < text.size(); size += 97) {
    const std::string cut = text.substr(0, size);
    size_t complete = 0;
    size_t end = begin;
    for (const std::string& one : events) {
      end = text.find(one, end) + one.size();
      complete += end <= size;
    }
    ImportedRun run(folder_.write("cut.json", cut));
    if (complete == 0) {
      EXPECT_FALSE(run.ok());
      EXPECT_NE(run.error().find("it ends before the first complete event"), std::string::npos)
          << run.error();
      continue;
    }
    ASSERT_TRUE(run.ok()) << size << " " << run.error();
    ASSERT_EQ(run.column("slices", "ts").size(), complete) << size;
    ASSERT_EQ(run.quality("truncated_input"), size <= list_end + 2 ? 1 : 0) << size;
    ASSERT_EQ(run.quality("unparsable_event"), 0) << size;
  }
}

TEST_F(Irregular, TheNameDoesNotSayWhatIsInside) {
  import(trace_of({event("a", 1)}), "plain.json.gz");
  EXPECT_EQ(names(), Names{"a"});
  import(trace_of({event("b", 1)}), "no_suffix");
  EXPECT_EQ(names(), Names{"b"});
}

TEST_F(Irregular, LeadingBlanksAndAMark) {
  import("\n \r\n\t" + trace_of({event("a", 1)}));
  EXPECT_EQ(names(), Names{"a"});
  import("\xEF\xBB\xBF" + trace_of({event("b", 1)}));
  EXPECT_EQ(names(), Names{"b"});
}

TEST_F(Irregular, BareLists) {
  import("[" + event("a", 1) + "," + event("b", 2) + "]");
  EXPECT_EQ(names(), (Names{"a", "b"}));
  EXPECT_EQ(run_->quality("truncated_input"), 0);
  import("[" + event("a", 1) + "," + event("b", 2) + ",\n");  // chrome://tracing allows it
  EXPECT_EQ(names(), (Names{"a", "b"}));
  EXPECT_EQ(run_->quality("truncated_input"), 1);
}

TEST_F(Irregular, ThreadIdsOfEveryKind) {
  const auto with_tid = [](const std::string& tid, int ts) {
    return R"({"ph": "X", "cat": "kernel", "name": "k)" + std::to_string(ts) +
           R"(", "pid": 0, "tid": )" + tid + ", \"ts\": " + std::to_string(ts) + ", \"dur\": 1}";
  };
  import(trace_of({with_tid("\"stream 7\"", 1), with_tid("\"4093687616\"", 2), with_tid("-13", 3),
                   with_tid("\"\"", 4), with_tid("-9223372036854775808", 5), with_tid("7", 6)}));
  const auto tids = run_->texts("tracks", "tid");
  EXPECT_EQ(tids, (Names{"stream 7", "4093687616", "-13", "", "-9223372036854775808", "7"}));
  EXPECT_EQ(run_->column("tracks", "stream")[0], 7);
  EXPECT_EQ(run_->column("tracks", "stream")[2], -13);
  EXPECT_EQ(run_->column("tracks", "stream")[5], 7);
}

TEST_F(Irregular, FieldsThatAreMissing) {
  import(
      trace_of({R"({"ph": "X", "name": "no cat", "pid": 1, "tid": 1, "ts": 1, "dur": 1})",
                R"({"ph": "X", "cat": "cpu_op", "name": "no dur", "pid": 1, "tid": 1, "ts": 5})",
                R"({"ph": "i", "name": "instant", "s": "g", "pid": "Traces", "tid": "x", "ts": 7})",
                R"({"ph": "X", "name": "no ts", "pid": 1, "tid": 1, "dur": 1})",
                R"({"name": "no phase", "pid": 1, "tid": 1, "ts": 9})",
                R"({"ph": "Q", "name": "odd phase", "pid": 1, "tid": 1, "ts": 9})",
                R"({"ph": "X", "ts": 11, "dur": 1})"}));
  EXPECT_EQ(names(), (Names{"no cat", "no dur", "instant", ""}));
  EXPECT_EQ(run_->quality("unparsable_event"), 2);
  EXPECT_EQ(run_->quality("unknown_phase"), 1);
  EXPECT_EQ(run_->quality("unknown_category"), 0);
}

TEST_F(Irregular, DuplicateKeysTheLastCounts) {
  import(trace_of(
      {R"({"ph": "X", "name": "first", "name": "second", "pid": 1, "tid": 1, "ts": 1, "dur": 1})"}));
  EXPECT_EQ(names(), Names{"second"});
  EXPECT_EQ(run_->quality("duplicate_key"), 1);
}

TEST_F(Irregular, TimesAsStringsAndWithEveryDigit) {
  import(trace_of(
      {R"({"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": "1712195495502094.501", "dur": "2.5"})",
       R"({"ph": "X", "name": "b", "pid": 1, "tid": 1, "ts": 1.6e9, "dur": -3})",
       R"({"ph": "X", "name": "c", "pid": 1, "tid": 1, "ts": 1e30, "dur": 1})",
       R"({"ph": "X", "name": "d", "pid": 1, "tid": 1, "ts": 5, "dur": 700000000000})"}));
  EXPECT_EQ(names(), (Names{"d", "b", "a"}));
  const auto ts = run_->column("slices", "ts");
  EXPECT_EQ(*std::max_element(ts.begin(), ts.end()), 1712195495502094501);
  EXPECT_EQ(run_->quality("bad_number"), 1);
  EXPECT_EQ(run_->quality("negative_duration"), 1);
  EXPECT_EQ(run_->quality("implausible_duration"), 1);
  int64_t counted = 0;
  for (const int64_t count : run_->column("totals_by_name", "count")) counted += count;
  EXPECT_EQ(counted, 1);  // b and d are impossible
}

TEST_F(Irregular, FlowsWithoutAStart) {
  import(trace_of(
      {event("op", 1),
       R"({"ph": "f", "id": 5, "pid": 10, "tid": 11, "ts": 1, "cat": "ac2g", "name": "ac2g", "bp": "e"})",
       R"({"ph": "s", "id": 6, "pid": 10, "tid": 11, "ts": 1, "cat": "fwdbwd", "name": "fwdbwd"})"}));
  EXPECT_TRUE(run_->column("flows", "from_slice").empty());
  EXPECT_EQ(run_->quality("flow_end_without_start"), 1);
  EXPECT_EQ(run_->quality("flow_start_without_end"), 1);
}

TEST_F(Irregular, BeginsAndEndsThatDoNotPair) {
  import(trace_of({R"({"ph": "B", "name": "outer", "pid": 1, "tid": 1, "ts": 1})",
                   R"({"ph": "B", "name": "inner", "pid": 1, "tid": 1, "ts": 2, "args": {"k": 1}})",
                   R"({"ph": "E", "pid": 1, "tid": 1, "ts": 5})",
                   R"({"ph": "E", "name": "nothing open", "pid": 2, "tid": 2, "ts": 6})",
                   event("last", 90)}));
  EXPECT_EQ(names(), (Names{"outer", "inner", "last"}));
  EXPECT_EQ(run_->quality("begin_without_end"), 1);
  EXPECT_EQ(run_->quality("end_without_begin"), 1);
  const auto texts = run_->texts("slices", "name");
  const auto dur = run_->column("slices", "dur");
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i] == "inner") {
      EXPECT_EQ(dur[i], 3000);
    }
    if (texts[i] == "outer") {
      EXPECT_EQ(dur[i], 94000);  // to the end of the trace
    }
  }
  EXPECT_EQ(args_of("inner"), R"({"k": 1})");
}

TEST_F(Irregular, AsyncEventsPairByCategoryAndId) {
  import(trace_of(
      {R"({"ph": "b", "cat": "io", "id": 1, "name": "read", "pid": 1, "tid": 1, "ts": 1})",
       R"({"ph": "b", "cat": "io", "id": 2, "name": "write", "pid": 1, "tid": 1, "ts": 2})",
       R"({"ph": "n", "cat": "io", "id": 1, "name": "half", "pid": 1, "tid": 1, "ts": 3})",
       R"({"ph": "e", "cat": "io", "id": 1, "name": "read", "pid": 1, "tid": 1, "ts": 5})",
       R"({"ph": "e", "cat": "io", "id": 2, "name": "write", "pid": 1, "tid": 1, "ts": 9})",
       R"({"ph": "e", "cat": "io", "id": 3, "name": "none", "pid": 1, "tid": 1, "ts": 9})"}));
  EXPECT_EQ(names(), (Names{"read", "write", "half"}));
  EXPECT_EQ(run_->texts("tracks", "kind"), Names{"async"});
  EXPECT_EQ(run_->quality("end_without_begin"), 1);
  const auto texts = run_->texts("slices", "name");
  const auto dur = run_->column("slices", "dur");
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i] == "write") {
      EXPECT_EQ(dur[i], 7000);
    }
  }
}

TEST_F(Irregular, CountersWithSeveralKeys) {
  import(trace_of(
      {event("a", 1),
       R"({"ph": "C", "name": "mem", "pid": 1, "tid": 1, "ts": 2, "args": {"used": 10, "free": 2.5}})",
       R"({"ph": "C", "name": "mem", "pid": 1, "tid": 1, "ts": 3, "args": {"used": "12", "free": NaN_}})",
       R"({"ph": "C", "name": "sm", "pid": "GPU 0 Counters", "tid": 0, "ts": 3, "args": {"": 7}})",
       R"({"ph": "C", "name": "bad", "pid": 1, "tid": 1, "ts": 3})"}));
  const auto thread = run_->texts("tracks", "thread");
  const auto track = run_->column("counters", "track");
  const auto value = run_->column("counters", "value");
  std::multimap<std::string, double> values;
  for (size_t i = 0; i < track.size(); ++i)
    values.emplace(thread[static_cast<size_t>(track[i])], std::bit_cast<double>(value[i]));
  EXPECT_EQ(values, (std::multimap<std::string, double>{
                        {"mem free", 2.5}, {"mem used", 10}, {"mem used", 12}, {"sm", 7}}));
  EXPECT_EQ(run_->quality("bad_number"), 1);
  EXPECT_EQ(run_->quality("unparsable_event"), 1);
}

TEST_F(Irregular, MetadataGivenTwiceTheLastCounts) {
  import(trace_of(
      {R"({"ph": "M", "name": "thread_name", "pid": 10, "tid": 11, "ts": 0, "args": {"name": "pt_main_thread"}})",
       event("a", 1),
       R"({"ph": "M", "name": "thread_name", "pid": 10, "tid": 11, "args": {"name": "pt_autograd_0"}})",
       R"({"ph": "M", "name": "process_name", "pid": 10, "args": {"name": "python3"}})"}));
  EXPECT_EQ(run_->texts("tracks", "thread"), Names{"pt_autograd_0"});
  EXPECT_EQ(run_->texts("tracks", "process"), Names{"python3"});
}

TEST_F(Irregular, PropertiesBehindTheEvents) {
  import("{\"schemaVersion\": 1, \"traceEvents\": [" + event("a", 1) +
         R"(], "baseTimeNanoseconds": 1700000000000000000, "distributedInfo": {"rank": 5,
         "world_size": 8, "pg_config": [{"pg_name": "0", "ranks": "[0, 1]"}]}})");
  EXPECT_EQ(run_->column("ranks", "rank"), std::vector<int64_t>{5});
  EXPECT_EQ(run_->column("ranks", "world_size"), std::vector<int64_t>{8});
  EXPECT_EQ(run_->column("slices", "ts"), std::vector<int64_t>{1700000000000001000});
  EXPECT_NE(run_->texts("ranks", "parallel")[0].find("\"ranks\":[0,1]"), std::string::npos);
  EXPECT_EQ(run_->quality("missing_rank"), 7);
}

TEST_F(Irregular, GpuNumbersCollideWithSmallProcessIds) {
  const auto on = [](const char* cat, const char* name, int ts) {
    return R"({"ph": "X", "cat": ")" + std::string(cat) + R"(", "name": ")" + name +
           R"(", "pid": 1, "tid": 7, "ts": )" + std::to_string(ts) + R"(, "dur": 10})";
  };
  import(trace_of({on("cpu_op", "op", 1), on("kernel", "k", 3), on("gpu_memcpy", "copy", 20)}));
  EXPECT_EQ(run_->texts("tracks", "kind"), (Names{"host", "device"}));
  EXPECT_EQ(run_->column("tracks", "slices"), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(run_->column("tracks", "device"), (std::vector<int64_t>{kNull, 1}));
  EXPECT_EQ(run_->quality("stream_overlap"), 0);  // the operator and the kernel are on two lanes
}

TEST_F(Irregular, TritonOperatorsWithAStreamAreNoKernels) {
  import(trace_of({event("triton_op", 1,
                         R"j("kernel_backend": "triton", "stream": 0, "grid": "grid(100,)")j")}));
  EXPECT_EQ(run_->texts("tracks", "kind"), Names{"host"});
  EXPECT_TRUE(run_->column("kernels", "id").empty());
  EXPECT_EQ(run_->column("ops", "id").size(), 1u);
}

TEST_F(Irregular, AnEndMarkDaysLaterDoesNotStretchTheTrace) {
  import(trace_of(
      {event("a", 1), event("b", 100),
       R"({"ph": "i", "name": "Record Window End", "pid": "", "tid": "", "s": "g", "ts": 500000000000})"}));
  EXPECT_EQ(run_->column("ranks", "last_ns"), std::vector<int64_t>{105000});
  EXPECT_EQ(names().size(), 3u);
}

TEST_F(Irregular, StepsAreNotCountedTwiceForTheDevice) {
  import(trace_of({event("ProfilerStep#3", 1, "", "user_annotation"),
                   event("ProfilerStep#3", 2, R"("External id": 1)", "gpu_user_annotation")}));
  EXPECT_EQ(run_->column("steps", "step"), std::vector<int64_t>{3});
}

TEST_F(Irregular, AListInsideABrokenEventDoesNotEndTheTrace) {
  std::vector<std::string> events = {
      event("a", 1, R"("bad": "x"y", "list": [{"name": 1}, {"name": 2}])")};
  for (int i = 2; i < 50; ++i) events.push_back(event("n" + std::to_string(i), i));
  import(trace_of(events));
  EXPECT_GE(names().size(), 48u);
  EXPECT_EQ(names().back(), "n49");
}

TEST_F(Irregular, LostBytesInTheMiddleCostOneEvent) {
  std::vector<std::string> events;
  for (int i = 0; i < 300; ++i) events.push_back(event("n" + std::to_string(i), i, R"("k": 1)"));
  events[100].resize(events[100].size() - 2);  // both closing brackets
  events[200] = events[200].substr(0, 40);
  import(trace_of(events));
  EXPECT_EQ(names().size(), 298u);
  EXPECT_EQ(run_->quality("unparsable_event"), 2);
  EXPECT_NE(run_->texts("quality", "example")[0].find("byte "), std::string::npos);
}

}  // namespace
}  // namespace stepscope
