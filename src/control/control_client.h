// A control socket of a training on another machine (python/stepscope/profiler/dynamic/control.py).
// Other than on the loopback address it is spoken to by TLS, with the token of
// STEPSCOPE_CONTROL_TOKEN.
#ifndef STEPSCOPE_CONTROL_CONTROL_CLIENT_H_
#define STEPSCOPE_CONTROL_CONTROL_CLIENT_H_

#include "control/watched_place.h"

namespace stepscope {

inline constexpr uint64_t kLargestControlReply = 64 << 20;

// Whether it is HOST:PORT.
bool names_control_socket(std::string_view address);

// `authority`: see find_watched_places. An answer of more bytes than `largest_reply` is not read.
Result<std::unique_ptr<WatchedPlace>> control_socket(const std::string& address,
                                                     const std::string& authority,
                                                     uint64_t largest_reply = kLargestControlReply);

// Whether a host is this machine for certain, so that a token may be sent to it in plain text.
bool is_loopback_address(const std::string& host);

}  // namespace stepscope

#endif  // STEPSCOPE_CONTROL_CONTROL_CLIENT_H_
