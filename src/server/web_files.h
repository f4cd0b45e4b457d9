// The web UI's files, compiled into the program: compressed, with the type and a tag for caches.
#ifndef STEPSCOPE_SERVER_WEB_FILES_H_
#define STEPSCOPE_SERVER_WEB_FILES_H_

#include <span>
#include <string_view>

namespace stepscope {

struct WebFile {
  std::string_view path;  // "index.html", "assets/index-3f2a.js"
  std::string_view type;
  std::string_view gzip;  // content, gzip
};

// Empty when the program was built without the web UI.
std::span<const WebFile> web_files();

}  // namespace stepscope

#endif  // STEPSCOPE_SERVER_WEB_FILES_H_
