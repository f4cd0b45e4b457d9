#include "server/http_reply.h"

#include <memory>
#include <utility>

#include "base/json_text.h"

namespace stepscope {

int http_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNotFound:
      return 404;
    case ErrorCode::kBadInput:
    case ErrorCode::kUnsupported:
    case ErrorCode::kNotRecognised:
      return 400;
    case ErrorCode::kPermission:
      return 403;
    case ErrorCode::kLimit:
      return 413;
    case ErrorCode::kChanged:
      return 409;
    case ErrorCode::kCancelled:
      return 503;
    case ErrorCode::kNoSpace:
      return 507;
    case ErrorCode::kIo:
      return 500;
  }
  return 500;
}

void reply_json(httplib::Response& response, std::string json) {
  response.set_header("Cache-Control", "no-store");
  response.set_content(std::move(json), "application/json");
}

void reply_error(httplib::Response& response, const Error& error) {
  response.status = http_status(error.code);
  reply_json(response, "{\"error\":" +
                           JsonObject()
                               .add("code", error_code_name(error.code))
                               .add("message", error.message())
                               .add("what", error.what)
                               .add("where", error.where)
                               .add("why", error.why)
                               .add("remedy", error.remedy)
                               .text() +
                           "}");
}

void close_after(httplib::Response& response) {
  const std::string type = response.get_header_value("Content-Type");
  const auto body = std::make_shared<const std::string>(std::move(response.body));
  response.body.clear();
  response.headers.erase("Content-Type");
  response.set_header("Connection", "close");
  // The library goes on with a connection unless writing to it failed, which a content provider
  // may claim.
  response.set_content_provider(body->size(), type,
                                [body](size_t offset, size_t bytes, httplib::DataSink& sink) {
                                  sink.write(body->data() + offset, bytes);
                                  return false;
                                });
}

}  // namespace stepscope
