// stepscope serve | open | start | stop: the web pages.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/user_folder.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/port_holder.h"
#include "cli/terminal.h"
#include "json/json_members.h"
#include "json/json_tree.h"
#include "server/server.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

// MindInsight's: the port already serves this folder.
constexpr int kExitServedAlready = 2;

struct Options {
  ServerOptions server;
  std::string workspace;  // "": the default one
  uint64_t max_upload_mb = 8192;
  bool no_token = false;
  bool no_browser = false;
};

constexpr const char* kDefaultWorkspace = "~/stepscope";

// The folder itself is made when something is written; "" when the user has no place for it.
std::string default_workspace() {
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != '\0' && access(home, W_OK) == 0)
    return std::string(home) + "/stepscope";
  return writable_user_folder("");
}

Status choose_workspace(Options& options) {
  if (options.workspace.empty()) options.workspace = default_workspace();
  if (!options.workspace.empty()) return {};
  return Error{ErrorCode::kPermission, "no folder for the server's files", temporary_user_folder(),
               "neither HOME nor this one can be written by this user alone",
               "name a folder with --workspace"};
}

std::string workspace_file(const Options& options, const char* suffix) {
  return options.workspace + "/server." + std::to_string(options.server.port) + suffix;
}
// Where a server that runs in the background leaves word of itself; only its user may read it.
std::string note_path(const Options& options) { return workspace_file(options, ".json"); }
std::string log_path(const Options& options) { return workspace_file(options, ".log"); }

struct BackgroundServer {
  pid_t pid = 0;
  std::string base;
  std::string link;
};

// The server that was started on this port from this workspace, while it runs.
std::optional<BackgroundServer> background_server(const Options& options) {
  const auto about = read_json_file(note_path(options));
  if (!about) return std::nullopt;
  BackgroundServer server;
  server.pid = static_cast<pid_t>(integer_in(*about, "pid", 0));
  server.base = text_in(*about, "base");
  server.link = text_in(*about, "link");
  // The number may belong to another program by now.
  std::error_code problem;
  const fs::path theirs = fs::read_symlink(fmt::format("/proc/{}/exe", server.pid), problem);
  if (server.pid <= 1 || problem || theirs.filename() != "stepscope") return std::nullopt;
  return server;
}

Error explain_port(Error error, const Options& options) {
  if (error.what != "cannot take the port") return error;
  const auto holder = port_holder(options.server.port);
  if (holder) error.why = "it is held by " + holder->text();
  if (const auto server = background_server(options);
      server && holder && holder->process == server->pid)
    error.why += fmt::format(", which serves {} at {}", server->base, server->link);
  if (const int next = next_free_port(options.server.port); next != 0)
    error.remedy = fmt::format("--port {} is free", next);
  return error;
}

Status prepare_workspace(const std::string& folder) {
  if (auto status = make_folder(folder); !status) return status;
  if (access(folder.c_str(), R_OK | W_OK | X_OK) == 0) return {};
  Error error = system_error("cannot use the workspace", folder, errno);
  error.remedy = "name a folder that may be written: --workspace FOLDER";
  return error;
}

Result<std::unique_ptr<Server>> make_server(Options& options) {
  options.server.want_token = !options.no_token;
  options.server.workspace = options.workspace;
  options.server.largest_upload = std::min<uint64_t>(options.max_upload_mb, 1 << 30) << 20;
  std::error_code problem;
  if (!fs::exists(options.server.base, problem))
    return Error{ErrorCode::kNotFound, "cannot serve", options.server.base, "there is no such path",
                 "name a folder with recordings, or a trace"};
  auto server = Server::create(options.server);
  if (!server) return explain_port(std::move(server.error()), options);
  return server;
}

// Serves until Ctrl-C.
Status serve_until_cancelled(Server& server, Progress& progress) {
  std::jthread watch([&](const std::stop_token& over) {
    while (!over.stop_requested() && !progress.cancelled())
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (progress.cancelled()) server.stop();
  });
  const Status status = server.run();
  return progress.cancelled() ? Status() : status;
}

