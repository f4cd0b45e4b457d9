// Any bytes as the text files of MindSpore's CPU profiler: what is read is in order and in bounds.
#include <cstdint>
#include <cstdlib>

#include "collector/sources/mindspore/window_files.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stepscope;
  const testing::MemoryFile file(data, size);
  NameTable names;
  StringPool short_names;
  MindsporeWindow window;
  read_mindspore_operators(file.path(), names, short_names, window);
  if (window.operators.size() > size) std::abort();
  int64_t last_ns = 0;
  for (const MindsporeOperator& op : window.operators) {
    if (op.start_ns < last_ns || op.duration_ns < 0) std::abort();
    last_ns = op.start_ns;
  }
  read_mindspore_shapes(file.path(), names, short_names, window);
  uint64_t skip = size / 2;
  read_mindspore_memory(file.path(), 10, 1000, skip, window);
  for (const MindsporeMemory& record : window.memory) {
    if (record.when_ns < 10 || record.when_ns > 1000) std::abort();
  }
  if (skip != size) std::abort();
  return 0;
}
