// The program itself, run as users run it: exit codes, messages, formats.
#include <stdlib.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/selection.h"
#include "cli/terminal.h"
#include "json/json_tree.h"
#include "tests/support/built_file.h"
#include "tests/support/file_text.h"
#include "tests/support/sample_store.h"
#include "tests/support/trace_text.h"

namespace stepscope {
namespace {

using Json = nlohmann::json;

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
};

using testing::file_text;

class CliTest : public ::testing::Test {
 protected:
  void SetUp() override {
    program_ = testing::built_file("stepscope");
    if (!std::filesystem::exists(program_)) GTEST_SKIP() << program_ << " is not built";
    store_ = testing::write_sample_store(folder_, 2);
  }
  // `arguments` are for the shell; {} is the store.
  Outcome run(std::string arguments) {
    for (size_t at = 0; (at = arguments.find("{}", at)) != std::string::npos;) {
      arguments.replace(at, 2, store_);
    }
    const std::string out = folder_.path("stdout");
    const std::string err = folder_.path("stderr");
    const std::string command =
        program_ + " " + arguments + " >" + out + " 2>" + err + " </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, file_text(out), file_text(err)};
  }

  testing::TemporaryFolder folder_;
  std::string program_;
  std::string store_;
};

TEST_F(CliTest, HelpListsTheSubcommands) {
  const Outcome help = run("--help");
  EXPECT_EQ(help.code, 0);
  for (const char* name : {"import", "info", "query", "export", "doctor", "schema"}) {
    EXPECT_NE(help.out.find(std::string("\n  ") + name + " "), std::string::npos) << name;
    EXPECT_EQ(run(std::string(name) + " --help").code, 0) << name;
  }
  EXPECT_TRUE(run("--version").out.starts_with("stepscope 0."));
}

TEST_F(CliTest, WrongUsageIsTwo) {
  for (const char* words :
       {"", "nonsense", "query", "query {}", "query {} 'select 1' --format xml", "export {}",
        "export {} -o x --ranks a", "export {} -o x --ranks 77", "export {} -o x --range 5",
        "export {} -o x --steps 99", "export {} -o x --range 5s:6s", "import", "query {} ';'",
        "query {} 'select 1' --file x", "query {} 'select 1' --timeout -1"}) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 2) << words << "\n" << outcome.err;
    EXPECT_TRUE(outcome.out.empty()) << words;
  }
  EXPECT_TRUE(run("query {}").err.starts_with("stepscope: "));
  EXPECT_TRUE(
      run("reprot {}").err.starts_with("stepscope: unknown command: reprot; did you mean report?"));
  EXPECT_NE(run("export {} -o x --steps 99").err.find("it has 7 to 7"), std::string::npos);
  EXPECT_NE(run("export {} -o x --range 5s:6s").err.find("it lasts from 0.000000s to 0.0"),
            std::string::npos);
  EXPECT_NE(run("serve --port abc").err.find("\"abc\" is no whole number"), std::string::npos);
  EXPECT_NE(run("serve --port 99999").err.find("not in range"), std::string::npos);
  EXPECT_TRUE(run("frobnicate").err.starts_with("stepscope: unknown command: frobnicate (see"));
}

TEST_F(CliTest, FailureIsOneWithAMessage) {
  const Outcome missing = run("info /no/such/place");
  EXPECT_EQ(missing.code, 1);
  EXPECT_TRUE(missing.err.starts_with("stepscope: ")) << missing.err;
  EXPECT_NE(missing.err.find("/no/such/place"), std::string::npos);
  const Outcome wrong = run("query {} 'select nmae from kernels'");
  EXPECT_EQ(wrong.code, 1);
  EXPECT_NE(wrong.err.find("nearest column: name (of kernels)"), std::string::npos) << wrong.err;
  std::ofstream(folder_.path("junk.stepscope")) << "not a store, not a trace";
  EXPECT_EQ(run("info " + folder_.path("junk.stepscope")).code, 1);
  EXPECT_EQ(run("query {} 'select 1' -o /no/such/folder/x.csv").code, 1);
  EXPECT_EQ(run("query {} 'select 1' -o /no/such/folder/x.parquet").code, 1);
}

