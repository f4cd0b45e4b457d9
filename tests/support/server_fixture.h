// Test support: a server on a folder with a small trace, a broken one and a link out of it, and a
// client with its token.
#ifndef STEPSCOPE_TESTS_SUPPORT_SERVER_FIXTURE_H_
#define STEPSCOPE_TESTS_SUPPORT_SERVER_FIXTURE_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <httplib.h>
#include <nlohmann/json.hpp>

#include "json/json_tree.h"
#include "server/server.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/trace_text.h"

namespace stepscope::testing {

inline std::string small_trace() {
  return trace_of(
      {R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 0, "dur": 100})",
       R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 20, "args": {"a": [1, 2]}})",
       R"({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 30, "dur": 40, "args": {"device": 0, "stream": 7}})"});
}

// A connection that says what it is told to, for requests that no client would send.
class PlainConnection {
 public:
  explicit PlainConnection(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{10, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  PlainConnection(const PlainConnection&) = delete;
  PlainConnection& operator=(const PlainConnection&) = delete;
  ~PlainConnection() { ::close(socket_); }

  // The other side may have gone.
  void send(const std::string& text) {
    (void)::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
  }
  // What comes until the other side closes.
  std::string read_to_end() {
    std::string all;
    char piece[4096];
    ssize_t got = 0;
    while ((got = ::recv(socket_, piece, sizeof piece, 0)) > 0)
      all.append(piece, static_cast<size_t>(got));
    EXPECT_TRUE(got == 0 || errno == ECONNRESET) << "the connection stays open";
    return all;
  }

 private:
  int socket_;
};

class ServerFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_.path("runs"));
    folder_.write("runs/one.json", small_trace());
    folder_.write("runs/broken.json", "{\"traceEvents\": [{\"ph\": \"X\", ");
    folder_.write("outside.json", small_trace());
    std::filesystem::create_symlink(folder_.path("outside.json"), folder_.path("runs/link.json"));
  }
  void TearDown() override { stop(); }

  void start(ServerOptions options = {}) {
    options.base = folder_.path("runs");
    options.port = 0;
    options.look_every_seconds = 0.05;
    auto server = Server::create(options);
    ASSERT_TRUE(server.ok()) << server.error().message();
    server_ = std::move(*server);
    thread_ = std::thread([this] { (void)server_->run(); });
    client_ = std::make_unique<httplib::Client>("127.0.0.1", server_->port());
    const std::string link = server_->link();
    token_ = link.find("token=") == std::string::npos ? "" : link.substr(link.find("token=") + 6);
    headers_ = {{"X-Stepscope-Token", token_}};
  }
  void stop() {
    if (server_) server_->stop();
    if (thread_.joinable()) thread_.join();
    server_.reset();
  }

  nlohmann::json get(const std::string& path, int status = 200) {
    auto reply = client_->Get("/api/v1/" + path, headers_);
    EXPECT_TRUE(reply) << path;
    if (!reply) return {};
    EXPECT_EQ(reply->status, status) << path << " " << reply->body;
    return json_tree(reply->body);
  }

  // The run of this name, once it has reached a state that will not change.
  nlohmann::json settled(const std::string& name) {
    for (int i = 0; i < 3000; ++i) {
      const nlohmann::json reply = get("runs");
      for (const nlohmann::json& run : reply["runs"]) {
        if (run["name"] == name && (run["state"] == "ready" || run["state"] == "failed"))
          return run;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ADD_FAILURE() << name << " does not settle: " << write_json(get("runs"));
    return {};
  }
  std::string ready(const std::string& name) {
    const nlohmann::json run = settled(name);
    EXPECT_EQ(run["state"], "ready") << write_json(run);
    return "runs/" + run.value("id", "");
  }

  TemporaryFolder folder_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
  std::unique_ptr<httplib::Client> client_;
  std::string token_;
  httplib::Headers headers_;
};

}  // namespace stepscope::testing

#endif  // STEPSCOPE_TESTS_SUPPORT_SERVER_FIXTURE_H_
