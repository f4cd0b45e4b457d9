#include "bench/generate/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <zlib.h>

namespace stepscope::generate {
namespace {

// Level 1: the generator must not spend its time compressing.
constexpr const char* kGzipMode = "wb1";

}  // namespace

OutputFile::~OutputFile() {
  CloseDescriptor();
  if (!temporary_path_.empty()) unlink(temporary_path_.c_str());
}

bool OutputFile::Open(const std::string& path) {
  path_ = path;
  std::error_code code;
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, code);
  if (code) {
    Fail("create the folder of", code.value());
    return false;
  }
  const std::string temporary_path = path + ".tmp";
  descriptor_ = open(temporary_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    Fail("create", errno);
    return false;
  }
  temporary_path_ = temporary_path;
  if (path.ends_with(".gz")) {
    gzip_ = gzdopen(descriptor_, kGzipMode);
    if (gzip_ == nullptr) {
      Fail("compress", ENOMEM);
      return false;
    }
    gzbuffer(static_cast<gzFile>(gzip_), 1 << 18);
  }
  return true;
}

void OutputFile::Write(std::string_view bytes) {
  if (!error_.empty()) return;
  if (gzip_ != nullptr) {
    const auto size = static_cast<unsigned>(bytes.size());
    if (size != 0 && gzwrite(static_cast<gzFile>(gzip_), bytes.data(), size) != int(size)) {
      Fail("write", errno);
    }
    return;
  }
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Fail("write", errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

bool OutputFile::Close() {
  CloseDescriptor();
  if (!error_.empty()) return false;
  if (rename(temporary_path_.c_str(), path_.c_str()) != 0) {
    Fail("rename", errno);
    return false;
  }
  temporary_path_.clear();
  return true;
}

void OutputFile::CloseDescriptor() {
  if (gzip_ != nullptr) {
    if (gzclose(static_cast<gzFile>(gzip_)) != Z_OK) Fail("finish", errno);
  } else if (descriptor_ >= 0 && close(descriptor_) != 0) {
    Fail("close", errno);
  }
  gzip_ = nullptr;
  descriptor_ = -1;
}

void OutputFile::Fail(const char* action, int error_number) {
  if (!error_.empty()) return;
  error_ = std::string("cannot ") + action + " " + path_ + ": " + std::strerror(error_number);
}

}  // namespace stepscope::generate