TEST_F(CliTest, NamesDoNotSteerTheTerminal) {
  const std::string trace = folder_.write(
      "names.json",
      testing::trace_of({testing::event("a\\u001b[31mb\\nc\\u0000", 1, "", "kernel"),
                         testing::event("ProfilerStep#1", 0, "", "user_annotation")}));
  for (const char* command : {"info ", "report ", "report --format markdown "}) {
    const std::string out = run(command + trace).out;
    EXPECT_EQ(out.find_first_of(std::string("\x1b\0", 2)), std::string::npos) << command;
    EXPECT_NE(out.find("a\\x1b[31mb\\nc\\x00"), std::string::npos) << command << out;
  }
}

// `script` gives the program a terminal.
TEST_F(CliTest, NoColorIsObeyed) {
  if (std::system("script --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no script here";
  const auto on_terminal = [&](const std::string& settings) {
    const std::string out = folder_.path("typescript");
    const std::string command = "script -qc '" + settings + " " + program_ + " report " + store_ +
                                "' " + out + " >/dev/null 2>&1 </dev/null";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return file_text(out);
  };
  EXPECT_NE(on_terminal("NO_COLOR=").find("\x1b[1m"), std::string::npos);
  EXPECT_EQ(on_terminal("NO_COLOR=1").find("\x1b[1m"), std::string::npos);
}

TEST_F(CliTest, WhatIfIsALineForEachRank) {
  const Outcome changed = run("report {} --what-if 'gemm*0.5'");
  EXPECT_EQ(changed.code, 0) << changed.err;
  EXPECT_TRUE(changed.out.starts_with("rank 0, step ")) << changed.out;
  EXPECT_NE(changed.out.find("1 event of 1.50 µs changes\nrank 1, step "), std::string::npos)
      << changed.out;
  EXPECT_EQ(run("report {} --what-if 'gemm*0.5' --rank 1").out.find("rank 0"), std::string::npos);
  EXPECT_EQ(run("report {} --what-if gemm").code, 1);
  EXPECT_EQ(run("report {} --what-if 'softmax*0'").code, 1);
  EXPECT_EQ(run("report {} --what-if 'gemm*0.5' --step 4711").code, 1);
  EXPECT_EQ(run("report {} --step 1").code, 2);
}

TEST_F(CliTest, QueryFormats) {
  const std::string sql = "'select rank, name, dur from kernels where rank = 0 order by dur'";
  EXPECT_EQ(run("query {} " + sql).out,
            "rank  name          dur\n----  -----------  ----\n   0  gemm_kernel  1500\n"
            "   0  add_kernel   2200\n(2 rows)\n");
  EXPECT_EQ(run("query {} " + sql + " --format csv").out,
            "rank,name,dur\r\n0,gemm_kernel,1500\r\n0,add_kernel,2200\r\n");
  const Json json = json_tree(run("query {} " + sql + " --format json").out);
  ASSERT_TRUE(json.is_array());
  EXPECT_EQ(json[1]["dur"], 2200);
  EXPECT_TRUE(run("query {} " + sql + " --format arrow").out.starts_with("ARROW1"));
  EXPECT_TRUE(run("query {} " + sql + " --format parquet").out.starts_with("PAR1"));
  for (const char* name : {"o.csv", "o.json", "o.jsonl", "o.parquet", "o.arrow", "o.txt"}) {
    const Outcome outcome = run("query {} " + sql + " -o " + folder_.path(name));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(outcome.out.empty());
    EXPECT_GT(std::filesystem::file_size(folder_.path(name)), 20u) << name;
  }
  EXPECT_TRUE(file_text(folder_.path("o.parquet")).starts_with("PAR1"));
}

TEST_F(CliTest, QueryFiles) {
  const std::string file =
      folder_.write("queries.sql", "-- first\nselect 1 as a;\nselect ';' as b;\n");
  const Outcome both = run("query {} --file " + file);
  EXPECT_EQ(both.out, "a\n-\n1\n(1 row)\n\nb\n-\n;\n(1 row)\n");
  folder_.write("bad.sql", "select 1; selec 2;");
  const Outcome bad = run("query {} --file " + folder_.path("bad.sql"));
  EXPECT_EQ(bad.code, 1);
  EXPECT_NE(bad.err.find("statement 2 of 2"), std::string::npos) << bad.err;
  EXPECT_EQ(run("query {} --format arrow --file " + file).code, 2);
}

TEST_F(CliTest, FailedQueryLeavesNoFile) {
  for (const char* name : {"x.csv", "x.parquet", "x.arrow"}) {
    EXPECT_EQ(run("query {} 'select name::int from slices' -o " + folder_.path(name)).code, 1);
    EXPECT_FALSE(std::filesystem::exists(folder_.path(name))) << name;
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(".stepscope"));
  }
}

TEST_F(CliTest, TimeLimit) {
  const Outcome outcome = run(
      "query {} 'select count(*) from slices a, slices b, slices c, slices d, slices e, slices f, "
      "slices g where a.dur + b.dur + c.dur + d.dur + e.dur + f.dur + g.dur = 1' --timeout 0.2");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("time limit of 0.2 s"), std::string::npos) << outcome.err;
}

