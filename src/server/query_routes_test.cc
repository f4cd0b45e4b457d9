// SQL over the API: kinds of columns, exact sums, limits.
#include <chrono>
#include <future>
#include <thread>

#include "json/json_tree.h"
#include "tests/support/server_fixture.h"

namespace stepscope {
namespace {

using nlohmann::json;

class QueryRoutes : public testing::ServerFixture {
 protected:
  void begin(const ServerOptions& options = {}) {
    start(options);
    path_ = "/api/v1/" + ready("one.json") + "/sql";
    client_->set_read_timeout(60);
  }
  json sql(const json& body, int status = 200) {
    auto reply = client_->Post(path_, headers_, write_json(body), "application/json");
    EXPECT_TRUE(reply) << write_json(body);
    if (!reply) return {};
    EXPECT_EQ(reply->status, status) << write_json(body) << reply->body;
    return json_tree(reply->body);
  }
  std::string path_;
};

TEST_F(QueryRoutes, SumsAreNumbersUpToWhatJavaScriptHolds) {
  begin();
  const json reply = sql({{"sql", R"(select sum(dur) as small, 9007199254740992::hugeint as most,
      -9007199254740993::hugeint as beyond, 9007199254740993 as plain,
      170141183460469231731687303715884105727::hugeint as widest, null::hugeint as nothing,
      dur / 3 as part, name, dur > 1 as is_long from kernels group by all)"}});
  EXPECT_EQ(reply["kinds"], (json{"integer", "integer", "integer", "integer", "integer", "integer",
                                  "float", "text", "bool"}));
  const json& row = reply["rows"][0];
  EXPECT_EQ(row[0], 40'000);
  EXPECT_EQ(row[1], 9'007'199'254'740'992);
  EXPECT_EQ(row[2], "-9007199254740993");
  EXPECT_EQ(row[3], "9007199254740993");
  EXPECT_EQ(row[4], "170141183460469231731687303715884105727");
  EXPECT_TRUE(row[5].is_null());
  EXPECT_EQ(row[8], true);
}

TEST_F(QueryRoutes, HugeAndWrongLimits) {
  begin();
  const std::string many = "select range from range(200000)";
  EXPECT_EQ(sql({{"sql", many}})["rows"].size(), 1000u);
  for (const json& huge : {json(100'001), json(INT64_MAX), json(UINT64_MAX)}) {
    const json reply = sql({{"sql", many}, {"limit", huge}});
    EXPECT_EQ(reply["rows"].size(), 100'000u) << huge;
    EXPECT_EQ(reply["more"], true);
  }
  for (const json& wrong : {json(0), json(-1), json(1.5), json(1e300), json("7"), json(nullptr)}) {
    const json error = sql({{"sql", many}, {"limit", wrong}}, 400)["error"];
    EXPECT_EQ(error["where"], "limit") << wrong;
    EXPECT_NE(error["remedy"], "");
  }
}

TEST_F(QueryRoutes, AStatementThatTakesTooLongIsStopped) {
  ServerOptions options;
  options.query_seconds = 0.2;
  begin(options);
  const std::string endless =
      "select count(*) from range(10000000) a, range(10000000) b where a.range + b.range = 7";
  for (const json& body : {json{{"sql", endless}}, json{{"sql", endless}, {"format", "parquet"}}}) {
    const json error = sql(body, 413)["error"];
    EXPECT_EQ(error["code"], "limit");
    EXPECT_NE(error["why"].get<std::string>().find("0.2 s"), std::string::npos);
    EXPECT_TRUE(error["remedy"].get<std::string>().starts_with("ask for less")) << error["remedy"];
  }
  EXPECT_EQ(sql({{"sql", "select 1"}})["rows"][0][0], 1);
}

TEST_F(QueryRoutes, AStatementIsStoppedByItsName) {
  begin();
  const auto stop = [&](const std::string& name) {
    httplib::Client client("127.0.0.1", server_->port());
    auto reply = client.Delete(path_ + "?name=" + name, headers_);
    return reply && reply->status == 200 && json_tree(reply->body)["stopped"] == true;
  };
  EXPECT_FALSE(stop("mine"));
  const json endless = {{"sql",
                         "select count(*) from range(10000000) a, range(10000000) b where "
                         "a.range + b.range = 7"},
                        {"name", "mine"}};
  auto answer = std::async(std::launch::async, [&] {
    auto reply = client_->Post(path_, headers_, write_json(endless), "application/json");
    return reply ? json_tree(reply->body)["error"]["code"].get<std::string>() : "no answer";
  });
  while (!stop("mine")) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(answer.get(), "cancelled");
  EXPECT_FALSE(stop("mine"));
  EXPECT_EQ(sql({{"sql", "select 1"}, {"name", 3}}, 400)["error"]["code"], "bad_input");
}

}  // namespace
}  // namespace stepscope
