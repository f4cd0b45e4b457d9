// Answers that are files: streamed, so that their size does not matter. A client that goes away
// ends the work.
#ifndef STEPSCOPE_SERVER_DOWNLOAD_H_
#define STEPSCOPE_SERVER_DOWNLOAD_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <httplib.h>

#include "base/file.h"
#include "base/result.h"

namespace stepscope {

// "csv", "json", "jsonl", "parquet", "arrow": the type for HTTP; "" for others.
std::string_view download_type(std::string_view format);

// Calls `write` once, with a sink that fails when the client is gone. An error in the middle cuts
// the answer off, which clients notice: it has no end.
using WriteDownload = std::function<Status(const std::function<Status(std::string_view)>& sink)>;
void stream_download(httplib::Response& response, const std::string& file_name,
                     std::string_view type, WriteDownload write);

// A file that something else writes before it is sent; gone afterwards.
class SpoolFile {
 public:
  static Result<std::shared_ptr<SpoolFile>> create();
  ~SpoolFile();
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  SpoolFile() = default;
  std::string folder_;
  std::string path_;
};
Status send_file(httplib::Response& response, const std::string& file_name, std::string_view type,
                 std::shared_ptr<SpoolFile> spool);

}  // namespace stepscope

#endif  // STEPSCOPE_SERVER_DOWNLOAD_H_
