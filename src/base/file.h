// Files: read-only mappings, whole and windowed reads, and output that appears under its name only
// when complete.
#ifndef STEPSCOPE_BASE_FILE_H_
#define STEPSCOPE_BASE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stepscope {

// What identifies one version of a file: a store is rebuilt when its inputs' stamps differ.
struct FileStamp {
  uint64_t bytes = 0;
  int64_t modified_ns = 0;
  bool operator==(const FileStamp&) const = default;
};

Result<FileStamp> stamp_file(const std::string& path);

// An open file descriptor that closes itself.
class InputFile {
 public:
  static Result<InputFile> open(const std::string& path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  // Reads up to `bytes` at `offset`; fewer only at the end of the file.
  Result<size_t> read_at(uint64_t offset, void* into, size_t bytes) const;
  uint64_t size() const { return stamp_.bytes; }
  const FileStamp& stamp() const { return stamp_; }
  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_; }
  // kChanged when size or modification time differ from those seen at open.
  Status check_unchanged() const;

 private:
  InputFile() = default;
  int descriptor_ = -1;
  FileStamp stamp_;
  std::string path_;
};

// A whole file mapped read-only. Touching it after the file was truncated by somebody else is a bus
// error, so only files that we wrote and renamed into place (stores) are mapped; inputs are read.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path);
  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// Reads a file of at most `limit` bytes into memory.
Result<std::string> read_file(const std::string& path, uint64_t limit);

// Appends to a temporary file beside `path`; commit() makes it durable and renames it. Destroyed
// without commit, the temporary file is removed, so nothing half-written is ever left under the
// final name.
class OutputFile {
 public:
  // `mode` is what others may do with it, less the umask.
  static Result<OutputFile> create(const std::string& path, uint32_t mode = 0644);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  ~OutputFile();

  // Buffered; the first failure is kept and every later call returns it.
  Status append(std::span<const std::byte> bytes);
  Status append(std::string_view text) { return append(std::as_bytes(std::span(text))); }
  // Pads with zeros to a multiple of `alignment`.
  Status align(size_t alignment);
  uint64_t position() const { return position_; }
  Status commit();

 private:
  OutputFile() = default;
  Status flush();
  int descriptor_ = -1;
  std::string path_;
  std::string temporary_path_;
  std::string buffer_;
  uint64_t position_ = 0;
  bool failed_ = false;
  Error failure_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_BASE_FILE_H_
