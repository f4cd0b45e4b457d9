// Replies are compressed here, quickly, and not by the HTTP library: it takes brotli at its highest
// level wherever a browser offers it, which needs 10 s for each megabyte of a table.
#ifndef STEPSCOPE_SERVER_COMPRESSION_H_
#define STEPSCOPE_SERVER_COMPRESSION_H_

#include <httplib.h>

namespace stepscope {

// Keeps the library from compressing, before the request is routed.
void take_over_compression(const httplib::Request& request);
// Whole bodies of JSON and text that are large and that the client takes so become gzip. Streams
// stay as they are.
void compress_reply(const httplib::Request& request, httplib::Response& response);

}  // namespace stepscope

#endif  // STEPSCOPE_SERVER_COMPRESSION_H_
