// Who listens on a TCP port of this machine, from /proc.
#ifndef STEPSCOPE_CLI_PORT_HOLDER_H_
#define STEPSCOPE_CLI_PORT_HOLDER_H_

#include <sys/types.h>

#include <optional>
#include <string>

namespace stepscope {

struct PortHolder {
  std::string name;   // of the program
  pid_t process = 0;  // 0: another user's, which may not be seen

  std::string text() const;  // "python3 (process 1234)"
};

// Nothing when nobody listens.
std::optional<PortHolder> port_holder(int port);
// The next port nobody listens on, 0 when there is none.
int next_free_port(int port);

}  // namespace stepscope

#endif  // STEPSCOPE_CLI_PORT_HOLDER_H_
