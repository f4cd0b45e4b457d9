// A training that the pages may ask for recordings: a folder with ranks that the test plays, and
// control sockets. tests/browser has a real training.
#include <unistd.h>

#include <fstream>
#include <mutex>

#include "json/json_tree.h"
#include "tests/support/server_fixture.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// What a rank of another machine tells, a moment ago.
json told(int rank) {
  return {{"rank", rank},        {"host", "elsewhere"},  {"pid", 100 + rank},
          {"state", "watching"}, {"window", nullptr},    {"request", ""},
          {"taken", ""},         {"step", 10},           {"steps_per_second", 2.0},
          {"output", ""},        {"error", ""},          {"refused", ""},
          {"next_update_s", 60}, {"poll_interval_s", 0}, {"updated", unix_seconds()}};
}

class Controls : public testing::ServerFixture {
 protected:
  void TearDown() override {
    ServerFixture::TearDown();
    socket_.stop();
    if (socket_thread_.joinable()) socket_thread_.join();
  }
  void begin(const std::string& target, ServerOptions options = {}) {
    options.control = target;
    start(options);
  }
  std::string watched_folder() {
    fs::create_directories(folder_.path("cfg/.stepscope"));
    return folder_.path("cfg");
  }
  void tell(const json& rank) {
    // Whole or not at all, as ranks do.
    const std::string path =
        folder_.path("cfg/.stepscope/rank_" + std::to_string(rank["rank"].get<int>()) + ".json");
    std::ofstream(path + ".new") << write_json(rank);
    fs::rename(path + ".new", path);
  }
  json configuration() {
    const auto read = read_json_file(folder_.path("cfg/profiler_config.json"));
    return read ? *read : json();
  }
  // A rank that takes up what is asked.
  void answer(int rank, const std::string& state, const std::string& output = "") {
    const json asked = configuration();
    json now = told(rank);
    now["state"] = state;
    now["request"] = now["taken"] = asked["request"];
    now["window"] = {asked["start_step"], asked["stop_step"]};
    now["output"] = output;
    tell(now);
  }
  // The ranks of the socket do what they are asked at once.
  std::string serve_socket() {
    socket_.Get("/ranks", [this](const httplib::Request&, httplib::Response& response) {
      const std::scoped_lock lock(mutex_);
      json rank = told(3);
      rank["alive"] = true;
      if (const json asked = json_tree(config_); asked.contains("request")) {
        rank["state"] = "armed";
        rank["taken"] = rank["request"] = asked["request"];
      }
      response.set_content(write_json(json{{"ranks", {rank}}}), "application/json");
    });
    socket_.Get("/config", [this](const httplib::Request&, httplib::Response& response) {
      const std::scoped_lock lock(mutex_);
      response.set_content(write_json(json{{"text", config_}, {"version", "1"}}),
                           "application/json");
    });
    socket_.Put("/config", [this](const httplib::Request& request, httplib::Response& response) {
      const std::scoped_lock lock(mutex_);
      config_ = request.body;
      response.set_content("{}", "application/json");
    });
    const int port = socket_.bind_to_any_port("127.0.0.1");
    socket_thread_ = std::thread([this] { socket_.listen_after_bind(); });
    return "127.0.0.1:" + std::to_string(port);
  }
  httplib::Result post(const std::string& body, const char* type = "application/json") {
    return client_->Post("/api/v1/control/capture", headers_, body, type);
  }
  json asked(const std::string& body, int status = 200) {
    auto reply = post(body);
    EXPECT_TRUE(reply);
    if (!reply) return {};
    EXPECT_EQ(reply->status, status) << reply->body;
    return json_tree(reply->body);
  }

  httplib::Server socket_;
  std::thread socket_thread_;
  std::mutex mutex_;
  std::string config_ = "{}";
};

TEST_F(Controls, WithoutATargetThereIsNothingToAsk) {
  start();
  EXPECT_EQ(get("control")["target"], "");
  EXPECT_EQ(get("control/ranks", 404)["error"]["remedy"], "start it with --control TARGET");
  EXPECT_EQ(asked(R"({"next": 1})", 404)["error"]["code"], "not_found");
}

