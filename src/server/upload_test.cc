// Files that the page adds to the folder, tags, and who may change anything.
#include <fstream>

#include "json/json_tree.h"
#include "tests/support/server_fixture.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Uploads : public testing::ServerFixture {
 protected:
  void begin(uint64_t largest = 1 << 20) {
    ServerOptions options;
    options.workspace = folder_.path("workspace");
    options.largest_upload = largest;
    start(options);
  }
  httplib::Result send(const std::string& name, const std::string& body) {
    return client_->Post("/api/v1/runs?name=" + httplib::detail::encode_query_param(name), headers_,
                         body, "application/octet-stream");
  }
  size_t files() const {
    size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder_.path("runs"))) {
      const std::string name = entry.path().filename().string();
      count += name.find(".stepscope") == std::string::npos || name.starts_with(".upload");
    }
    return count;
  }
  httplib::Result tag(const std::string& id, const std::string& body) {
    return client_->Put("/api/v1/" + id + "/tags", headers_, body, "application/json");
  }
};

TEST_F(Uploads, AFileBecomesARun) {
  begin();
  auto reply = send("new trace.json", testing::small_trace());
  ASSERT_TRUE(reply);
  ASSERT_EQ(reply->status, 200) << reply->body;
  EXPECT_EQ(json_tree(reply->body)["name"], "new trace.json");
  EXPECT_EQ("runs/" + json_tree(reply->body)["id"].get<std::string>(), ready("new trace.json"));
  // The same name again: a number, and the first is untouched.
  reply = send("new trace.json", testing::small_trace());
  EXPECT_EQ(json_tree(reply->body)["name"], "new trace-2.json");
  ready("new trace-2.json");
}

TEST_F(Uploads, BadNamesAndContentsLeaveNothing) {
  begin(5000);
  const size_t before = files();
  for (const std::string& name :
       {std::string(), std::string("../evil.json"), std::string("a/b.json"),
        std::string("..\\b.json"), std::string(".hidden.json"), std::string("x.json.stepscope"),
        std::string("a\nb.json"), std::string("\xff.json"), std::string(300, 'n') + ".json"}) {
    auto reply = send(name, testing::small_trace());
    ASSERT_TRUE(reply) << name;
    EXPECT_EQ(reply->status, 400) << name << reply->body;
    EXPECT_EQ(json_tree(reply->body)["error"]["code"], "bad_input") << reply->body;
  }
  auto unknown = send("notes.txt", "no trace at all");
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->status, 400) << unknown->body;
  EXPECT_EQ(send("empty.json", "")->status, 400);
  auto large = send("large.json", std::string(6000, ' '));
  if (large) {
    EXPECT_EQ(large->status, 413) << large->body;
  }
  EXPECT_EQ(files(), before);
  EXPECT_FALSE(fs::exists(folder_.path("evil.json")));
  EXPECT_EQ(get("runs")["runs"].is_array(), true);
}

