#include "cli/port_holder.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

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

}  // namespace

std::string port_holder(int port) {
  std::string inode = listening_inode("/proc/net/tcp", port);
  if (inode.empty()) inode = listening_inode("/proc/net/tcp6", port);
  if (inode.empty()) return {};
  const std::string socket = "socket:[" + inode + "]";
  std::error_code ignored;
  for (const fs::path& process : paths_in("/proc", ignored)) {
    const std::string pid = process.filename().string();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    std::error_code closed;
    for (const fs::path& open : paths_in(process / "fd", closed)) {
      if (fs::read_symlink(open, closed) != socket) continue;
      std::ifstream name(process / "comm");
      std::string command;
      std::getline(name, command);
      return command + " (process " + pid + ")";
    }
  }
  return "another user's process";
}

int next_free_port(int port) {
  for (int next = port + 1; next < port + 200 && next < 65536; ++next) {
    if (port_holder(next).empty()) return next;
  }
  return 0;
}

}  // namespace stepscope
