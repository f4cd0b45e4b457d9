#include "server/server.h"

#include <cstring>
#include <new>
#include <stdexcept>

#include "json/json_tree.h"
#include "server/slice_colour.h"
#include "server/thrown_error.h"
#include "tests/support/server_fixture.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ServerTest = testing::ServerFixture;
using testing::small_trace;

// Every error says what is wrong and what to do.
void expect_told(const std::string& body, const std::string& request) {
  const json reply = json_tree(body);
  ASSERT_TRUE(reply.contains("error")) << request << " " << body;
  for (const char* part : {"code", "message", "what", "remedy"})
    EXPECT_NE(reply["error"][part], "") << request << " " << body;
}

TEST_F(ServerTest, ListsRunsOfItsFolderAndNothingOutside) {
  start();
  const json one = settled("one.json");
  EXPECT_EQ(one["state"], "ready");
  EXPECT_EQ(one["ranks"], 1);
  EXPECT_EQ(one["steps"], 1);
  const json reply = get("runs");
  EXPECT_EQ(reply["can_add"], true);
  for (const json& run : reply["runs"]) EXPECT_NE(run["name"], "link.json");
}

// `stepscope open FOLDER`: the files of a job's ranks are one run.
TEST_F(ServerTest, AFolderMayBeOneRun) {
  for (const char* name : {"one.json", "broken.json", "link.json"})
    fs::remove(folder_.path("runs/") + name);
  for (const char* name : {"rank_0.json", "rank_1.json"})
    folder_.write(std::string("runs/") + name, small_trace());
  ServerOptions options;
  options.base_is_run = true;
  start(options);
  EXPECT_EQ(settled("runs")["ranks"], 2);
  EXPECT_EQ(get("runs")["runs"].size(), 1u);
  EXPECT_EQ(get("runs")["can_add"], false);
  // A file that is added would be one more rank of it.
  const auto reply =
      client_->Post("/api/v1/runs?name=rank_2.json", headers_, small_trace(), "text/plain");
  ASSERT_TRUE(reply);
  EXPECT_GE(reply->status, 400);
  EXPECT_FALSE(fs::exists(folder_.path("runs/rank_2.json")));
}

// What dynamic profiling leaves: rank0_start5_stop7 and the like, in one folder.
TEST_F(ServerTest, WindowsOfOneTrainingAreRunsWithAllTheirRanks) {
  const auto record = [&](const std::string& folder, int rank) {
    const std::string number = std::to_string(rank);
    folder_.write("runs/dyn/rank" + number + "_" + folder + "/rank_" + number + ".json",
                  small_trace());
  };
  record("start5_stop7", 0);
  record("start5_stop7", 1);
  start();
  EXPECT_EQ(settled("dyn")["ranks"], 2);
  record("start20_stop20", 0);
  record("start20_stop20", 1);
  record("start20_stop20", 12);
  const json second = settled("dyn/start20_stop20");
  EXPECT_EQ(second["ranks"], 3);
  EXPECT_EQ(second["name"], "dyn/start20_stop20");
  EXPECT_EQ(settled("dyn/start5_stop7")["ranks"], 2);
  const json reply = get("runs");
  for (const json& run : reply["runs"]) EXPECT_NE(run["name"], "dyn") << write_json(reply);
  // Others of the folder are runs as before.
  folder_.write("runs/dyn/rank0_start5/rank_0.json", small_trace());
  EXPECT_EQ(settled("dyn/rank0_start5")["ranks"], 1);
}