TEST_F(Controls, AFolderFromAskingToTheRun) {
  begin(watched_folder());
  tell(told(0));
  tell(told(1));
  EXPECT_EQ(get("control")["target"], folder_.path("cfg"));
  const json before = get("control/ranks");
  ASSERT_EQ(before["ranks"].size(), 2u) << write_json(before);
  EXPECT_EQ(before["ranks"][0]["step"], 10);
  EXPECT_EQ(before["ranks"][0]["state"], "watching");
  EXPECT_EQ(before["places"][0]["name"], folder_.path("cfg/profiler_config.json"));
  EXPECT_EQ(before["requests"], json::array());

  // The ranks take it up while the server waits for them.
  std::thread ranks([this] {
    for (int i = 0; i < 6000 && !configuration().contains("request"); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    answer(0, "armed");
    answer(1, "recording");
  });
  const json sent =
      asked(R"({"steps": [50, 52], "level": 1, "with_stack": true, "ranks": [1, 0]})");
  ranks.join();
  EXPECT_EQ(sent["steps"], json({50, 52}));
  EXPECT_EQ(sent["ranks"][0]["state"], "armed") << write_json(sent);
  EXPECT_EQ(sent["ranks"][1]["state"], "started");
  EXPECT_EQ(sent["over"], false);
  const json written = configuration();
  EXPECT_EQ(written["start_step"], 50);
  EXPECT_EQ(written["stop_step"], 52);
  EXPECT_EQ(written["profiler_level"], 1);
  EXPECT_EQ(written["with_stack"], true);
  EXPECT_EQ(written["ranks"], json({0, 1}));

  // What is asked for stays, unless it is replaced.
  const json other = asked(R"({"next": 3})", 409);
  EXPECT_NE(other["error"]["message"].get<std::string>().find("steps 50 to 52"), std::string::npos);
  EXPECT_EQ(configuration()["start_step"], 50);

  // A rank that is done tells where; that has become a run of the folder.
  const std::string run = ready("one.json");
  answer(0, "finished", folder_.path("runs/one.json"));
  answer(1, "missed");
  json request = json::object();
  for (int i = 0; i < 1200 && !request.value("over", false); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    request = get("control/ranks")["requests"][0];
  }
  EXPECT_EQ(request["id"], sent["id"]);
  EXPECT_EQ(request["ranks"][0]["state"], "finished");
  EXPECT_EQ("runs/" + request["ranks"][0]["run"].get<std::string>(), run);
  EXPECT_EQ(request["ranks"][0]["run_state"], "ready");
  EXPECT_EQ(request["ranks"][1]["state"], "missed");
  EXPECT_EQ(request["ranks"][1]["run"], "");
}

TEST_F(Controls, ARequestThatWasTakenFromARankSaysSo) {
  begin(watched_folder());
  tell(told(0));
  std::thread ranks([this] {
    for (int i = 0; i < 6000 && !configuration().contains("request"); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    answer(0, "armed");
  });
  const json sent = asked(R"({"next": 2})");
  ranks.join();
  json later = told(0);
  later["taken"] = later["request"] = "somebody else's";
  later["state"] = "armed";
  tell(later);
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  const json request = get("control/ranks")["requests"][0];
  EXPECT_EQ(request["ranks"][0]["state"], "superseded") << write_json(request);
  EXPECT_EQ(request["over"], true);
}

TEST_F(Controls, SocketsOfWhichOneDoesNotAnswer) {
  const std::string target = serve_socket();
  begin(target + ",127.0.0.1:1");
  const json state = get("control/ranks");
  ASSERT_EQ(state["ranks"].size(), 1u) << write_json(state);
  EXPECT_EQ(state["places"][0]["error"], "");
  EXPECT_NE(state["places"][1]["error"].get<std::string>().find("cannot reach"), std::string::npos);
  EXPECT_EQ(asked(R"({"next": 1})", 500)["error"]["code"], "io");
  EXPECT_EQ(config_, "{}") << "not all can be asked: none is";
  stop();
  begin("127.0.0.1:1");
  EXPECT_EQ(get("control/ranks", 500)["error"]["code"], "io");
  stop();
  begin(target);
  EXPECT_EQ(asked(R"({"next": 4})")["ranks"][0]["state"], "armed");
  EXPECT_EQ(get("control/ranks")["requests"].size(), 1u);
}

TEST_F(Controls, BadRequestsAskForNothing) {
  begin(watched_folder());
  tell(told(0));
  for (const char* const body : {"",
                                 "[]",
                                 "{",
                                 "3",
                                 "{}",
                                 R"({"next": 0})",
                                 R"({"next": 1000001})",
                                 R"({"next": "3"})",
                                 R"({"next": 1.5})",
                                 R"({"next": 1e300})",
                                 R"({"next": 3, "steps": [1, 2]})",
                                 R"({"steps": [0, 2]})",
                                 R"({"steps": [3, 2]})",
                                 R"({"steps": [1]})",
                                 R"({"steps": "1-2"})",
                                 R"({"steps": [1, 9007199254740993]})",
                                 R"({"next": 1, "level": 3})",
                                 R"({"next": 1, "level": true})",
                                 R"({"next": 1, "with_stack": 1})",
                                 R"({"next": 1, "replace": "yes"})",
                                 R"({"next": 1, "ranks": [-1]})",
                                 R"({"next": 1, "ranks": 0})",
                                 R"({"next": 1, "target": "/etc"})",
                                 R"({"next": 1, "prof_path": "/tmp"})",
                                 R"({"next": 1, "output": "/tmp"})"}) {
    const json reply = asked(body, 400);
    EXPECT_EQ(reply["error"]["code"], "bad_input") << body;
    EXPECT_NE(reply["error"]["remedy"], "") << body;
  }
  EXPECT_EQ(post(R"({"next": 1})", "text/plain")->status, 400);
  EXPECT_EQ(post(R"({"next": 1})", "application/x-www-form-urlencoded")->status, 400);
  EXPECT_EQ(post(R"({"next": 1, "ranks": [)" + std::string(70'000, ' ') + "0]}")->status, 413);
  EXPECT_EQ(asked(R"({"next": 1, "ranks": [7]})", 404)["error"]["code"], "not_found");
  EXPECT_EQ(client_->Get("/api/v1/control/capture", headers_)->status, 404);
  EXPECT_EQ(client_->Put("/api/v1/control/capture", headers_, "{}", "application/json")->status,
            404);
  EXPECT_FALSE(fs::exists(folder_.path("cfg/profiler_config.json")));
}

TEST_F(Controls, OnlyOurPagesWithTheTokenMayAsk) {
  begin(watched_folder());
  tell(told(0));
  const auto status = [&](httplib::Headers headers) {
    auto reply =
        client_->Post("/api/v1/control/capture", headers, R"({"next": 1})", "application/json");
    return reply ? reply->status : 0;
  };
  EXPECT_EQ(status({}), 401);
  EXPECT_EQ(status({{"X-Stepscope-Token", "guessed"}}), 401);
  EXPECT_EQ(status({{"X-Stepscope-Token", token_}, {"Origin", "http://evil.example"}}), 403);
  EXPECT_EQ(status({{"X-Stepscope-Token", token_}, {"Sec-Fetch-Site", "cross-site"}}), 403);
  EXPECT_EQ(status({{"X-Stepscope-Token", token_}, {"Host", "evil.example"}}), 403);
  EXPECT_EQ(client_->Get("/api/v1/control/ranks")->status, 401);
  EXPECT_FALSE(fs::exists(folder_.path("cfg/profiler_config.json")));
}

TEST_F(Controls, ATrainingMayStartLater) {
  begin(folder_.path("cfg"));
  EXPECT_EQ(get("control/ranks", 404)["error"]["code"], "not_found");
  watched_folder();
  tell(told(0));
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  EXPECT_EQ(get("control/ranks")["ranks"].size(), 1u);
}

}  // namespace
}  // namespace stepscope
