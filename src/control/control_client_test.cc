// A control socket, played by a server of the test; python/tests/test_dynamic_control.py has the
// real one.
#include "control/control_client.h"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <httplib.h>

namespace stepscope {
namespace {

class ControlClientTest : public ::testing::Test {
 protected:
  void TearDown() override {
    server_.stop();
    if (thread_.joinable()) thread_.join();
    ::unsetenv("STEPSCOPE_CONTROL_TOKEN");
  }
  std::unique_ptr<WatchedPlace> place(uint64_t largest_reply = kLargestControlReply) {
    const int port = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    auto socket = control_socket("127.0.0.1:" + std::to_string(port), "", largest_reply);
    return socket ? std::move(*socket) : nullptr;
  }

  httplib::Server server_;
  std::thread thread_;
};

TEST(LoopbackAddresses, AreNumbersOrLocalhost) {
  for (const char* const own : {"127.0.0.1", "127.1.2.3", "localhost", "::1"})
    EXPECT_TRUE(is_loopback_address(own)) << own;
  for (const char* const other : {"127.evil.example", "127.0.0.1.evil.example", "127.", "128.0.0.1",
                                  "127.0.0.256", "localhost.evil.example", "", "10.0.0.1"})
    EXPECT_FALSE(is_loopback_address(other)) << other;
}

TEST_F(ControlClientTest, TellsOfRanksAndSendsTheTokenAndTheVersion) {
  std::string token;
  std::string version;
  std::string written;
  server_.Get("/ranks", [&](const httplib::Request& request, httplib::Response& response) {
    token = request.get_header_value("Authorization");
    response.set_content(R"({"ranks": [{"rank": 1, "alive": true, "step": 5}, 7, {"rank": 0}]})",
                         "application/json");
  });
  server_.Get("/config", [](const httplib::Request&, httplib::Response& response) {
    response.set_content(R"({"text": "{\"start_step\": 3, \"stop_step\": 4}", "version": "v1"})",
                         "application/json");
  });
  server_.Put("/config", [&](const httplib::Request& request, httplib::Response& response) {
    version = request.get_header_value("If-Match");
    written = request.body;
    response.set_content("{}", "application/json");
  });
  ::setenv("STEPSCOPE_CONTROL_TOKEN", "secret", 1);
  const auto socket = place();
  const auto ranks = socket->ranks();
  ASSERT_TRUE(ranks) << ranks.error().message();
  ASSERT_EQ(ranks->size(), 2U);
  EXPECT_FALSE(ranks->at(0).alive);
  EXPECT_TRUE(ranks->at(1).alive);
  EXPECT_EQ(ranks->at(1).step, 5);
  EXPECT_EQ(token, "Bearer secret");
  auto edit = socket->edit();
  ASSERT_TRUE(edit) << edit.error().message();
  EXPECT_TRUE((*edit)->asked() == (StepWindow{3, 4}));
  ASSERT_TRUE((*edit)->write({"id", {7, 9}, -1, false, false, {}}));
  EXPECT_EQ(version, "v1");
  EXPECT_NE(written.find("\"start_step\": 7"), std::string::npos) << written;
}

TEST_F(ControlClientTest, AnEndlessAnswerIsNotRead) {
  // The server's thread may still be sending when the test has seen enough.
  const auto sent = std::make_shared<std::atomic<uint64_t>>(0);
  server_.Get("/ranks", [sent](const httplib::Request&, httplib::Response& response) {
    const auto send = [sent](size_t, httplib::DataSink& sink) {
      const std::string piece(10'000, ' ');
      *sent += piece.size();
      return *sent < (1 << 30) && sink.write(piece.data(), piece.size());
    };
    response.set_chunked_content_provider("application/json", send);
  });
  const auto ranks = place(100'000)->ranks();
  ASSERT_FALSE(ranks);
  EXPECT_NE(ranks.error().message().find("more than 100000 bytes"), std::string::npos)
      << ranks.error().message();
  EXPECT_LT(*sent, 100'000'000U) << "it hangs up";
}

TEST_F(ControlClientTest, RefusalsAndStrangeAnswersAreErrors) {
  server_.Get("/ranks", [](const httplib::Request&, httplib::Response& response) {
    response.status = 401;
    response.set_content(R"({"error": "the token is wrong"})", "application/json");
  });
  server_.Get("/config", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("<html>", "text/html");
  });
  const auto socket = place();
  const auto ranks = socket->ranks();
  ASSERT_FALSE(ranks);
  EXPECT_NE(ranks.error().message().find("the token is wrong"), std::string::npos);
  EXPECT_FALSE(socket->edit());
}

}  // namespace
}  // namespace stepscope
