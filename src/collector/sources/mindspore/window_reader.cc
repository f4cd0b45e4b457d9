#include "collector/sources/mindspore/window_reader.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <string>
#include <system_error>
#include <utility>

#include "collector/signals_blocked.h"

namespace stepscope {
namespace {

constexpr int kLowestPriority = 19;

ReadWindow read_window(const MindsporeFolder& folder, NameTable& names,
                       uint64_t& memory_bytes_read) {
  std::string operators;
  std::string launches;
  std::string memory;
  visit_mindspore_files(folder.path, [&](std::string_view beginning, const std::string& file) {
    if (beginning == kMindsporeOperatorFile) operators = file;
    if (beginning == kMindsporeLaunchFile) launches = file;
    if (beginning == kMindsporeMemoryFile) memory = file;
  });
  ReadWindow window;
  window.clock = folder.clock;
  StringPool short_names;
  if (!operators.empty()) read_mindspore_operators(operators, names, short_names, window.rows);
  if (folder.shapes && !launches.empty()) {
    read_mindspore_shapes(launches, names, short_names, window.rows);
    window.shapes_asked = true;
  }
  if (folder.memory && !memory.empty())
    read_mindspore_memory(memory, folder.from_ns, folder.to_ns, memory_bytes_read, window.rows);
  return window;
}

}  // namespace

WindowReader::~WindowReader() {
  ending_ = true;
  inbox_.wake();
  if (thread_.joinable()) thread_.join();
}

void WindowReader::start_thread() try {
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { read_as_they_come(); });
} catch (const std::system_error&) {  // NOLINT: the writer reads them all then
}

void WindowReader::read_as_they_come() {
  ::pthread_setname_np(::pthread_self(), "stepscope-ms");
  // Of this thread alone, on Linux. Where it is refused, the thread is one like others.
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kLowestPriority);
  try {
    while (true) {
      inbox_.wait_until([this](size_t folders) { return ending_ || (folders > 0 && has_room_); });
      if (ending_) return;
      read_one();
    }
  } catch (const std::exception&) {
    const std::lock_guard lock(windows_mutex_);
    failure_ = std::current_exception();
  }
}

bool WindowReader::read_one() {
  const std::lock_guard one_at_a_time(reading_);
  const auto folder = inbox_.take();
  if (!folder) return false;
  ReadWindow window = read_window(*folder, names_, memory_bytes_read_);
  remove_mindspore_folder(folder->path);
  const std::lock_guard lock(windows_mutex_);
  windows_.push_back(std::move(window));
  has_room_ = windows_.size() < kMostWaiting;
  return true;
}

void WindowReader::read_down_to(size_t folders) {
  // With 0: an empty inbox is seen when the lock is held, thus nobody reads a folder any more.
  while ((folders == 0 || inbox_.size() > folders) && read_one()) {
  }
}

std::vector<ReadWindow> WindowReader::take() {
  std::vector<ReadWindow> windows;
  {
    const std::lock_guard lock(windows_mutex_);
    if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
    windows = std::exchange(windows_, {});
    has_room_ = true;
  }
  if (!windows.empty()) inbox_.wake();
  return windows;
}

}  // namespace stepscope