TEST_F(Uploads, AFileThatStopsHalfwayIsForgotten) {
  begin();
  const size_t before = files();
  const auto become = [&](size_t count) {
    for (int i = 0; i < 3000; ++i) {
      if (files() == count) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  };
  {
    httplib::Client quitter("127.0.0.1", server_->port());
    const auto reply = quitter.Post(
        "/api/v1/runs?name=half.json", headers_, 500'000,
        [&](size_t, size_t, httplib::DataSink& sink) {
          const std::string piece(100'000, ' ');
          sink.write(piece.data(), piece.size());
          EXPECT_TRUE(become(before + 1)) << "what has come is kept so far";
          return false;
        },
        "application/octet-stream");
    EXPECT_FALSE(reply && reply->status == 200);
  }
  EXPECT_TRUE(become(before));
}

TEST_F(Uploads, OtherBodiesStaySmall) {
  begin();
  const std::string run = ready("one.json");
  auto reply = client_->Post("/api/v1/" + run + "/sql", headers_, std::string(2 << 20, ' '),
                             "application/json");
  if (reply) {
    EXPECT_EQ(reply->status, 413);
  }
  EXPECT_EQ(get(run)["ranks"].size(), 1u);
}

TEST_F(Uploads, PagesOfOtherSitesChangeNothing) {
  ServerOptions options;
  options.want_token = false;
  options.allowed_hosts = {"lab.example"};
  start(options);
  const std::string own = "http://127.0.0.1:" + std::to_string(server_->port());
  const auto post = [&](const httplib::Headers& headers) {
    auto reply =
        client_->Post("/api/v1/runs?name=x.json", headers, testing::small_trace(), "text/plain");
    EXPECT_TRUE(reply);
    return reply ? reply->status : 0;
  };
  EXPECT_EQ(post({{"Origin", "http://evil.example"}}), 403);
  EXPECT_EQ(post({{"Origin", "null"}}), 403);
  EXPECT_EQ(post({{"Origin", "http://localhost:3000"}}), 403);  // another server of this machine
  EXPECT_EQ(post({{"Sec-Fetch-Site", "cross-site"}}), 403);
  EXPECT_EQ(post({{"Origin", own}}), 200);
  EXPECT_EQ(post({{"Origin", "https://lab.example"}}), 200);
  EXPECT_EQ(post({}), 200);
}

// A request that is refused before its body was read: what follows is no request.
TEST_F(Uploads, TheBodyOfARefusedRequestIsNotTheNextRequest) {
  ServerOptions options;
  options.want_token = false;
  start(options);
  const size_t before = files();
  const std::string host = "Host: 127.0.0.1\r\n";
  const std::string trace = testing::small_trace();
  const std::string hidden = "POST /api/v1/runs?name=hidden.json HTTP/1.1\r\n" + host +
                             "Content-Length: " + std::to_string(trace.size()) + "\r\n\r\n" + trace;
  const std::string length = "Content-Length: " + std::to_string(hidden.size()) + "\r\n";
  const std::string refused[] = {
      "POST /api/v1/runs?name=a.json HTTP/1.1\r\n" + host + "Origin: http://evil.example\r\n" +
          length,
      "POST /api/v1/runs?name=a.json HTTP/1.1\r\nHost: evil.example\r\n" + length,
      "POST /api/v1/runs/0000000000000000/sql HTTP/1.1\r\n" + host + "Content-Length: 99999999\r\n",
      "POST /api/v1/runs/0000000000000000/sql HTTP/1.1\r\n" + host +
          "Transfer-Encoding: chunked\r\n",
      "POST /api/v1/runs?name=a.json HTTP/1.1\r\n" + host + "Content-Encoding: gzip\r\n" + length,
      "GET /api/v1/runs HTTP/1.1\r\n" + host + length,
      "POST /api/v1/runs?name=a.json HTTP/1.1\r\n" + host + "Content-Length: 99999999999999\r\n",
  };
  for (const std::string& head : refused) {
    SCOPED_TRACE(head);
    testing::PlainConnection connection(server_->port());
    connection.send(head + "\r\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // the answer comes first
    connection.send(hidden);
    const std::string answer = connection.read_to_end();
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 4")) << answer;
    EXPECT_EQ(answer.find("HTTP/1.1", 8), std::string::npos) << answer;  // only one
    EXPECT_NE(answer.find("\"error\""), std::string::npos) << answer;
  }
  EXPECT_EQ(files(), before);
}

TEST_F(Uploads, LinksInsideOfARunDoNotLeadOut) {
  fs::create_directories(folder_.path("runs/job"));
  fs::create_directories(folder_.path("elsewhere"));
  folder_.write("elsewhere/rank_0.json", testing::small_trace());
  fs::create_symlink(folder_.path("elsewhere/rank_0.json"), folder_.path("runs/job/rank_0.json"));
  fs::create_symlink(folder_.path(""), folder_.path("runs/up"));  // an ancestor of the base
  begin();
  const json job = settled("job");
  EXPECT_EQ(job["state"], "failed") << write_json(job);
  EXPECT_NE(job["reason"].get<std::string>().find("leads out"), std::string::npos)
      << write_json(job);
  const json listed = get("runs");
  for (const json& run : listed["runs"]) EXPECT_NE(run["name"], "up");
}

TEST_F(Uploads, TagsAreKept) {
  begin();
  const std::string run = ready("one.json");
  EXPECT_EQ(tag(run, R"({"tags": ["slow", "baseline", "slow"]})")->status, 200);
  EXPECT_EQ(settled("one.json")["tags"], json({"baseline", "slow"}));
  stop();
  begin();
  EXPECT_EQ(settled("one.json")["tags"], json({"baseline", "slow"}));
  for (const std::string& bad :
       {std::string(), std::string("{}"), std::string(R"({"tags": "a"})"),
        std::string(R"({"tags": [1]})"), std::string(R"({"tags": [""]})"),
        std::string(R"({"tags": [" a"]})"), std::string(R"({"tags": ["a\nb"]})"),
        R"({"tags": [")" + std::string(100, 'a') + R"("]})"}) {
    auto reply = tag(run, bad);
    ASSERT_TRUE(reply) << bad;
    EXPECT_EQ(reply->status, 400) << bad;
  }
  EXPECT_EQ(tag("runs/0000000000000000", R"({"tags": []})")->status, 404);
  EXPECT_EQ(tag(run, R"({"tags": []})")->status, 200);
  EXPECT_EQ(settled("one.json")["tags"], json::array());
  // A file that somebody broke is not overwritten.
  folder_.write("workspace/tags.json", "{broken");
  EXPECT_EQ(tag(run, R"({"tags": ["a"]})")->status, 400);
  EXPECT_EQ(settled("one.json")["tags"], json::array());
}

TEST_F(Uploads, WithoutAWorkspaceThereAreNoTags) {
  start();
  auto reply = tag(ready("one.json"), R"({"tags": ["a"]})");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 400);
  EXPECT_NE(reply->body.find("--workspace"), std::string::npos);
}

TEST_F(Uploads, ARunDeletedWhileItIsOpenIsGoneAndTheServerGoesOn) {
  begin();
  folder_.write("runs/two.json", testing::small_trace());
  const std::string two = ready("two.json");
  EXPECT_EQ(get(two + "/timeline/tracks")["tracks"].empty(), false);
  fs::remove(folder_.path("runs/two.json"));
  fs::remove(folder_.path("runs/two.json.stepscope"));
  for (int i = 0; i < 3000; ++i) {
    auto reply = client_->Get("/api/v1/" + two + "/timeline/tracks", headers_);
    ASSERT_TRUE(reply);
    if (reply->status == 404) break;
    ASSERT_EQ(reply->status, 200) << reply->body;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  get(two, 404);
  ready("one.json");
}

TEST_F(Uploads, AStoreOfAnotherVersionIsMadeAgain) {
  begin();
  ready("one.json");
  stop();
  const std::string store = folder_.path("runs/one.json.stepscope");
  ASSERT_TRUE(fs::exists(store));
  {
    std::fstream file(store, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(8);
    const uint32_t version = 999'999;
    file.write(reinterpret_cast<const char*>(&version), sizeof version);
  }
  begin();
  EXPECT_EQ(get(ready("one.json") + "/analyses/kernels")["total"], 1);
}

}  // namespace
}  // namespace stepscope