TEST_F(ServerTest, RanksOfAJobBesideEachOtherAreOneRun) {
  const auto of_rank = [](int rank) {
    return R"({"distributedInfo": {"backend": "nccl", "rank": )" + std::to_string(rank) +
           R"(, "world_size": 2}, )" + small_trace().substr(1);
  };
  const auto write = [&](const std::string& name, const std::string& text) {
    folder_.write("runs/" + name, text);
  };
  write("rank0.pt.trace.json", small_trace());  // the name says it
  write("rank1.pt.trace.json", small_trace());
  write("a-0_41.1699.pt.trace.json", of_rank(0));  // the content says it
  write("b-0_42.1700.pt.trace.json", of_rank(1));
  write("trace1.json", small_trace());  // nothing says it
  write("trace2.json", small_trace());
  write("exp1.json", of_rank(0));  // two jobs
  write("exp2.json", of_rank(0));
  write("job_0/trace.json", of_rank(0));  // two jobs, of which one rank each is here
  write("job_1/trace.json", of_rank(1));
  start();
  EXPECT_EQ(settled("rank*.pt.trace.json")["ranks"], 2);
  EXPECT_EQ(settled("*.pt.trace.json")["ranks"], 2);
  for (const char* name :
       {"trace1.json", "trace2.json", "exp1.json", "exp2.json", "job_0", "job_1"})
    EXPECT_EQ(settled(name)["ranks"], 1) << name;
  EXPECT_EQ(get("runs")["runs"].size(), 10u);  // and the fixture's two
  // One more rank of a run, and a second recording of a rank: which belong together is not clear
  // then.
  write("rank2.pt.trace.json", small_trace());
  for (int i = 0; i < 3000 && settled("rank*.pt.trace.json")["ranks"] != 3; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(settled("rank*.pt.trace.json")["ranks"], 3);
  write("rank02.pt.trace.json", small_trace());
  EXPECT_EQ(settled("rank1.pt.trace.json")["ranks"], 1);
}

TEST_F(ServerTest, RunsComeAndGoWithoutARestart) {
  start();
  ready("one.json");
  folder_.write("runs/two.json", small_trace());
  ready("two.json");
  fs::remove(folder_.path("runs/two.json"));
  for (int i = 0; i < 3000; ++i) {
    bool there = false;
    const json reply = get("runs");
    for (const json& run : reply["runs"]) there |= run["name"] == "two.json";
    if (!there) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  FAIL() << "two.json is still listed";
}

TEST_F(ServerTest, WantsItsToken) {
  start();
  auto refused = client_->Get("/api/v1/runs");
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 401);
  auto wrong = client_->Get("/api/v1/runs", {{"X-Stepscope-Token", token_ + "0"}});
  EXPECT_EQ(wrong->status, 401);
  // The link's token becomes a cookie and leaves the address.
  auto opened = client_->Get("/?token=" + token_ + "&a=b");
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->status, 302);
  EXPECT_EQ(opened->get_header_value("Location"), "/?a=b");
  const std::string cookie = opened->get_header_value("Set-Cookie");
  EXPECT_NE(cookie.find("HttpOnly"), std::string::npos);
  auto allowed = client_->Get("/api/v1/runs", {{"Cookie", cookie.substr(0, cookie.find(';'))}});
  EXPECT_EQ(allowed->status, 200);
}

TEST_F(ServerTest, RefusesNamesThatAreNotItsOwn) {
  start();
  headers_.emplace("Host", "evil.example");
  get("runs", 403);
}

TEST_F(ServerTest, SendsHeadersThatKeepThePageToItself) {
  start();
  auto reply = client_->Get("/", headers_);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 200);
  EXPECT_NE(reply->get_header_value("Content-Security-Policy").find("default-src 'self'"),
            std::string::npos);
  EXPECT_EQ(reply->get_header_value("X-Content-Type-Options"), "nosniff");
  EXPECT_FALSE(reply->has_header("Access-Control-Allow-Origin"));
}

TEST_F(ServerTest, WillNotServeOthersWithoutAToken) {
  ServerOptions options;
  options.base = folder_.path("runs");
  options.host = "0.0.0.0";
  options.port = 0;
  options.want_token = false;
  EXPECT_FALSE(Server::create(options).ok());
}

TEST_F(ServerTest, WorksBelowAPath) {
  ServerOptions options;
  options.path_prefix = "/tools/stepscope";
  start(options);
  auto reply = client_->Get("/tools/stepscope/api/v1/runs", headers_);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(client_->Get("/tools/stepscope/", headers_)->status, 200);
}

TEST_F(ServerTest, AnalysesAreFilteredAndSorted) {
  start();
  const std::string run = ready("one.json");
  const json table = get(run + "/analyses/device_time?rank=0");
  ASSERT_EQ(table["rows"].size(), 1u);
  EXPECT_EQ(table["columns"][0]["name"], "rank");
  EXPECT_EQ(table["total"], 1);
  EXPECT_EQ(get(run + "/analyses/device_time?rank=9")["total"], 0);
  EXPECT_EQ(get(run + "/analyses/kernels?search=GEM")["total"], 1);
  get(run + "/analyses/kernels?sort=nothing", 400);
  get(run + "/analyses/nothing", 404);
}

