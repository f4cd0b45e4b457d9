// Who listens on a TCP port of this machine, from /proc.
#ifndef STEPSCOPE_CLI_PORT_HOLDER_H_
#define STEPSCOPE_CLI_PORT_HOLDER_H_

#include <string>

namespace stepscope {

// "python3 (process 1234)"; "" when nobody does, "another user's process" when it may not be seen.
std::string port_holder(int port);
// The next port nobody listens on, 0 when there is none.
int next_free_port(int port);

}  // namespace stepscope

#endif  // STEPSCOPE_CLI_PORT_HOLDER_H_
