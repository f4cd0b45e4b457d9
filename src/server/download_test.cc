// Tables, queries and timelines as files.
#include <sys/socket.h>

#include "base/file.h"
#include "json/json_tree.h"
#include "tests/support/server_fixture.h"

namespace stepscope {
namespace {

using nlohmann::json;

class Downloads : public testing::ServerFixture {
 protected:
  void SetUp() override {
    ServerFixture::SetUp();
    start();
    run_ = "/api/v1/" + ready("one.json");
  }
  httplib::Result get_file(const std::string& path) {
    auto reply = client_->Get(run_ + path, headers_);
    EXPECT_TRUE(reply) << path;
    return reply;
  }
  httplib::Result sql(const json& body) {
    return client_->Post(run_ + "/sql", headers_, write_json(body), "application/json");
  }
  std::string run_;
};

TEST_F(Downloads, TablesInThreeFormatsWithTheRowsThatMatch) {
  auto csv = get_file("/analyses/kernels?format=csv&search=gem");
  ASSERT_EQ(csv->status, 200);
  EXPECT_EQ(csv->get_header_value("Content-Disposition"), "attachment; filename=\"kernels.csv\"");
  EXPECT_EQ(std::count(csv->body.begin(), csv->body.end(), '\n'), 2) << csv->body;
  EXPECT_EQ(get_file("/analyses/kernels?format=csv&rank=7")->body.find("gemm"), std::string::npos);

  const json rows = json_tree(get_file("/analyses/kernels?format=json")->body);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["total_ns"], 40'000);
  EXPECT_EQ(json_tree(get_file("/analyses/kernels?format=json&rank=7")->body).size(), 0u);

  auto parquet = get_file("/analyses/kernels?format=parquet");
  EXPECT_EQ(parquet->status, 200);
  EXPECT_TRUE(parquet->body.starts_with("PAR1") && parquet->body.ends_with("PAR1"));
  EXPECT_EQ(get_file("/analyses/kernels?format=xlsx")->status, 400);
}

TEST_F(Downloads, QueriesInFiveFormats) {
  const std::string select = "select name, dur from kernels";
  EXPECT_EQ(sql({{"sql", select}, {"format", "csv"}})->body, "name,dur\r\ngemm,40000\r\n");
  EXPECT_EQ(json_tree(sql({{"sql", select}, {"format", "json"}})->body)[0]["dur"], 40'000);
  EXPECT_EQ(json_tree(sql({{"sql", select}, {"format", "jsonl"}})->body)["name"], "gemm");
  EXPECT_TRUE(sql({{"sql", select}, {"format", "parquet"}})->body.starts_with("PAR1"));
  EXPECT_TRUE(sql({{"sql", select}, {"format", "arrow"}})->body.starts_with("ARROW1"));
  for (const json& bad :
       {json{{"sql", select}, {"format", "xlsx"}}, json{{"sql", select}, {"format", 3}},
        json{{"sql", "drop table kernels"}, {"format", "csv"}},
        json{{"sql", "copy kernels to '/tmp/x'"}, {"format", "parquet"}}}) {
    auto reply = sql(bad);
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 400) << write_json(bad) << reply->body;
  }
}

TEST_F(Downloads, TimelinesWithAndWithoutScopes) {
  EXPECT_GE(json_tree(get_file("/trace")->body)["traceEvents"].size(), 3u);
  auto view = get_file("/trace?position=0&scope_levels=2");
  ASSERT_EQ(view->status, 200);
  EXPECT_TRUE(json_tree(view->body).is_array());
  EXPECT_EQ(view->get_header_value("Content-Disposition"),
            "attachment; filename=\"rank_0_scopes_2.json\"");
  EXPECT_EQ(get_file("/trace?scope_levels=-1")->status, 400);
  EXPECT_EQ(get_file("/trace?scope_levels=x")->status, 400);
}

TEST_F(Downloads, NothingWaitsForCompression) {
  httplib::Headers headers = headers_;
  headers.emplace("Accept-Encoding", "gzip, deflate, br");
  client_->set_decompress(false);
  EXPECT_EQ(client_->Get(run_ + "/analyses/kernels", headers)->get_header_value("Content-Encoding"),
            "gzip");
  for (const char* file : {"/trace", "/analyses/kernels?format=csv"})
    EXPECT_FALSE(client_->Get(run_ + file, headers)->has_header("Content-Encoding")) << file;
}

TEST_F(Downloads, AClientThatGoesAwayDoesNotEndTheServer) {
  for (int i = 0; i < 8; ++i) {
    // Reads a little of an endless answer, and closes.
    httplib::Client quitter("127.0.0.1", server_->port());
    size_t got = 0;
    const json body = {{"sql", "select range as r from range(100000000)"}, {"format", "csv"}};
    httplib::Request request;
    request.method = "POST";
    request.path = run_ + "/sql";
    request.headers = headers_;
    request.body = write_json(body);
    request.content_receiver = [&](const char*, size_t bytes, uint64_t, uint64_t) {
      got += bytes;
      return got < 1'000'000;
    };
    const auto reply = quitter.send(request);
    EXPECT_FALSE(reply);
    EXPECT_GT(got, 0u);
  }
  EXPECT_EQ(get_file("/analyses/kernels")->status, 200);
}

}  // namespace
}  // namespace stepscope
