#include "server/access.h"

#include "tests/support/server_fixture.h"

namespace stepscope {
namespace {

using AccessTest = testing::ServerFixture;

TEST(Origin, IsSchemeHostAndPort) {
  for (const char* good : {"http://localhost:8888", "https://hub.example.org", "http://127.0.0.1",
                           "http://[::1]:8888", "https://a-b.c:1"})
    EXPECT_TRUE(is_origin(good)) << good;
  for (const char* bad :
       {"", "*", "localhost:8888", "http://", "http://:80", "http://a/", "http://a b", "http://a;b",
        "http://a, http://b", "http://*.a", "ftp://a", "http://a:", "http://a:x", "http://a:123456",
        "http://[::1", "http://[]", "'none'", "http://a\r\nX: y", "http://a:80/path"})
    EXPECT_FALSE(is_origin(bad)) << bad;
}

TEST_F(AccessTest, OnlyOriginsThatWereNamedMayShowThePageInAFrame) {
  ServerOptions options;
  options.allowed_frames = {"http://localhost:8888", "https://hub.example.org"};
  start(options);
  const auto policy = [&] {
    auto reply = client_->Get("/", headers_);
    EXPECT_TRUE(reply);
    return reply ? reply->get_header_value("Content-Security-Policy") : "";
  };
  EXPECT_TRUE(
      policy().ends_with("frame-ancestors 'self' http://localhost:8888 https://hub.example.org"))
      << policy();
  stop();
  start();
  EXPECT_TRUE(policy().ends_with("frame-ancestors 'self'")) << policy();
}

TEST_F(AccessTest, WrongFramesAndPrefixesAreRefusedAtOnce) {
  ServerOptions options;
  options.base = folder_.path("runs");
  options.port = 0;
  options.allowed_frames = {"http://a; script-src *"};
  EXPECT_FALSE(Server::create(options).ok());
  options.allowed_frames.clear();
  for (const char* prefix : {"/../x", "/x/..", "/./x", "/x/.", "x", "/", "/x/", "//x", "/a//b",
                             "/a b", "/a?b", "/..", "/a%2e"}) {
    options.path_prefix = prefix;
    const auto server = Server::create(options);
    ASSERT_FALSE(server.ok()) << prefix;
    EXPECT_NE(server.error().remedy, "") << prefix;
  }
  for (const char* prefix : {"", "/x", "/.x", "/..x", "/proxy/absolute/8080", "/a_b/c-d.e"}) {
    options.path_prefix = prefix;
    EXPECT_TRUE(Server::create(options).ok()) << prefix;
  }
}

}  // namespace
}  // namespace stepscope
