// The pages: every path that is no file of the UI is index.html, since the UI has its own routes.
#include "server/routes.h"
#include "server/web_files.h"

namespace stepscope {
namespace {

constexpr std::string_view kNoPages =
    "<!doctype html><title>Stepscope</title><p>This program was built without its web pages. Run "
    "<code>./run</code> in the source folder, or build <code>web/</code> with npm and build the "
    "program again.</p>";

const WebFile* find_file(std::string_view path) {
  for (const WebFile& file : web_files()) {
    if (file.path == path) return &file;
  }
  return nullptr;
}

void send_page(const httplib::Request& request, httplib::Response& response, size_t prefix) {
  std::string_view path = std::string_view(request.path).substr(prefix);
  while (path.starts_with('/')) path.remove_prefix(1);
  const WebFile* file = find_file(path);
  // Files of the UI carry a hash in their name and never change; the page itself may.
  response.set_header("Cache-Control", file != nullptr && path.starts_with("assets/")
                                           ? "public, max-age=31536000, immutable"
                                           : "no-cache");
  if (file == nullptr) file = find_file("index.html");
  if (file == nullptr) {
    response.set_content(std::string(kNoPages), "text/html; charset=utf-8");
    return;
  }
  response.set_header("Content-Encoding", "gzip");
  response.set_content(file->gzip.data(), file->gzip.size(), std::string(file->type));
}

}  // namespace

void add_page_routes(httplib::Server& http, const std::string& prefix) {
  http.Get(prefix + "(/.*)?",
           [length = prefix.size()](const httplib::Request& request, httplib::Response& response) {
             send_page(request, response, length);
           });
}

}  // namespace stepscope
