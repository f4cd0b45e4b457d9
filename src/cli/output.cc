#include "cli/output.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/file.h"
#include "cli/terminal.h"

namespace stepscope {

namespace fs = std::filesystem;

Result<TemporaryFile> TemporaryFile::beside(const std::string& path) {
  std::error_code error;
  const fs::path folder =
      path.empty() ? fs::temp_directory_path(error) : fs::path(path).parent_path();
  std::string name = (folder / ".stepscope-XXXXXX").string();
  // Absolute, because DuckDB compares paths as text.
  if (folder.empty() || folder.is_relative()) name = fs::absolute(name, error).string();
  const int descriptor = mkstemp(name.data());
  if (descriptor < 0) return system_error("cannot write", path.empty() ? name : path, errno);
  // mkstemp's file is for the owner alone; the result is an ordinary one.
  const mode_t mask = umask(0);
  umask(mask);
  const bool failed = fchmod(descriptor, 0666 & ~mask) != 0;
  close(descriptor);
  TemporaryFile file;
  file.path_ = name;
  if (failed) return system_error("cannot write", name, errno);
  return file;
}

TemporaryFile::~TemporaryFile() {
  if (!path_.empty()) unlink(path_.c_str());
}

Status TemporaryFile::rename_to(const std::string& path) {
  if (std::rename(path_.c_str(), path.c_str()) != 0)
    return system_error("cannot write", path, errno);
  path_.clear();
  return {};
}

Status TemporaryFile::copy_to_stdout() const {
  auto file = InputFile::open(path_);
  if (!file) return std::move(file.error());
  std::string buffer(1 << 20, '\0');
  for (uint64_t at = 0; at < file->size();) {
    auto got = file->read_at(at, buffer.data(), buffer.size());
    if (!got) return std::move(got.error());
    if (auto status = write_out(std::string_view(buffer).substr(0, *got)); !status) return status;
    at += *got;
  }
  return {};
}

Status make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (!error) return {};
  return system_error("cannot make the folder", path, error.value());
}

}  // namespace stepscope
