#include "collector/raw_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/own_files.h"
#include "format/raw_file.h"

namespace stepscope {
namespace {

constexpr uint64_t kKeptBackBytes = 64 * 1024;

std::string megabytes(uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

}  // namespace

Result<RawOutput> RawOutput::create(const std::string& folder, uint64_t most_bytes,
                                    uint64_t least_free_bytes) {
  RawOutput output;
  output.path_ = folder + "/" + std::string(kRawFileName);
  output.most_bytes_ = most_bytes;
  output.least_free_bytes_ = least_free_bytes;
  if (::access(output.path_.c_str(), F_OK) == 0)
    return system_error("cannot record to", output.path_, EEXIST);
  // Under its own name only from the first line on: a file is never less than recognisable.
  const std::string temporary = output.path_ + ".begin";
  output.descriptor_ =
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0640);
  if (output.descriptor_ < 0) return system_error("cannot record to", output.path_, errno);
  struct stat file{};
  if (::fstat(output.descriptor_, &file) != 0)
    return system_error("cannot record to", output.path_, errno);
  output.device_ = file.st_dev;
  output.inode_ = file.st_ino;
  auto status = output.append(std::as_bytes(std::span(kRawFileMagic)));
  if (status.ok() && ::rename(temporary.c_str(), output.path_.c_str()) != 0)
    status = system_error("cannot record to", output.path_, errno);
  if (!status.ok()) {
    ::unlink(temporary.c_str());
    return std::move(status.error());
  }
  return output;
}

RawOutput::RawOutput(RawOutput&& other) noexcept { *this = std::move(other); }

RawOutput& RawOutput::operator=(RawOutput&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(device_, other.device_);
  std::swap(inode_, other.inode_);
  std::swap(path_, other.path_);
  std::swap(bytes_, other.bytes_);
  std::swap(most_bytes_, other.most_bytes_);
  std::swap(least_free_bytes_, other.least_free_bytes_);
  return *this;
}

RawOutput::~RawOutput() { abandon(); }

void RawOutput::abandon() {
  if (has_file()) ::close(descriptor_);
  descriptor_ = -1;
}

bool RawOutput::has_file() const {
  struct stat file{};
  return ::fstat(descriptor_, &file) == 0 && file.st_dev == device_ && file.st_ino == inode_;
}

Status RawOutput::append(std::span<const std::byte> bytes, bool last) {
  if (bytes.empty()) return {};
  if (!has_file()) {
    return Error{ErrorCode::kIo, "recording stopped", path_,
                 "the program has closed this file; the program goes on",
                 "it should close only descriptors that it opened"};
  }
  const uint64_t kept_back = last ? 0 : kKeptBackBytes;
  if (bytes_ + bytes.size() + kept_back > most_bytes_) {
    return Error{ErrorCode::kLimit, "recording stopped", path_,
                 "it reached its disk budget of " + megabytes(most_bytes_),
                 "raise max_disk_gb, or record fewer steps"};
  }
  struct statvfs disk{};
  if (!last && ::fstatvfs(descriptor_, &disk) == 0) {
    const uint64_t free_bytes = static_cast<uint64_t>(disk.f_bavail) * disk.f_frsize;
    if (free_bytes < least_free_bytes_ + bytes.size()) {
      return Error{ErrorCode::kNoSpace, "recording stopped", path_,
                   "the disk has " + megabytes(free_bytes) + " left, and " +
                       megabytes(least_free_bytes_) + " are to stay free",
                   "make room, or lower min_free_gb"};
    }
  }
  return write_all(bytes);
}

Status RawOutput::write_all(std::span<const std::byte> bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      const int failure = wrote < 0 ? errno : ENOSPC;
      // A torn chunk would hide the ones behind it. If cutting fails too, nothing can be added.
      if (::ftruncate(descriptor_, static_cast<off_t>(bytes_)) != 0) abandon();
      return system_error("recording stopped", path_, failure);
    }
    done += static_cast<size_t>(wrote);
  }
  bytes_ += bytes.size();
  return {};
}

}  // namespace stepscope
