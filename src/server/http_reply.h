// Replies of the API: JSON, and errors that say what, where, why and what to do.
#ifndef STEPSCOPE_SERVER_HTTP_REPLY_H_
#define STEPSCOPE_SERVER_HTTP_REPLY_H_

#include <string>

#include <httplib.h>

#include "base/result.h"

namespace stepscope {

void reply_json(httplib::Response& response, std::string json);
// {"error": {"code", "message", "what", "where", "why", "remedy"}} with the status that fits the
// code.
void reply_error(httplib::Response& response, const Error& error);
int http_status(ErrorCode code);

}  // namespace stepscope

#endif  // STEPSCOPE_SERVER_HTTP_REPLY_H_
