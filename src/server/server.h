// The web server: pages, the JSON API under api/v1 (docs/api.md), the binary timeline route.
//
// One process, a few threads. Answers only to whom it should (access.h), reads only below its
// folder, sends nothing anywhere.
#ifndef STEPSCOPE_SERVER_SERVER_H_
#define STEPSCOPE_SERVER_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace stepscope {

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 8080;
  std::string base;          // folder with runs, or one run
  bool base_is_run = false;  // a folder is one run, unless it holds several jobs
  std::string workspace;     // folder for what users add (tags); "": nothing is kept
  std::string path_prefix;   // "/stepscope" behind a proxy
  bool want_token = true;
  std::string token;  // "": a random one
  std::vector<std::string> allowed_hosts;
  std::vector<std::string> allowed_frames;  // origins of pages that may show ours in a frame
  std::string control;                      // a training that may be asked for recordings; "": none
  std::string control_authority;            // see find_watched_places
  std::string certificate;                  // both or neither: TLS
  std::string private_key;
  unsigned threads = 512;           // connections at a time
  double look_every_seconds = 3;    // for new and changed runs
  double query_seconds = 30;        // longest SQL statement
  uint64_t largest_body = 1 << 20;  // bytes
  uint64_t largest_upload = 8ull << 30;
};

class Server {
 public:
  // Finds the runs and takes the port; nothing is answered before run().
  static Result<std::unique_ptr<Server>> create(const ServerOptions& options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // http://127.0.0.1:8080/?token=...
  std::string link() const;
  int port() const;
  size_t run_count() const;

  // Answers until stop(), from any thread or a signal's.
  Status run();
  void stop();

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_SERVER_SERVER_H_
