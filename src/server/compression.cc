#include "server/compression.h"

#include <string>
#include <utility>

#include <zlib.h>

namespace stepscope {
namespace {

constexpr size_t kWorthIt = 1024;
constexpr int kFast = 1;
constexpr int kGzip = 15 + 16;  // window bits; 16: with gzip's header
// Where the client's wish is kept out of the library's sight.
constexpr const char* kAccepted = "X-Stepscope-Accepted-Encoding";

// Empty when memory is short.
std::string gzip(const std::string& text) {
  z_stream stream = {};
  if (deflateInit2(&stream, kFast, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) return "";
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const bool whole = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(whole ? stream.total_out : 0);
  deflateEnd(&stream);
  return out;
}

}  // namespace

void take_over_compression(const httplib::Request& request) {
  // The library gives handlers its own request, which is not const, and has no setting for this.
  auto& headers = const_cast<httplib::Request&>(request).headers;
  headers.erase(kAccepted);
  const std::string accepted = request.get_header_value("Accept-Encoding");
  headers.erase("Accept-Encoding");
  if (!accepted.empty()) headers.emplace(kAccepted, accepted);
}

void compress_reply(const httplib::Request& request, httplib::Response& response) {
  constexpr size_t kMost = size_t{1} << 31;  // zlib counts in 32 bits
  const std::string type = response.get_header_value("Content-Type");
  const bool is_text = type.starts_with("application/json") || type.starts_with("text/");
  if (!is_text || response.body.size() < kWorthIt || response.body.size() >= kMost) return;
  if (response.has_header("Content-Encoding") || response.status == 206) return;
  if (request.get_header_value(kAccepted).find("gzip") == std::string::npos) return;
  std::string smaller = gzip(response.body);
  if (smaller.empty() || smaller.size() >= response.body.size()) return;
  response.body = std::move(smaller);
  response.headers.erase("Content-Length");
  response.set_header("Content-Length", std::to_string(response.body.size()));
  response.set_header("Content-Encoding", "gzip");
  response.set_header("Vary", "Accept-Encoding");
}

}  // namespace stepscope
