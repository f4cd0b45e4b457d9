// Replies of the API: JSON, and errors that say what, where, why and what to do.
#ifndef STEPSCOPE_SERVER_HTTP_REPLY_H_
#define STEPSCOPE_SERVER_HTTP_REPLY_H_

#include <string>
#include <vector>

#include <httplib.h>

#include "base/result.h"

namespace stepscope {

void reply_json(httplib::Response& response, std::string json);
// {"error": {"code", "message", "what", "where", "why", "remedy"}} with the status that fits the
// code.
void reply_error(httplib::Response& response, const Error& error);
int http_status(ErrorCode code);
// Ends the connection behind this reply: the request's body was not read, and what is left of it
// would be taken for the next request.
void close_after(httplib::Response& response);

// One of the typed arrays of a binary reply, which begin at multiples of 8 bytes.
template <class T>
void append_array(std::string& out, const std::vector<T>& values) {
  out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  out.append((8 - out.size() % 8) % 8, '\0');
}

}  // namespace stepscope

#endif  // STEPSCOPE_SERVER_HTTP_REPLY_H_
