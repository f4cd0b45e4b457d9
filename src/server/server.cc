#include "server/server.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include <malloc.h>

#include "control/control_client.h"
#include "server/access.h"
#include "server/compression.h"
#include "server/connection_threads.h"
#include "server/http_reply.h"
#include "server/routes.h"
#include "server/run_catalog.h"
#include "server/run_tags.h"
#include "server/thrown_error.h"
#include "server/training_control.h"

namespace stepscope {

struct Server::State {
  State(ServerOptions given, std::string token)
      : options(std::move(given)),
        access(std::move(token), hosts(options), options.path_prefix, options.allowed_frames),
        catalog({options.base, options.base_is_run, 0, options.look_every_seconds}),
        tags(options.workspace),
        control(options.control, options.control_authority) {}

  static std::vector<std::string> hosts(const ServerOptions& options) {
    std::vector<std::string> names = options.allowed_hosts;
    names.push_back(options.host);
    return names;
  }

  ServerOptions options;
  Access access;
  RunCatalog catalog;
  RunTags tags;
  TrainingControl control;
  std::unique_ptr<httplib::Server> http;
  int port = 0;
  std::atomic<bool> running = false;
  std::atomic<bool> stopped = false;
};

namespace {

// "" or "/a/b"; browsers take . and .. for folders, and would ask for another path.
bool is_plain_prefix(std::string_view prefix) {
  while (!prefix.empty()) {
    if (!prefix.starts_with('/')) return false;
    prefix.remove_prefix(1);
    const std::string_view part = prefix.substr(0, prefix.find('/'));
    if (part.empty() || part == "." || part == ".." ||
        part.find_first_not_of(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") !=
            std::string_view::npos)
      return false;
    prefix.remove_prefix(part.size());
  }
  return true;
}

Status check_options(const ServerOptions& options) {
  if (!options.want_token && !is_loopback_address(options.host))
    return Error{ErrorCode::kPermission, "will not serve without a token", options.host,
                 "others could reach it", "leave --no-token away, or serve on 127.0.0.1"};
  if (options.certificate.empty() != options.private_key.empty())
    return Error{ErrorCode::kBadInput, "cannot serve over TLS", "",
                 "a certificate and its key belong together", "give both --cert and --key"};
  if (!is_plain_prefix(options.path_prefix))
    return Error{ErrorCode::kBadInput, "cannot serve below this path", options.path_prefix,
                 "it must look like /stepscope or /tools/stepscope",
                 "letters, digits, _, - and . between slashes, no . or .. alone"};
  for (const std::string& origin : options.allowed_frames) {
    if (!is_origin(origin))
      return Error{ErrorCode::kBadInput, "cannot allow frames of this origin", origin,
                   "it must be scheme, host and port", "such as http://localhost:8888"};
  }
  return {};
}

void refuse_unknown(const httplib::Request& request, httplib::Response& response) {
  if (response.has_header("Content-Type") || response.status < 400) return;  // has an answer
  const int status = response.status;
  reply_error(response,
              {status == 413 ? ErrorCode::kLimit : ErrorCode::kNotFound,
               status == 413 ? "the request is too large" : "no such route",
               request.method + " " + request.path.substr(0, 200), "", "see docs/api.md"});
  response.status = status;
}

bool has_body(const httplib::Request& request) {
  return request.has_header("Transfer-Encoding") ||
         request.get_header_value<uint64_t>("Content-Length") > 0;
}

// Only uploads may be large, and only they may come without a length: the others are held in
// memory. The library does not read the body of a GET, and unpacks compressed ones without a limit.
Status check_body(const ServerOptions& options, const httplib::Request& request) {
  if (!has_body(request)) return {};
  const auto bad = [&](ErrorCode code, std::string what, std::string why) {
    return Error{code, std::move(what), request.path.substr(0, 200), std::move(why),
                 "see docs/api.md"};
  };
  if (request.method != "POST" && request.method != "PUT")
    return bad(ErrorCode::kBadInput, "bad request", request.method + " has no body here");
  if (request.has_header("Content-Encoding"))
    return bad(ErrorCode::kUnsupported, "bad request", "its body is encoded");
  if (request.method == "POST" && request.path == options.path_prefix + "/api/v1/runs") return {};
  if (request.has_header("Transfer-Encoding"))
    return bad(ErrorCode::kLimit, "the request is too large", "its length is not given");
  if (request.get_header_value<uint64_t>("Content-Length") > options.largest_body)
    return bad(ErrorCode::kLimit, "the request is too large",
               "more than " + std::to_string(options.largest_body) + " bytes");
  return {};
}

// Whether the routes may have the request; otherwise the response is complete.
bool admit(const ServerOptions& options, const Access& access, const httplib::Request& request,
           httplib::Response& response) {
  bool admitted = access.admit(request, response);
  if (admitted) {
    if (auto status = check_body(options, request); !status) {
      reply_error(response, status.error());
      admitted = false;
    }
  }
  if (!admitted && has_body(request)) close_after(response);
  return admitted;
}

}  // namespace

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::~Server() { stop(); }

Result<std::unique_ptr<Server>> Server::create(const ServerOptions& options) {
  if (auto status = check_options(options); !status) return std::move(status.error());
  std::string token = options.token;
  if (options.want_token && token.empty()) {
    auto made = make_token();
    if (!made) return std::move(made.error());
    token = *made;
  }
  auto state = std::make_unique<State>(options, options.want_token ? token : "");

  if (options.certificate.empty()) {
    state->http = std::make_unique<httplib::Server>();
  } else {
    state->http = std::make_unique<httplib::SSLServer>(options.certificate.c_str(),
                                                       options.private_key.c_str());
    if (!state->http->is_valid())
      return Error{ErrorCode::kBadInput, "cannot serve over TLS", options.certificate,
                   "certificate or key cannot be used",
                   "both must be PEM files and belong together"};
  }
  httplib::Server& http = *state->http;
  http.new_task_queue = [threads = options.threads] { return new ConnectionThreads(threads); };
  http.set_payload_max_length(std::max(options.largest_body, options.largest_upload));
  http.set_read_timeout(15);
  http.set_write_timeout(60);
  http.set_keep_alive_timeout(3);  // a connection that is not used delays the end by that
  http.set_keep_alive_max_count(10'000);
  http.set_tcp_nodelay(true);
  // The library's own choice, SO_REUSEPORT, lets two servers of one user share a port unseen.
  http.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  http.set_pre_routing_handler(
      [state = state.get()](const httplib::Request& request, httplib::Response& response) {
        state->access.add_headers(response);
        take_over_compression(request);
        return admit(state->options, state->access, request, response)
                   ? httplib::Server::HandlerResponse::Unhandled
                   : httplib::Server::HandlerResponse::Handled;
      });
  http.set_post_routing_handler(compress_reply);
  http.set_error_handler([](const httplib::Request& request, httplib::Response& response) {
    refuse_unknown(request, response);
  });
  http.set_exception_handler(
      [](const httplib::Request& request, httplib::Response& response, std::exception_ptr thrown) {
        reply_error(response, error_of(thrown, request.path));
      });
  const std::string api = options.path_prefix + "/api/v1";
  add_run_routes(http, api, state->catalog, state->tags, options.largest_upload > 0);
  add_control_routes(http, api, state->control, state->catalog);
  add_upload_routes(http, api, state->catalog, {options.base, options.largest_upload});
  add_analysis_routes(http, api, state->catalog);
  add_timeline_routes(http, api, state->catalog);
  add_archive_routes(http, api, state->catalog);
  add_curve_routes(http, api, state->catalog);
  add_search_routes(http, api, state->catalog);
  add_slice_routes(http, api, state->catalog);
  add_query_routes(http, api, state->catalog, options.query_seconds);
  http.Get(api + "/.*",
           [](const httplib::Request&, httplib::Response& response) { response.status = 404; });
  add_page_routes(http, options.path_prefix);

  if (options.port == 0) {
    state->port = http.bind_to_any_port(options.host);
    if (state->port <= 0) state->port = 0;
  } else if (http.bind_to_port(options.host, options.port)) {
    state->port = options.port;
  }
  if (state->port == 0)
    return Error{ErrorCode::kIo, "cannot take the port",
                 options.host + ":" + std::to_string(options.port), "it is in use or not allowed",
                 "choose another with --port"};
  state->access.set_port(state->port);
  if (auto status = state->catalog.start(); !status) return std::move(status.error());
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

std::string Server::link() const {
  const ServerOptions& options = state_->options;
  std::string text = options.certificate.empty() ? "http://" : "https://";
  text += options.host.find(':') == std::string::npos || options.host.starts_with('[')
              ? options.host
              : "[" + options.host + "]";
  text += ":" + std::to_string(state_->port) + options.path_prefix + "/";
  if (!state_->access.token().empty()) text += "?token=" + state_->access.token();
  return text;
}

int Server::port() const { return state_->port; }
size_t Server::run_count() const { return state_->catalog.entries().size(); }

Status Server::run() {
  // Answers of some megabytes come and go with every move of a timeline: memory that is given back
  // to the system in between costs as much time as all the rest. 8 MiB stay in each of four heaps.
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_TRIM_THRESHOLD, 8 << 20);
  mallopt(M_ARENA_MAX, 4);
  state_->running = true;
  const bool ended_well = state_->stopped || state_->http->listen_after_bind();
  state_->running = false;
  if (ended_well || state_->stopped) return {};
  return Error{ErrorCode::kIo, "the server stopped", link(), "", ""};
}

void Server::stop() {
  state_->stopped = true;
  // A server that is just about to listen would not hear of it.
  while (state_->running && !state_->http->is_running())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  state_->control.stop();
  state_->http->stop();
  state_->catalog.stop();
}

}  // namespace stepscope