// As a shell says it of a program that the signal ended.
TEST_F(CliTest, ASignalIsTheExitCode) {
  const std::string program = program_;
  for (const auto& [signal, code] : {std::pair("INT", 130), std::pair("TERM", 143)}) {
    program_ = std::string("timeout --preserve-status -s ") + signal + " 1 " + program;
    const Outcome outcome = run(
        "query {} 'select count(*) from slices a, slices b, slices c, slices d, slices e, slices "
        "f, slices g where a.dur + b.dur + c.dur + d.dur + e.dur + f.dur + g.dur = 1'");
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_NE(outcome.err.find("cancelled"), std::string::npos) << outcome.err;
  }
}

TEST_F(CliTest, TheScriptNamesTheWrongWord) {
  program_ = (std::getenv("STEPSCOPE_SOURCE_DIR") != nullptr
                  ? std::filesystem::path(std::getenv("STEPSCOPE_SOURCE_DIR"))
                  : std::filesystem::current_path()) /
             "run";
  if (!std::filesystem::exists(program_)) GTEST_SKIP() << program_ << " is not there";
  const Outcome outcome = run("--bogus");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(outcome.err.starts_with("./run: unknown option: --bogus\n")) << outcome.err;
}

TEST_F(CliTest, InfoVerifiesWhenAsked) {
  EXPECT_EQ(run("info --verify {}").code, 0);
  std::ifstream file(store_, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  int found = 0;
  for (size_t at = whole.size() / 8; at < whole.size(); at += whole.size() / 8) {
    std::string flipped = whole;
    flipped[at] ^= 1;
    std::ofstream(folder_.path("flipped.stepscope"), std::ios::binary) << flipped;
    found += run("info --verify " + folder_.path("flipped.stepscope")).code == 1;
  }
  EXPECT_GT(found, 1) << "padding between sections is not covered by checksums";
}

TEST_F(CliTest, Info) {
  const Outcome text = run("info {}");
  EXPECT_EQ(text.code, 0) << text.err;
  for (const char* part : {"ranks      2 (0-1) of 2", "NVIDIA H200", "steps      1 (7)",
                           "gemm_kernel", "aten::mm", "truncated_input", "user_annotation"}) {
    EXPECT_NE(text.out.find(part), std::string::npos) << part << "\n" << text.out;
  }
  const Json json = json_tree(run("info --json {}").out);
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["ranks"][1]["rank"], 1);
  EXPECT_EQ(json["tables"]["slices"], 18);
  EXPECT_EQ(json["steps"]["first"], 7);
  EXPECT_EQ(json["quality"][0]["code"], "truncated_input");
}

TEST_F(CliTest, InfoOfManyRanksFitsAScreen) {
  store_ = testing::write_sample_store(folder_, 64);
  const std::string text = run("info {}").out;
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 50);
  EXPECT_NE(text.find("64 (0-63) of 64"), std::string::npos) << text;
}

