#include "control/control_client.h"

#include <arpa/inet.h>

#include <chrono>
#include <cstdlib>

#include <httplib.h>
#include <nlohmann/json.hpp>

#include "json/json_tree.h"

namespace stepscope {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr int kConnectSeconds = 5;
constexpr int kPatienceSeconds = 15;

struct Address {
  std::string host;
  int port = 0;
};

std::optional<Address> parse_address(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || text.find('/') != std::string_view::npos)
    return std::nullopt;
  const std::string port(text.substr(colon + 1));
  if (port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  Address address{std::string(text.substr(0, colon)), std::atoi(port.c_str())};
  if (address.host.starts_with('[') && address.host.ends_with(']'))
    address.host = address.host.substr(1, address.host.size() - 2);
  return address.port > 0 && address.port < 65536 ? std::optional(address) : std::nullopt;
}

class ControlSocket : public WatchedPlace {
 public:
  ControlSocket(Address address, std::string authority, uint64_t largest_reply)
      : address_(std::move(address)),
        authority_(std::move(authority)),
        largest_reply_(largest_reply) {
    const char* const token = std::getenv("STEPSCOPE_CONTROL_TOKEN");
    if (token != nullptr) token_ = token;
  }

  Result<std::vector<WatchingRank>> ranks() const override {
    auto reply = call("GET", "/ranks", "", "");
    if (!reply) return std::move(reply.error());
    std::vector<WatchingRank> found;
    const auto ranks = reply->find("ranks");
    if (ranks == reply->end() || !ranks->is_array()) return found;
    for (const Json& told : *ranks) {
      auto rank = parse_rank(write_json(told));
      if (!rank) continue;
      rank->alive = told.value("alive", Json()) == Json(true);
      found.push_back(std::move(*rank));
    }
    sort_ranks(found);
    return found;
  }

  Result<std::unique_ptr<ConfigEdit>> edit() const override;
  std::string name() const override { return address_.host + ":" + std::to_string(address_.port); }

  Result<Json> call(const std::string& method, const std::string& path, const std::string& body,
                    const std::string& version) const {
    // TLS with this machine alone only where the training's socket has it.
    if (is_loopback_address(address_.host) && authority_.empty()) {
      httplib::Client client(address_.host, address_.port);
      return exchange(client, method, path, body, version);
    }
    httplib::SSLClient client(address_.host, address_.port);
    client.enable_server_certificate_verification(true);
    if (!authority_.empty()) client.set_ca_cert_path(authority_);
    return exchange(client, method, path, body, version);
  }

 private:
  template <typename Client>
  Result<Json> exchange(Client& client, const std::string& method, const std::string& path,
                        const std::string& body, const std::string& version) const {
    client.set_connection_timeout(kConnectSeconds);
    client.set_read_timeout(kPatienceSeconds);
    httplib::Request request;
    request.method = method;
    request.path = path;
    request.headers = {{"If-Match", version}};
    if (!token_.empty()) request.headers.emplace("Authorization", "Bearer " + token_);
    if (method == "PUT") request.headers.emplace("Content-Type", "application/json");
    request.body = body;
    std::string answer;
    std::string stopped;
    const auto until = Clock::now() + std::chrono::seconds(kPatienceSeconds);
    request.content_receiver = [&](const char* data, size_t bytes, uint64_t, uint64_t) {
      if (answer.size() + bytes > largest_reply_)
        stopped = "its answer has more than " + std::to_string(largest_reply_) + " bytes";
      else if (Clock::now() > until)
        stopped = "its answer takes too long";
      else
        answer.append(data, bytes);
      return stopped.empty();
    };
    const auto reply = client.send(request);
    if (!reply) {
      return Error{ErrorCode::kIo, "cannot reach the training", name(),
                   stopped.empty() ? httplib::to_string(reply.error()) : stopped,
                   "the training has STEPSCOPE_CONTROL; --ca names its certificate"};
    }
    Json json = ordered_json_tree(answer);
    if (reply->status == 200 && json.is_object()) return json;
    std::string why = "it answers with " + std::to_string(reply->status);
    if (json.is_object() && json.contains("error") && json["error"].is_string())
      why = json["error"].get<std::string>();
    return Error{ErrorCode::kPermission, "the training's control socket refuses", name(), why,
                 reply->status == 412 ? "try again" : ""};
  }

  Address address_;
  std::string authority_;
  uint64_t largest_reply_;
  std::string token_;
};

class SocketEdit : public ConfigEdit {
 public:
  SocketEdit(const ControlSocket& socket, std::string text, std::string version)
      : ConfigEdit(std::move(text)), socket_(socket), version_(std::move(version)) {}

 private:
  Status store(const std::string& text) override {
    auto done = socket_.call("PUT", "/config", text, version_);
    if (!done) return std::move(done.error());
    return {};
  }
  const ControlSocket& socket_;
  std::string version_;
};

Result<std::unique_ptr<ConfigEdit>> ControlSocket::edit() const {
  auto reply = call("GET", "/config", "", "");
  if (!reply) return std::move(reply.error());
  const auto text = reply->value("text", Json());
  const auto version = reply->value("version", Json());
  if (!text.is_string() || !version.is_string())
    return Error{ErrorCode::kBadInput, "cannot read the configuration", name(),
                 "the answer is of another program", ""};
  return std::unique_ptr<ConfigEdit>(
      std::make_unique<SocketEdit>(*this, text.get<std::string>(), version.get<std::string>()));
}

}  // namespace

// A name that only begins like an address, 127.evil.example, leads anywhere.
bool is_loopback_address(const std::string& host) {
  in_addr numbers{};
  if (::inet_pton(AF_INET, host.c_str(), &numbers) == 1) return ntohl(numbers.s_addr) >> 24 == 127;
  return host == "localhost" || host == "::1";
}

bool names_control_socket(std::string_view address) { return parse_address(address).has_value(); }

Result<std::unique_ptr<WatchedPlace>> control_socket(const std::string& address,
                                                     const std::string& authority,
                                                     uint64_t largest_reply) {
  auto parsed = parse_address(address);
  if (!parsed)
    return Error{ErrorCode::kBadInput, "wrong address", address, "it is not HOST:PORT", ""};
  return std::unique_ptr<WatchedPlace>(
      std::make_unique<ControlSocket>(std::move(*parsed), authority, largest_reply));
}

}  // namespace stepscope