// A page asks for its tables before it knows the ranks.
TEST_F(ServerTest, TheFirstRankHasANameOfItsOwn) {
  for (const char* name : {"one.json", "broken.json", "link.json"})
    fs::remove(folder_.path("runs/") + name);
  for (const char* name : {"rank_5.json", "rank_3.json"})
    folder_.write(std::string("runs/") + name, small_trace());
  ServerOptions options;
  options.base_is_run = true;
  start(options);
  const std::string run = ready("runs");
  ASSERT_EQ(get(run)["ranks"][0]["rank"], 3);
  EXPECT_EQ(get(run + "/analyses/device_time")["total"], 2);
  const json first = get(run + "/analyses/device_time?rank=first");
  EXPECT_EQ(first["total"], 1);
  EXPECT_EQ(first, get(run + "/analyses/device_time?rank=3"));
  get(run + "/analyses/device_time?rank=frist", 400);
  get(run + "/analyses/device_time?rank=", 400);
}

// Two allocations, one release; moments are taken from the curve, in unix ns.
TEST_F(ServerTest, MemoryOfAMomentAndOfAPart) {
  start();
  folder_.write("runs/memory.json", R"({"traceEvents":[
    {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":100,"dur":50},
    {"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":110,
     "args":{"Device Type":1,"Device Id":0,"Addr":16,"Bytes":4096,"Total Allocated":4096,"Total Reserved":8192}},
    {"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":120,
     "args":{"Device Type":1,"Device Id":0,"Addr":32,"Bytes":1024,"Total Allocated":5120,"Total Reserved":8192}},
    {"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":130,
     "args":{"Device Type":1,"Device Id":0,"Addr":16,"Bytes":-4096,"Total Allocated":1024,"Total Reserved":8192}}]})");
  const std::string run = ready("memory.json") + "/analyses/";
  const json curve = get(run + "memory_curve");
  ASSERT_EQ(curve["total"], 3);
  const auto cell = [](const json& table, size_t row, const std::string& name) {
    for (size_t i = 0; i < table["columns"].size(); ++i) {
      if (table["columns"][i]["name"] == name) {
        const json& value = table["rows"][row][i];
        return value.is_string() ? value.get<std::string>() : write_json(value);
      }
    }
    return std::string();
  };
  const std::string last = cell(curve, 2, "ts");
  EXPECT_EQ(get(run + "memory_curve?from=" + last)["total"], 1);
  const json owners =
      get(run + "memory_owners?rank=0&device=0&device_kind=CUDA&component=&at=" + last);
  ASSERT_EQ(owners["total"], 1) << owners;
  EXPECT_EQ(cell(owners, 0, "bytes"), "1024");
  EXPECT_EQ(get(run + "memory_owners?at=" + cell(curve, 1, "ts"))["total"], 2);
  get(run + "memory_owners?device=7&at=1", 404);
  get(run + "memory_owners?at=soon", 400);
  get(run + "memory_curve?from=x", 400);
  EXPECT_EQ(get(run + "cpu?first_step=1&last_step=2")["total"], 0);
  get(run + "cpu?first_step=one", 400);
}