TEST_F(CliTest, Exports) {
  EXPECT_EQ(run("export {} --ranks 1 -o " + folder_.path("one.json")).code, 0);
  EXPECT_TRUE(json_tree(file_text(folder_.path("one.json"))).is_object());
  EXPECT_EQ(run("export {} -o " + folder_.path("all")).code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder_.path("all/rank1.json")));
  EXPECT_EQ(run("export {} --format csv --ranks 0 -o " + folder_.path("csv")).code, 0);
  EXPECT_TRUE(file_text(folder_.path("csv/kernels.csv")).starts_with("id,rank,track,"));
  EXPECT_EQ(file_text(folder_.path("csv/source.op_statistic.csv")),
            "rank,OP Type,Count,Ratio(%)\r\n0,MatMul,3,\r\n0,Add,,\r\n");
  EXPECT_EQ(run("export {} --format parquet -o " + folder_.path("parquet")).code, 0);
  EXPECT_TRUE(file_text(folder_.path("parquet/slices.parquet")).starts_with("PAR1"));
}

TEST_F(CliTest, Doctor) {
  const Json checks = json_tree(run("doctor --json").out);
  ASSERT_TRUE(checks.is_array());
  for (const Json& check : checks) {
    const std::string state = check["state"];
    EXPECT_TRUE(state == "ok" || state == "limited" || state == "missing");
    EXPECT_TRUE(state == "ok" || !check["remedy"].get<std::string>().empty()) << check;
  }
}

TEST_F(CliTest, DoctorFindsWhatRecordingWouldUse) {
  const std::string build = std::filesystem::path(program_).parent_path().string();
  const std::string source = std::getenv("STEPSCOPE_SOURCE_DIR") != nullptr
                                 ? std::getenv("STEPSCOPE_SOURCE_DIR")
                                 : std::filesystem::current_path().string();
  const std::string library = build + "/tests/libstepscope_fake_ascendcl.so";
  ::setenv("STEPSCOPE_ASCENDCL", library.c_str(), 1);
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", (source + "/tests/support/fake_msprof:" + before).c_str(), 1);
  const Json checks = json_tree(run("doctor --json").out);
  ::setenv("PATH", before.c_str(), 1);
  ::unsetenv("STEPSCOPE_ASCENDCL");
  std::map<std::string, std::string> details;
  for (const Json& check : checks) details[check["name"]] = check["detail"];
  EXPECT_EQ(details["CANN"], library);
  EXPECT_EQ(details["msprof"], source + "/tests/support/fake_msprof/msprof");
  EXPECT_TRUE(details.contains("nvml"));
}

// The program's processes record themselves; without a GPU its own ranges are recorded all the
// same.
TEST_F(CliTest, RecordWithoutAGpu) {
  const std::string build = std::filesystem::path(program_).parent_path().string();
  const std::string runs = folder_.path("runs");
  const auto outcome =
      run("record -o " + runs + " --tier full -- " + build + "/tests/recorded_program plain 5");
  EXPECT_EQ(outcome.code, 5) << "the program's own\n" << outcome.err;
  EXPECT_NE(outcome.err.find("3 events"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("no CUDA device"), std::string::npos) << outcome.err;
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(runs), {}), 1);
  EXPECT_NE(outcome.err.find("estimated cost 3 to 5 µs"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("of a core to write them"), std::string::npos) << outcome.err;
  const std::string nothing = run("record -o " + runs + " -- true").err;
  EXPECT_TRUE(
      nothing.find("stepscope: nothing was recorded: the program used neither a CUDA device "
                   "nor Stepscope's own functions. For") != std::string::npos &&
      nothing.find("STEPSCOPE_OPTIONS='{\"start\": true}'") != std::string::npos)
      << nothing;
  ::setenv("PYTHONPATH", "other", 1);
  const std::string python = run("record -o " + runs + " -- sh -c 'echo $PYTHONPATH'").out;
  ::unsetenv("PYTHONPATH");
  EXPECT_TRUE(python.ends_with("/mindspore/inject:other\n")) << python;
  const Outcome missing = run("record -o " + runs + " -- no-such-program");
  EXPECT_EQ(missing.code, 127);
  EXPECT_NE(missing.err.find("cannot start the command: no-such-program"), std::string::npos)
      << missing.err;
  EXPECT_EQ(missing.err.find("nothing was recorded"), std::string::npos) << missing.err;
  EXPECT_EQ(run("record -o " + runs + " --tier some -- true").code, 2);
  EXPECT_EQ(run("record -o " + runs + " --system-interval-ms 0 -- true").code, 2);
  EXPECT_EQ(run("record -o " + runs + " --max-disk-gb 0 -- true").code, 2);
  EXPECT_EQ(run("record -o " + runs).code, 2);
}

