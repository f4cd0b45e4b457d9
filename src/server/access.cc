#include "server/access.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "server/http_reply.h"

namespace stepscope {
namespace {

// Takes the same time wherever the first difference is.
bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return difference == 0;
}

std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);  // [::1]:8080
  return host.substr(0, host.find(':'));
}

std::string cookie_value(std::string_view cookies, const std::string& name) {
  const std::string key = name + "=";
  size_t from = 0;
  while (from < cookies.size()) {
    while (from < cookies.size() && cookies[from] == ' ') ++from;
    size_t to = cookies.find(';', from);
    if (to == std::string_view::npos) to = cookies.size();
    const std::string_view one = cookies.substr(from, to - from);
    if (one.starts_with(key)) return std::string(one.substr(key.size()));
    from = to + 1;
  }
  return {};
}

}  // namespace

Result<std::string> make_token() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes))
    return system_error("cannot make a token", "getrandom", errno);
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string token;
  for (const unsigned char byte : bytes) {
    token += kDigits[byte >> 4];
    token += kDigits[byte & 15];
  }
  return token;
}

bool is_origin(std::string_view text) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!text.starts_with(scheme)) continue;
    text.remove_prefix(scheme.size());
    const std::string_view host = without_port(text);
    const bool is_address = host.starts_with('[');  // [::1]
    const std::string_view allowed =
        is_address ? "0123456789abcdefABCDEF:[]"
                   : "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.";
    if (host.empty() || host.find_first_not_of(allowed) != std::string_view::npos ||
        (is_address && (host.size() < 4 || !host.ends_with(']'))))
      return false;
    std::string_view port = text.substr(host.size());
    if (port.empty()) return true;
    if (!port.starts_with(':')) return false;
    port.remove_prefix(1);
    return !port.empty() && port.size() <= 5 &&
           port.find_first_not_of("0123456789") == std::string_view::npos;
  }
  return false;
}

Access::Access(std::string token, std::vector<std::string> hosts, std::string path_prefix,
               const std::vector<std::string>& frames)
    : token_(std::move(token)),
      proxies_(hosts),
      hosts_(std::move(hosts)),
      path_prefix_(std::move(path_prefix)),
      policy_(
          "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
          "connect-src 'self'; object-src 'none'; base-uri 'self'; frame-ancestors 'self'") {
  for (const std::string& origin : frames) policy_ += " " + origin;
  for (const char* name : {"localhost", "127.0.0.1", "[::1]"}) hosts_.emplace_back(name);
}

bool Access::host_is_meant(const httplib::Request& request) const {
  const std::string host = request.get_header_value("Host");
  return std::find(hosts_.begin(), hosts_.end(), without_port(host)) != hosts_.end();
}

// Browsers name the page's site in every request that may change something; programs do not.
bool Access::comes_from_elsewhere(const httplib::Request& request) const {
  if (request.method == "GET" || request.method == "HEAD") return false;
  const std::string origin = request.get_header_value("Origin");
  if (origin.empty()) {
    const std::string site = request.get_header_value("Sec-Fetch-Site");
    return !site.empty() && site != "same-origin" && site != "none";
  }
  const size_t name = origin.find("://");
  if (name == std::string::npos) return true;  // "null": a page without a site
  const std::string_view host = std::string_view(origin).substr(name + 3);
  if (host == request.get_header_value("Host")) return false;
  // A proxy may have a name of its own. That of the loopback is everybody's.
  const std::string_view plain = without_port(host);
  const bool own = plain == "localhost" || plain == "[::1]" || plain.starts_with("127.");
  return own || std::find(proxies_.begin(), proxies_.end(), plain) == proxies_.end();
}

bool Access::has_token(const httplib::Request& request) const {
  if (token_.empty()) return true;
  if (same_secret(request.get_header_value("X-Stepscope-Token"), token_)) return true;
  return same_secret(cookie_value(request.get_header_value("Cookie"), cookie_name()), token_);
}

void Access::add_headers(httplib::Response& response) const {
  response.set_header("Content-Security-Policy", policy_);
  response.set_header("X-Content-Type-Options", "nosniff");
  response.set_header("Referrer-Policy", "no-referrer");
  response.set_header("Cross-Origin-Resource-Policy", "same-origin");
}

bool Access::admit(const httplib::Request& request, httplib::Response& response) const {
  if (!host_is_meant(request)) {
    reply_error(response, {ErrorCode::kPermission, "refused", request.get_header_value("Host"),
                           "this server does not go by that name",
                           "start it with --allow-host NAME if it should"});
    return false;
  }
  if (comes_from_elsewhere(request)) {
    reply_error(response, {ErrorCode::kPermission, "refused", request.get_header_value("Origin"),
                           "the request comes from another site's page",
                           "send it from the server's own page, or without Origin; a proxy's name "
                           "is allowed with --allow-host"});
    return false;
  }
  if (has_token(request)) return true;
  if (request.method == "GET" && same_secret(request.get_param_value("token"), token_)) {
    // The token leaves the address bar, and with it the browser's history and logs.
    response.set_header("Set-Cookie", cookie_name() + "=" + token_ +
                                          "; Path=" + (path_prefix_.empty() ? "/" : path_prefix_) +
                                          "; HttpOnly; SameSite=Lax");
    std::string target = request.path;
    char joint = '?';
    for (const auto& [name, value] : request.params) {
      if (name == "token") continue;
      target += joint + httplib::detail::encode_query_param(name) + "=" +
                httplib::detail::encode_query_param(value);
      joint = '&';
    }
    response.set_redirect(target);
    return false;
  }
  response.status = 401;
  reply_error(response, {ErrorCode::kPermission, "a token is needed", "", "",
                         "open the link that stepscope printed; it ends with ?token=..."});
  response.status = 401;
  return false;
}

}  // namespace stepscope
