#include "base/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/abandoned_outputs.h"

namespace stepscope {
namespace {

constexpr size_t kOutputBufferBytes = 1 << 20;
constexpr std::string_view kPartial = ".partial.";  // then the writer's process and a number

FileStamp stamp_of(const struct stat& info) {
  return {static_cast<uint64_t>(info.st_size),
          static_cast<int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec};
}

}  // namespace

Result<FileStamp> stamp_file(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return system_error("cannot read", path, errno);
  return stamp_of(info);
}

Result<InputFile> InputFile::open(const std::string& path) {
  InputFile file;
  file.path_ = path;
  // O_NONBLOCK: opening a pipe must fail below, not wait for somebody to write.
  file.descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file.descriptor_ < 0) return system_error("cannot open", path, errno);
  struct stat info{};
  if (::fstat(file.descriptor_, &info) != 0) return system_error("cannot read", path, errno);
  if (!S_ISREG(info.st_mode)) {
    return Error{ErrorCode::kBadInput, "cannot open", path, "it is not a regular file",
                 "give a trace file or a folder of them"};
  }
  file.stamp_ = stamp_of(info);
  return file;
}

InputFile::InputFile(InputFile&& other) noexcept { *this = std::move(other); }

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(stamp_, other.stamp_);
  std::swap(path_, other.path_);
  return *this;
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<size_t> InputFile::read_at(uint64_t offset, void* into, size_t bytes) const {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::pread(descriptor_, static_cast<char*>(into) + done, bytes - done,
                                static_cast<off_t>(offset + done));
    if (got < 0) {
      if (errno == EINTR) continue;
      return system_error("cannot read", path_, errno);
    }
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

Status InputFile::check_unchanged() const {
  struct stat info{};
  if (::fstat(descriptor_, &info) != 0) return system_error("cannot read", path_, errno);
  if (stamp_of(info) == stamp_) return {};
  return Error{ErrorCode::kChanged, "cannot import", path_,
               "the file changed while it was being read",
               "wait until it is completely written, then import again"};
}

Result<MappedFile> MappedFile::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return system_error("cannot open", path, errno);
  struct stat info{};
  if (::fstat(descriptor, &info) != 0) {
    const int failure = errno;
    ::close(descriptor);
    return system_error("cannot read", path, failure);
  }
  MappedFile file;
  file.size_ = static_cast<size_t>(info.st_size);
  if (file.size_ > 0) {
    void* at = ::mmap(nullptr, file.size_, PROT_READ, MAP_SHARED, descriptor, 0);
    const int failure = errno;
    if (at == MAP_FAILED) {
      ::close(descriptor);
      file.size_ = 0;
      return system_error("cannot map", path, failure);
    }
    file.data_ = static_cast<const std::byte*>(at);
  }
  ::close(descriptor);
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

Result<std::string> read_file(const std::string& path, uint64_t limit) {
  auto file = InputFile::open(path);
  if (!file) return std::move(file.error());
  if (file->size() > limit) {
    return Error{ErrorCode::kLimit, "cannot read", path,
                 "it has " + std::to_string(file->size()) + " bytes, more than the " +
                     std::to_string(limit) + " that such a file may have",
                 "check that this is the right file"};
  }
  std::string text(file->size(), '\0');
  auto got = file->read_at(0, text.data(), text.size());
  if (!got) return std::move(got.error());
  text.resize(*got);
  return text;
}

Result<OutputFile> OutputFile::create(const std::string& path, uint32_t mode) {
  OutputFile file;
  file.path_ = path;
  // Two threads, or processes with the same number on two machines, may write the same file: each
  // has a temporary file of its own, and the last rename wins.
  for (int number = 0; file.descriptor_ < 0; ++number) {
    file.temporary_path_ =
        path + std::string(kPartial) + std::to_string(::getpid()) + "." + std::to_string(number);
    file.descriptor_ =
        ::open(file.temporary_path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file.descriptor_ < 0 && errno != EEXIST) return system_error("cannot write", path, errno);
  }
  ::flock(file.descriptor_, LOCK_EX | LOCK_NB);  // held while it is open: see below
  file.buffer_.reserve(kOutputBufferBytes);
  return file;
}

void remove_abandoned_outputs(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path output(path);
  const std::string prefix = output.filename().string() + std::string(kPartial);
  std::error_code error;
  const fs::path folder = output.has_parent_path() ? output.parent_path() : fs::path(".");
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(prefix)) continue;
    const long writer = std::strtol(name.c_str() + prefix.size(), nullptr, 10);
    // A writer of this machine that lives may not have locked its file yet.
    if (writer <= 0 || ::kill(static_cast<pid_t>(writer), 0) == 0 || errno != ESRCH) continue;
    const int descriptor = ::open(at->path().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) continue;
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) ::unlink(at->path().c_str());
    ::close(descriptor);
  }
}

OutputFile::OutputFile(OutputFile&& other) noexcept { *this = std::move(other); }

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  std::swap(temporary_path_, other.temporary_path_);
  std::swap(buffer_, other.buffer_);
  std::swap(position_, other.position_);
  std::swap(failed_, other.failed_);
  std::swap(failure_, other.failure_);
  return *this;
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_path_.c_str());
}

Status OutputFile::flush() {
  if (failed_) return failure_;
  size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t wrote = ::write(descriptor_, buffer_.data() + done, buffer_.size() - done);
    if (wrote < 0) {
      if (errno == EINTR) continue;
      failed_ = true;
      failure_ = system_error("cannot write", path_, errno);
      return failure_;
    }
    done += static_cast<size_t>(wrote);
  }
  buffer_.clear();
  return {};
}

Status OutputFile::append(std::span<const std::byte> bytes) {
  if (failed_) return failure_;
  buffer_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  position_ += bytes.size();
  if (buffer_.size() >= kOutputBufferBytes) return flush();
  return {};
}

Status OutputFile::align(size_t alignment) {
  static constexpr std::byte kZeros[64] = {};
  const size_t over = position_ % alignment;
  if (over == 0) return {};
  return append(std::span(kZeros, alignment - over));
}

Status OutputFile::commit() {
  if (auto status = flush(); !status) return status;
  if (::rename(temporary_path_.c_str(), path_.c_str()) != 0) {
    return system_error("cannot write", path_, errno);
  }
  ::close(descriptor_);
  descriptor_ = -1;
  return {};
}

}  // namespace stepscope