TEST_F(CliTest, RecordedTwiceTheNewestIsOpened) {
  const std::string runs = folder_.path("runs");
  const std::string record = "record -o " + runs + " -- " +
                             std::filesystem::path(program_).parent_path().string() +
                             "/tests/recorded_program plain";
  ASSERT_EQ(run(record).code, 0);
  EXPECT_EQ(run("report " + runs).out.find("executions"), std::string::npos);
  ASSERT_EQ(run(record).code, 0);
  const auto rows = run("query " + runs + " 'select count(*) as n from ranks' --format csv");
  EXPECT_EQ(rows.out, "n\r\n1\r\n") << rows.err;
  const std::string said = "2 executions in this folder; this is the newest, started ";
  EXPECT_NE(rows.err.find("stepscope: " + said), std::string::npos) << rows.err;
  for (const char* command : {"info ", "info --json ", "report ", "report --json ",
                              "report --format markdown ", "report --format html "}) {
    EXPECT_NE(run(command + runs).out.find(said), std::string::npos) << command;
  }
}

TEST_F(CliTest, RecordWithinBoundsAndWithItsProfilerInfo) {
  const std::string build = std::filesystem::path(program_).parent_path().string();
  const std::string runs = folder_.path("runs");
  ::setenv("RANK", "2", 1);
  const auto outcome = run("record -o " + runs + " --max-host-mb 64 --max-disk-gb 0.5 " +
                           "--min-free-gb 0.25 --system-interval-ms 10 -- " + build +
                           "/tests/recorded_program plain");
  ::unsetenv("RANK");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("at most 64 MB of memory and 0.5 GB of disk"), std::string::npos)
      << outcome.err;
  const std::string folder = std::filesystem::directory_iterator(runs)->path().string();
  const auto info = json_tree(file_text(folder + "/profiler_info_2.json"));
  ASSERT_TRUE(info.is_object());
  EXPECT_EQ(info["ms_profiler_info"]["rank_id"], "2");
  EXPECT_EQ(info["profiler_parameters"]["activities"], nlohmann::json({"CPU"}));
  EXPECT_EQ(info["stepscope"]["recorded"]["events"], 3);
  EXPECT_EQ(info["stepscope"]["complete"], true);
  const nlohmann::json budget = {{"max_host_mb", 64}, {"max_disk_gb", 0.5}, {"min_free_gb", 0.25}};
  EXPECT_EQ(info["stepscope"]["budget"], budget);
  // A program that no profiler of Python is in does not read them.
  ::setenv("STEPSCOPE_OPTIONS", R"({"start": true})", 1);
  const auto ignored = run("record -o " + runs + " -- " + build + "/tests/recorded_program plain");
  ::unsetenv("STEPSCOPE_OPTIONS");
  EXPECT_NE(ignored.err.find("STEPSCOPE_OPTIONS had no effect"), std::string::npos) << ignored.err;
  EXPECT_EQ(outcome.err.find("had no effect"), std::string::npos) << outcome.err;
}

TEST_F(CliTest, RecordWithAGpu) {
  const std::string build = std::filesystem::path(program_).parent_path().string();
  ::setenv("STEPSCOPE_CUPTI", (build + "/tests/libstepscope_fake_cupti.so").c_str(), 1);
  ::setenv("RANK", "3", 1);
  const std::string runs = folder_.path("runs");
  const auto outcome =
      run("record -o " + runs + " --tier full -- " + build + "/tests/recorded_program gpu");
  ::unsetenv("STEPSCOPE_CUPTI");
  ::unsetenv("RANK");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("NVIDIA Fake"), std::string::npos) << outcome.err;
  const auto rows =
      run("query " + runs +
          " \"select rank, (select count(*) from kernels) as kernels, (select count(*) "
          "from slices where name = 'work') as ranges, (select count(*) from slices "
          "where name = 'cudaLaunchKernel') as calls from ranks\" --format csv");
  EXPECT_EQ(rows.out, "rank,kernels,ranges,calls\r\n3,2,3,2\r\n") << rows.err;
}