void open_browser(const std::string& link) {
  const bool has_screen =
      std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr;
  if (!has_screen) return;
  const pid_t child = fork();
  if (child != 0) return;
  const int nowhere = open("/dev/null", O_RDWR);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  execlp("xdg-open", "xdg-open", link.c_str(), nullptr);
  _exit(127);
}

Status serve(Options& options, Progress& progress, bool browser) {
  // Who did not name one may have no home that can be written; tags then cannot be kept.
  if (options.workspace.empty()) {
    options.workspace = default_workspace();
  } else if (auto status = prepare_workspace(options.workspace); !status) {
    return status;
  }
  auto server = make_server(options);
  if (!server) return std::move(server.error());
  if (auto status = write_out(fmt::format("Web address: {}\n", (*server)->link())); !status)
    return status;
  if (browser && !options.no_browser) open_browser((*server)->link());
  return serve_until_cancelled(**server, progress);
}

// The child of `start`: serves in the background; tells the parent how it went through the pipe.
int serve_detached(Options& options, Progress& progress, int report) {
  const auto tell = [&](const std::string& text) {
    (void)!write(report, text.data(), text.size());
    close(report);
  };
  auto server = make_server(options);
  const std::string log = log_path(options);
  if (!server) {
    // Another server may be writing there.
    const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    const std::string line = server.error().message() + "\n";
    (void)!write(file, line.data(), line.size());
    tell("failed " + server.error().message());
    return kExitFailure;
  }
  setsid();
  const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int nowhere = open("/dev/null", O_RDONLY);
  dup2(nowhere, STDIN_FILENO);
  dup2(file, STDOUT_FILENO);
  dup2(file, STDERR_FILENO);
  const std::string note = note_path(options);
  {
    const nlohmann::json about = {
        {"pid", getpid()}, {"base", options.server.base}, {"link", (*server)->link()}};
    // It has the token: nobody else may read it, at no moment.
    const int made = open(note.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    fchmod(made, 0600);
    const std::string line = write_json(about) + "\n";
    (void)!write(made, line.data(), line.size());
    close(made);
  }
  tell("ok " + (*server)->link());
  const Status status = serve_until_cancelled(**server, progress);
  unlink(note.c_str());
  if (!status) fmt::print(stderr, "{}\n", status.error().message());
  return status ? kExitOk : kExitFailure;
}

Status start(Options& options, Program& program) {
  std::error_code problem;
  if (auto status = choose_workspace(options); !status) return status;
  options.workspace = fs::absolute(options.workspace, problem).string();
  options.server.base = fs::absolute(options.server.base, problem).string();
  if (auto status = prepare_workspace(options.workspace); !status) return status;
  chmod(options.workspace.c_str(), 0700);
  const auto holder = port_holder(options.server.port);
  if (const auto server = background_server(options);
      server && fs::equivalent(server->base, options.server.base, problem) && holder &&
      holder->process == server->pid) {
    program.exit_code = kExitServedAlready;
    return write_out(fmt::format("port {} already serves {}: process {}\nWeb address: {}\n",
                                 options.server.port, options.server.base, server->pid,
                                 server->link));
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return system_error("cannot start", "pipe", errno);
  const pid_t child = fork();
  if (child < 0) return system_error("cannot start", "fork", errno);
  if (child == 0) {
    close(ends[0]);
    _exit(serve_detached(options, program.progress, ends[1]));
  }
  close(ends[1]);
  std::string report;
  char buffer[512];
  for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    report.append(buffer, static_cast<size_t>(got));
  close(ends[0]);
  if (!report.starts_with("ok ")) {
    waitpid(child, nullptr, 0);
    const std::string why = report.starts_with("failed ") ? report.substr(7) : "it ended at once";
    return Error{ErrorCode::kIo, "service start state: failed", "", why,
                 "more failed details in log: " + log_path(options)};
  }
  return write_out(fmt::format(
      "Workspace: {}\nSummary base dir: {}\nWeb address: {}\nservice start state: success\n",
      options.workspace, options.server.base, report.substr(3)));
}

Status stop(Options& options) {
  if (auto status = choose_workspace(options); !status) return status;
  const auto server = background_server(options);
  if (!server)
    return Error{ErrorCode::kNotFound, "nothing to stop",
                 "port " + std::to_string(options.server.port),
                 "no server was started there from " + options.workspace,
                 "name the port and the workspace that `stepscope start` had"};
  kill(server->pid, SIGTERM);
  for (int i = 0; i < 60 && kill(server->pid, 0) == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  if (kill(server->pid, 0) == 0) kill(server->pid, SIGKILL);
  unlink(note_path(options).c_str());
  return write_out("Stopped the server on port " + std::to_string(options.server.port) + ".\n");
}

void add_server_options(CLI::App& command, Options& options) {
  ServerOptions& server = options.server;
  command.add_option("--port", server.port, "TCP port (0: any that is free)")
      ->check(between(0, 65535))
      ->capture_default_str();
  command
      .add_option("--host", server.host,
                  "address to listen on; others than 127.0.0.1 need the token")
      ->capture_default_str();
  command.add_option("--url-path-prefix", server.path_prefix,
                     "serve below this path, behind a proxy");
  command.add_option("--allow-host", server.allowed_hosts,
                     "name under which a proxy or ssh tunnel reaches the server");
  command
      .add_option("--allow-frame", server.allowed_frames,
                  "page of another site that may show ours in a frame, as http://localhost:8888")
      ->type_name("ORIGIN")
      ->allow_extra_args(false);
  command.add_option("--workspace", options.workspace, "folder for tags of runs and for logs")
      ->default_str(kDefaultWorkspace);
  command
      .add_option("--max-upload-mb", options.max_upload_mb,
                  "largest file that the page may add to the folder (0: none)")
      ->capture_default_str();
  command.add_option("--control", server.control,
                     "a training that the page may ask for recordings: as for `stepscope capture`");
  command.add_option("--control-ca", server.control_authority,
                     "certificate, PEM, that those of control sockets are checked with");
  command.add_option("--token", server.token, "instead of a random one");
  command.add_flag("--no-token", options.no_token,
                   "let every user of this machine in (loopback only)");
  command.add_option("--cert", server.certificate, "certificate, PEM: serve over TLS");
  command.add_option("--key", server.private_key, "its private key, PEM");
}

}  // namespace

void add_serve_commands(Program& program) {
  auto options = std::make_shared<Options>();
  options->server.base = ".";

  CLI::App* foreground =
      program.app.add_subcommand("serve", "show the runs of a folder in the browser");
  foreground
      ->add_option("FOLDER,--summary-base-dir", options->server.base,
                   "folder with recordings and traces")
      ->capture_default_str();
  add_server_options(*foreground, *options);
  foreground->callback([&program, options] {
    program.work = [&program, options] { return serve(*options, program.progress, false); };
  });

  CLI::App* one =
      program.app.add_subcommand("open", "import a trace if needed and show it in the browser");
  one->add_option("PATH", options->server.base, "trace, folder of traces, or recording")
      ->required();
  add_server_options(*one, *options);
  one->add_flag("--no-browser", options->no_browser, "print the link only");
  one->callback([&program, options] {
    options->server.base_is_run = true;
    program.work = [&program, options] { return serve(*options, program.progress, true); };
  });

  CLI::App* background = program.app.add_subcommand("start", "serve in the background");
  background
      ->add_option("FOLDER,--summary-base-dir", options->server.base,
                   "folder with recordings and traces")
      ->capture_default_str();
  add_server_options(*background, *options);
  background->callback([&program, options] {
    program.work = [&program, options] { return start(*options, program); };
  });

  CLI::App* end =
      program.app.add_subcommand("stop", "end a server that was started in the background");
  end->add_option("--port", options->server.port, "its port")->capture_default_str();
  end->add_option("--workspace", options->workspace, "its folder for logs")
      ->default_str(kDefaultWorkspace);
  end->callback([&program, options] { program.work = [options] { return stop(*options); }; });
}

}  // namespace stepscope
