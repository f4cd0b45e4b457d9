// RawOutput: the raw file of a recording, appended to within a budget.
//
// Programs that close all descriptors there are close this one too, and may then have a file of
// their own under its number. So each use first looks whose it is, at the cost of a system call.
#ifndef STEPSCOPE_COLLECTOR_RAW_OUTPUT_H_
#define STEPSCOPE_COLLECTOR_RAW_OUTPUT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"

namespace stepscope {

class RawOutput {
 public:
  // Creates the file in `folder`; one that is there already is an error, never overwritten.
  static Result<RawOutput> create(const std::string& folder, uint64_t most_bytes,
                                  uint64_t least_free_bytes);
  RawOutput(RawOutput&& other) noexcept;
  RawOutput& operator=(RawOutput&& other) noexcept;
  ~RawOutput();

  // Appends all or nothing. Fails when the budget is spent or the disk nearly full; what was
  // written stays readable. A little is kept back for `last`, the chunk that says how it ended.
  Status append(std::span<const std::byte> bytes, bool last = false);
  uint64_t bytes() const { return bytes_; }
  const std::string& path() const { return path_; }
  // In a forked child: lets go of the file without touching it.
  void abandon();

 private:
  RawOutput() = default;
  Status write_all(std::span<const std::byte> bytes);
  // Whether the descriptor is still that of the file.
  bool has_file() const;

  int descriptor_ = -1;
  uint64_t device_ = 0;
  uint64_t inode_ = 0;
  std::string path_;
  uint64_t bytes_ = 0;
  uint64_t most_bytes_ = 0;
  uint64_t least_free_bytes_ = 0;
};

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_RAW_OUTPUT_H_
