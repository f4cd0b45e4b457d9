// Who may talk to the server: a token as Jupyter has one, only names of hosts that are meant, and
// headers that keep the page to itself.
//
// The token comes in the link (?token=), which sets a cookie, or in a header. A page of another
// site can send requests to 127.0.0.1 but does not know the token; a site that gives its own name
// the address 127.0.0.1 is found by the Host header. Requests that change something are taken from
// our own pages only (Origin), so that --no-token does not let every site in.
#ifndef STEPSCOPE_SERVER_ACCESS_H_
#define STEPSCOPE_SERVER_ACCESS_H_

#include <string>
#include <string_view>
#include <vector>

#include <httplib.h>

#include "base/result.h"

namespace stepscope {

class Access {
 public:
  // `token` "": none is wanted. `hosts`: names besides those of the loopback. `frames`: origins
  // (is_origin) of other sites whose pages may show ours in a frame.
  Access(std::string token, std::vector<std::string> hosts, std::string path_prefix,
         const std::vector<std::string>& frames);

  const std::string& token() const { return token_; }
  void set_port(int port) { port_ = port; }

  // True when the request may go on; otherwise the response is complete: refused, or sent on to the
  // same page without the token in its address.
  bool admit(const httplib::Request& request, httplib::Response& response) const;
  void add_headers(httplib::Response& response) const;

 private:
  bool host_is_meant(const httplib::Request& request) const;
  bool has_token(const httplib::Request& request) const;
  bool comes_from_elsewhere(const httplib::Request& request) const;
  std::string cookie_name() const { return "stepscope_" + std::to_string(port_); }

  std::string token_;
  std::vector<std::string> proxies_;  // names that the user allowed
  std::vector<std::string> hosts_;    // ... and our own
  std::string path_prefix_;
  std::string policy_;  // what pages may load, and who may show them
  int port_ = 0;
};

// "http://localhost:8888": http or https, a host, perhaps a port, and nothing else, so that it can
// stand in a header.
bool is_origin(std::string_view text);

// 128 random bits in hexadecimal.
Result<std::string> make_token();

}  // namespace stepscope

#endif  // STEPSCOPE_SERVER_ACCESS_H_
