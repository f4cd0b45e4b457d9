// Files that another library writes for us: made under a temporary name, renamed when complete.
#ifndef STEPSCOPE_CLI_OUTPUT_H_
#define STEPSCOPE_CLI_OUTPUT_H_

#include <string>

#include "base/result.h"

namespace stepscope {

// Removed when it is destroyed without having been renamed.
class TemporaryFile {
 public:
  // In the folder of `path`, or in the system's folder for temporary files when that is empty.
  static Result<TemporaryFile> beside(const std::string& path);
  TemporaryFile(TemporaryFile&& other) noexcept { path_.swap(other.path_); }
  TemporaryFile& operator=(TemporaryFile&& other) noexcept {
    path_.swap(other.path_);
    return *this;
  }
  ~TemporaryFile();

  const std::string& path() const { return path_; }
  Status rename_to(const std::string& path);
  Status copy_to_stdout() const;

 private:
  TemporaryFile() = default;
  std::string path_;
};

// A folder and its parents, unless it is there.
Status make_folder(const std::string& path);

}  // namespace stepscope

#endif  // STEPSCOPE_CLI_OUTPUT_H_
