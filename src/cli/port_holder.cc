#include "cli/port_holder.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/decimal.h"
#include "base/folder.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

// Inode of the listening socket, "" when there is none. Lines of /proc/net/tcp: number, local
// address:port, remote, state (0A: listening), five more, inode.
std::string listening_inode(const char* table, int port) {
  std::ifstream file(table);
  std::string line;
  char wanted[8];
  std::snprintf(wanted, sizeof wanted, ":%04X", port);
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string number, local, remote, state, word, inode;
    words >> number >> local >> remote >> state;
    for (int i = 0; i < 5; ++i) words >> word;
    words >> inode;
    if (state == "0A" && local.ends_with(wanted)) return inode;
  }
  return {};
}

// "" when nobody listens, on neither kind of address.
std::string listening_inode(int port) {
  const std::string inode = listening_inode("/proc/net/tcp", port);
  return inode.empty() ? listening_inode("/proc/net/tcp6", port) : inode;
}

}  // namespace

std::string PortHolder::text() const {
  return process == 0 ? "another user's process"
                      : name + " (process " + std::to_string(process) + ")";
}

std::optional<PortHolder> port_holder(int port) {
  const std::string inode = listening_inode(port);
  if (inode.empty()) return std::nullopt;
  const std::string socket = "socket:[" + inode + "]";
  std::error_code ignored;
  for (const fs::path& process : paths_in("/proc", ignored)) {
    const auto pid = parse_integer(process.filename().string());
    if (!pid) continue;
    std::error_code closed;
    for (const fs::path& open : paths_in(process / "fd", closed)) {
      if (fs::read_symlink(open, closed) != socket) continue;
      PortHolder holder;
      holder.process = static_cast<pid_t>(*pid);
      std::ifstream name(process / "comm");
      std::getline(name, holder.name);
      return holder;
    }
  }
  return PortHolder{};
}

int next_free_port(int port) {
  for (int next = port + 1; next < port + 200 && next < 65536; ++next) {
    if (listening_inode(next).empty()) return next;
  }
  return 0;
}

}  // namespace stepscope
