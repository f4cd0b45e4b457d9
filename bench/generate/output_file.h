// A file being written, plain or gzip. It has a temporary name until Close() succeeds, so that
// nobody finds half of one. Not thread-safe. Errors stick: check Close().

#ifndef STEPSCOPE_BENCH_GENERATE_OUTPUT_FILE_H_
#define STEPSCOPE_BENCH_GENERATE_OUTPUT_FILE_H_

#include <string>
#include <string_view>

namespace stepscope::generate {

class OutputFile {
 public:
  OutputFile() = default;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  // Creates the folders above `path` as well. A name ending in .gz is compressed.
  [[nodiscard]] bool Open(const std::string& path);
  void Write(std::string_view bytes);
  // False when this or anything before it failed; error() then says why.
  bool Close();

  const std::string& path() const { return path_; }
  const std::string& error() const { return error_; }

 private:
  void CloseDescriptor();
  void Fail(const char* action, int error_number);

  std::string path_;
  std::string temporary_path_;  // Empty: nothing left on disk under that name.
  std::string error_;
  int descriptor_ = -1;
  void* gzip_ = nullptr;  // gzFile; void so that zlib.h stays out of the header.
};

}  // namespace stepscope::generate

#endif  // STEPSCOPE_BENCH_GENERATE_OUTPUT_FILE_H_
