// WindowReader: reads the folders of an inbox, beside the training and behind it.
//
// A window of 10,000 operators takes 2 ms, with shapes 4. Where the training uses all processors,
// those were 0.07 ms more of every step; a thread of the lowest priority takes what is left over.
// What it does not manage, the writer thread reads itself.
#ifndef STEPSCOPE_COLLECTOR_SOURCES_MINDSPORE_WINDOW_READER_H_
#define STEPSCOPE_COLLECTOR_SOURCES_MINDSPORE_WINDOW_READER_H_

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "collector/name_table.h"
#include "collector/sources/mindspore/window_files.h"
#include "collector/sources/mindspore/window_inbox.h"

namespace stepscope {

struct ReadWindow {
  MindsporeWindow rows;
  ClockSample clock;
  bool shapes_asked = false;
};

class WindowReader {
 public:
  // Windows that may wait for take(), and folders that may wait for the thread.
  static constexpr size_t kMostWaiting = 4;

  WindowReader(MindsporeInbox& inbox, NameTable& names) : inbox_(inbox), names_(names) {}
  ~WindowReader();

  // From here on folders are read as they come, if there can be one more thread.
  void start_thread();
  bool has_thread() const { return thread_.joinable(); }
  // Reads folders on the calling thread until at most so many wait; with 0 everything that was
  // handed over before is read afterwards.
  void read_down_to(size_t folders);
  // What was read since the last call, in the order of the windows. Throws what the thread threw.
  std::vector<ReadWindow> take();

 private:
  bool read_one();
  void read_as_they_come();

  MindsporeInbox& inbox_;
  NameTable& names_;
  std::mutex reading_;              // one at a time, in their order
  uint64_t memory_bytes_read_ = 0;  // under it
  std::mutex windows_mutex_;
  std::vector<ReadWindow> windows_;
  std::exception_ptr failure_;
  std::atomic<bool> has_room_ = true;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_SOURCES_MINDSPORE_WINDOW_READER_H_