TEST_F(CliTest, SchemaDocumentIsUpToDate) {
  const char* source = getenv("STEPSCOPE_SOURCE_DIR");
  const std::string path = std::string(source != nullptr ? source : ".") + "/docs/schema.md";
  EXPECT_EQ(run("schema").out, file_text(path))
      << "write it again: build/stepscope schema > docs/schema.md";
  EXPECT_NE(run("schema --format typescript").out.find("export interface SlicesRow {"),
            std::string::npos);
  EXPECT_NE(run("schema --format sql").out.find("CREATE TABLE slices ("), std::string::npos);
}

TEST(Selection, Numbers) {
  auto numbers = parse_numbers("0,4-6,-2");
  ASSERT_TRUE(numbers);
  EXPECT_EQ(*numbers, (std::vector<int64_t>{0, 4, 5, 6, -2}));
  EXPECT_TRUE(parse_numbers("")->empty());
  for (const char* bad : {"a", "3-1", "1,,2", "0-99999999999", "1-"}) {
    EXPECT_FALSE(parse_numbers(bad)) << bad;
  }
}

TEST(Selection, TimeRange) {
  auto range = parse_time_range("1.5ms:2s", 1000);
  ASSERT_TRUE(range);
  EXPECT_EQ(range->from_ns, 1'501'000);
  EXPECT_EQ(range->to_ns, 2'000'001'000);
  EXPECT_EQ(parse_time_range(":1700000000000000000", 5)->to_ns, 1'700'000'000'000'000'000);
  EXPECT_FALSE(parse_time_range("", 0)->limited);
  for (const char* bad : {"5", "2s:1s", "x:y", "1h:2h"}) {
    EXPECT_FALSE(parse_time_range(bad, 0)) << bad;
  }
}

TEST(Terminal, Texts) {
  EXPECT_EQ(bytes_text(999), "999 bytes");
  EXPECT_EQ(bytes_text(1'234'567), "1.23 MB");
  EXPECT_EQ(duration_text(1'500), "1.50 us");
  EXPECT_EQ(duration_text(-12'345'678), "-12.3 ms");
  EXPECT_EQ(count_text(-1'234'567), "-1,234,567");
  EXPECT_EQ(time_text(1'700'000'000'123'000'000), "2023-11-14 22:13:20.123 UTC");
}

TEST_F(CliTest, AnalyseWritesFiles) {
  const std::string out = folder_.path("files");
  const Outcome written = run("analyse {} -o " + out);
  EXPECT_EQ(written.code, 0) << written.err;
  EXPECT_NE(written.out.find("rank 1: " + out + "/rank1/ASCEND_PROFILER_OUTPUT"), std::string::npos)
      << written.out;
  EXPECT_TRUE(
      json_tree(file_text(out + "/rank0/ASCEND_PROFILER_OUTPUT/trace_view.json")).is_array());
  const Outcome nowhere = run("analyse {}");
  EXPECT_EQ(nowhere.code, 1);
  EXPECT_NE(nowhere.err.find("-o"), std::string::npos) << nowhere.err;
  EXPECT_EQ(run("analyse {} --step-list x").code, 1);
}

TEST_F(CliTest, AnalyseInTheBackground) {
  const std::string out = folder_.path("later");
  const Outcome started = run("analyse {} --async -o " + out);
  EXPECT_EQ(started.code, 0) << started.err;
  const std::string log = out + "/analyse.stepscope.log";
  EXPECT_NE(started.out.find(log), std::string::npos) << started.out;
  for (int i = 0; i < 600 && file_text(log).find("done") == std::string::npos; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_NE(file_text(log).find("done"), std::string::npos) << file_text(log);
  EXPECT_TRUE(std::filesystem::exists(out + "/rank1/ASCEND_PROFILER_OUTPUT/trace_view.json"));
}

}  // namespace
}  // namespace stepscope
