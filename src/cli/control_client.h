// A control socket of a training on another machine (python/stepscope/profiler/dynamic/control.py).
// Other than on the loopback address it is spoken to by TLS, with the token of
// STEPSCOPE_CONTROL_TOKEN.
#ifndef STEPSCOPE_CLI_CONTROL_CLIENT_H_
#define STEPSCOPE_CLI_CONTROL_CLIENT_H_

#include "cli/watched_place.h"

namespace stepscope {

// Whether a target is one or more of HOST:PORT.
bool names_control_socket(std::string_view target);

// One of HOST:PORT. `authority`: see find_watched_places.
Result<std::unique_ptr<WatchedPlace>> control_socket(const std::string& address,
                                                     const std::string& authority);

}  // namespace stepscope

#endif  // STEPSCOPE_CLI_CONTROL_CLIENT_H_