TEST_F(ServerTest, CriticalPathsOfAStepAndOfAChangedOne) {
  start();
  folder_.write("runs/steps.json", R"({"traceEvents":[
    {"ph":"X","cat":"user_annotation","name":"ProfilerStep#7","pid":1,"tid":1,"ts":0,"dur":100},
    {"ph":"X","cat":"user_annotation","name":"ProfilerStep#8","pid":1,"tid":1,"ts":100,"dur":100},
    {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":10,"dur":50},
    {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":110,"dur":50},
    {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":60,"dur":40,"args":{"device":0,"stream":7}},
    {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":160,"dur":20,"args":{"device":0,"stream":7}}]})");
  const std::string run = ready("steps.json") + "/analyses/";
  EXPECT_EQ(get(run + "critical_path")["total"], 1);
  for (const std::string step : {"7", "8"}) {
    const json path = get(run + "critical_path?step=" + step);
    ASSERT_EQ(path["total"], 1);
    EXPECT_EQ(path["columns"][2]["name"], "step");
    EXPECT_EQ(write_json(path["rows"][0][2]), step);
    EXPECT_GT(get(run + "critical_path_segments?step=" + step)["total"], 1);
  }
  get(run + "critical_path?step=4711", 404);
  const json changed = get(run + "what_if?step=7&change=gemm*0.5");
  ASSERT_EQ(changed["total"], 1);
  EXPECT_EQ(changed["columns"][4]["name"], "events_ns");
  EXPECT_EQ(changed["rows"][0][4], 40'000);
  get(run + "what_if?change=gemm", 400);
  get(run + "what_if?change=softmax*0", 404);
}

TEST_F(ServerTest, TheTimelineIsTypedArrays) {
  start();
  const std::string run = ready("one.json");
  const json tracks = get(run + "/timeline/tracks").at("tracks");
  ASSERT_GE(tracks.size(), 2u);
  auto reply = client_->Get(
      "/api/v1/" + run + "/timeline/view?from=0&to=200000&width=1000&tracks=0,1", headers_);
  ASSERT_TRUE(reply);
  ASSERT_EQ(reply->status, 200);
  uint32_t head[4];
  ASSERT_GE(reply->body.size(), sizeof head);
  std::memcpy(head, reply->body.data(), sizeof head);
  EXPECT_EQ(head[0], 0x31565353u);
  EXPECT_EQ(head[2], 3u);  // items: the step, the operator, the kernel
  const json hits = get(run + "/timeline/search?q=gem");
  EXPECT_EQ(hits["total"], 1);
  EXPECT_EQ(hits["hits"][0]["dur"], 40'000);
  const json details = get(run + "/slices/" + std::to_string(hits["hits"][0]["slice"].get<int>()));
  EXPECT_EQ(details["slice"]["name"], "gemm");
  EXPECT_EQ(details["kernel"]["stream"], "7");
  EXPECT_EQ(details["docs"]["kernel"]["stream"], "stream number");
  EXPECT_FALSE(details["docs"].contains("op"));  // it is none
  EXPECT_EQ(details["args"]["device"], 0);
  EXPECT_EQ(get(run + "/timeline/range?from=0&to=200000&tracks=0,1")["names"], 3);
}

TEST_F(ServerTest, SqlOnlyReads) {
  start();
  const std::string run = "/api/v1/" + ready("one.json") + "/sql";
  auto good =
      client_->Post(run, headers_, R"({"sql": "select name from kernels"})", "application/json");
  ASSERT_TRUE(good);
  EXPECT_EQ(json_tree(good->body)["rows"][0][0], "gemm");
  for (const char* body : {"", "[]", "{\"sql\": 3}", "{\"sql\": \"drop table kernels\"}",
                           "{\"sql\": \"select * from read_csv('/etc/passwd')\"}",
                           "{\"sql\": \"select nonsense from kernels\"}"}) {
    auto bad = client_->Post(run, headers_, body, "application/json");
    ASSERT_TRUE(bad) << body;
    EXPECT_EQ(bad->status, 400) << body << bad->body;
    expect_told(bad->body, body);
  }
}

TEST_F(ServerTest, BadRequestsAreAnsweredAndItGoesOn) {
  start();
  const std::string run = ready("one.json");
  const std::string long_name(5000, 'a');
  for (const std::string& path : {std::string("nothing"),
                                  std::string("runs/0000000000000000"),
                                  std::string("runs/../../etc/passwd"),
                                  run + "/slices/999999999999",
                                  run + "/slices/-1",
                                  run + "/timeline/view?width=0",
                                  run + "/timeline/view?width=99999999999999999999",
                                  run + "/timeline/view?tracks=1,x",
                                  run + "/timeline/view?tracks=4000000",
                                  run + "/timeline/view?tracks=4000000000",
                                  run + "/timeline/curves?series=4000000",
                                  run + "/timeline/archive?rank=77",
                                  run + "/timeline/range?tracks=x",
                                  run + "/timeline/search",
                                  run + "/timeline/search?q=a&limit=99999999999999999999",
                                  run + "/analyses/kernels?limit=-1",
                                  run + "/analyses/kernels?limit=9223372036854775807",
                                  run + "/analyses/kernels?sort=x",
                                  run + "/analyses/kernels?rank=frist",
                                  run + "/analyses/kernels?step=first",
                                  run + "/analyses/kernels?format=x",
                                  run + "/analyses/memory_owners?at=1",
                                  run + "/trace?scope_levels=-1",
                                  run + "/analyses/kernels?offset=99999999999999999999",
                                  run + "/analyses/" + long_name,
                                  run + "/trace?position=77",
                                  "runs/" + settled("broken.json")["id"].get<std::string>()}) {
    auto reply = client_->Get("/api/v1/" + path, headers_);
    ASSERT_TRUE(reply) << path;
    EXPECT_GE(reply->status, 400) << path;
    EXPECT_LT(reply->status, 500) << path;
    expect_told(reply->body, path);
  }
  for (const char* gone : {"0000000000000000/tags", "0000000000000000/import"}) {
    const std::string path = "/api/v1/runs/" + std::string(gone);
    auto reply = path.ends_with("tags")
                     ? client_->Put(path, headers_, "{\"tags\": []}", "application/json")
                     : client_->Post(path, headers_, "", "application/json");
    ASSERT_TRUE(reply) << path;
    EXPECT_EQ(reply->status, 404) << path;
    expect_told(reply->body, path);
  }
  for (const char* body : {"", "[]", "{\"tags\": 1}", "{\"tags\": [1]}", "{\"tags\": [\"\"]}"}) {
    auto reply = client_->Put("/api/v1/" + run + "/tags", headers_, body, "application/json");
    ASSERT_TRUE(reply) << body;
    EXPECT_EQ(reply->status, 400) << body;
    expect_told(reply->body, body);
  }
  EXPECT_EQ(get("runs")["runs"].size() > 0, true);
}

TEST_F(ServerTest, ManyConnectionsAtATime) {
  start();
  const std::string path = "/api/v1/" + ready("one.json") + "/analyses/kernels";
  // Each stays open, as a browser's do.
  std::vector<std::unique_ptr<httplib::Client>> clients;
  for (int i = 0; i < 64; ++i) {
    auto client = std::make_unique<httplib::Client>("127.0.0.1", server_->port());
    client->set_keep_alive(true);
    client->set_read_timeout(20);
    auto reply = client->Get(path, headers_);
    ASSERT_TRUE(reply) << i;
    EXPECT_EQ(reply->status, 200);
    clients.push_back(std::move(client));
  }
}

// Browsers offer brotli; the library would take it at a level that needs seconds.
TEST_F(ServerTest, LargeRepliesAreGzipAndNothingIsBrotli) {
  start();
  client_->set_decompress(false);
  headers_.emplace("Accept-Encoding", "gzip, deflate, br, zstd");
  const std::string run = "/api/v1/" + ready("one.json");
  auto large = client_->Get(run, headers_);
  ASSERT_TRUE(large);
  ASSERT_EQ(large->status, 200);
  EXPECT_EQ(large->get_header_value("Content-Encoding"), "gzip");
  EXPECT_EQ(large->body.substr(0, 2), "\x1f\x8b");
  EXPECT_EQ(large->get_header_value_count("Content-Length"), 1u);
  auto stream = client_->Get(run + "/trace", headers_);
  ASSERT_TRUE(stream);
  EXPECT_FALSE(stream->has_header("Content-Encoding"));
  EXPECT_TRUE(!json_tree(stream->body).is_discarded());
  headers_.erase("Accept-Encoding");
  headers_.emplace("Accept-Encoding", "identity");
  auto plain = client_->Get(run, headers_);
  ASSERT_TRUE(plain);
  EXPECT_TRUE(!json_tree(plain->body).is_discarded());
}

TEST_F(ServerTest, ATraceIsStreamed) {
  start();
  auto reply = client_->Get("/api/v1/" + ready("one.json") + "/trace", headers_);
  ASSERT_TRUE(reply);
  const json trace = json_tree(reply->body);
  ASSERT_TRUE(trace.is_object());
  EXPECT_GE(trace["traceEvents"].size(), 3u);
}

TEST_F(ServerTest, AFolderThatIsNotThereIsAnError) {
  ServerOptions options;
  options.base = folder_.path("nowhere");
  options.port = 0;
  const auto server = Server::create(options);
  ASSERT_FALSE(server.ok());
  EXPECT_NE(server.error().message().find("nowhere"), std::string::npos);
}

TEST(ThrownError, WhatARequestThrewIsToldWithARemedy) {
  const auto told = [](auto thrown) {
    const Error error = error_of(std::make_exception_ptr(thrown), "/api/v1/runs");
    EXPECT_EQ(error.where, "/api/v1/runs");
    EXPECT_FALSE(error.remedy.empty());
    return error.why;
  };
  EXPECT_EQ(told(std::bad_alloc()), "out of memory");
  EXPECT_EQ(told(std::runtime_error("a library's words")), "a library's words");
  EXPECT_EQ(told(7), "an exception of unknown type");
}

TEST(SliceColour, FollowsMeaning) {
  EXPECT_EQ(slice_colour("kernel", "gemm"), SliceColour::kComputing);
  EXPECT_EQ(slice_colour("kernel", "ncclDevKernel_AllReduce"), SliceColour::kCommunication);
  EXPECT_EQ(slice_colour("gpu_memcpy", "Memcpy HtoD"), SliceColour::kMemory);
  EXPECT_EQ(slice_colour("cuda_runtime", "cudaDeviceSynchronize"), SliceColour::kSync);
  EXPECT_EQ(slice_colour("user_annotation", "ProfilerStep#3"), SliceColour::kStep);
  EXPECT_EQ(slice_colour("cpu_op", "aten::mm"), SliceColour::kHost);
}

}  // namespace
}  // namespace stepscope
