// LastingRows: what a recording says once and later records refer to (names of threads, nodes of
// stacks, stages, variants of kernels) and its notes.
//
// In an ordinary recording they go into the chunk that is being made. One that only keeps its last
// seconds (collector/watch.h) forgets its chunks, but not these: they are kept here, in at most
// kMostBytes, and every capture begins with them. The writer thread's own.
#ifndef STEPSCOPE_COLLECTOR_LASTING_ROWS_H_
#define STEPSCOPE_COLLECTOR_LASTING_ROWS_H_

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/chunk_builder.h"

namespace stepscope {

class LastingRows {
 public:
  static constexpr size_t kMostBytes = 16 << 20;
  static constexpr size_t kMostNoteBytes = 1 << 20;

  // `keeps`: for captures to come.
  explicit LastingRows(ChunkBuilder& chunk, bool keeps = false)
      : chunk_(chunk), keeps_(keeps), writes_(!keeps) {}

  void add(const RawTableLayout& layout, int64_t key, std::initializer_list<int64_t> row);
  void add_note(std::string_view name, std::string_view json);

  // Whether a file is open that new rows go to, too.
  void set_writes(bool writes) { writes_ = writes; }
  // Everything so far, packed; it stays. Valid until the next call.
  std::span<const std::byte> pack(uint64_t number);

 private:
  ChunkBuilder& chunk_;
  const bool keeps_;
  bool writes_;
  ChunkBuilder kept_;
  std::vector<std::pair<std::string, std::string>> notes_;
  size_t note_bytes_ = 0;
  int64_t left_out_ = 0;  // rows and notes beyond the bounds
};

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_LASTING_ROWS_H_
