// NameTable: ids of names, the same for as long as the process lives, whatever is recorded in
// between. Bounded: a program that makes up names without end gets kTooManyNames for the rest.
#ifndef STEPSCOPE_COLLECTOR_NAME_TABLE_H_
#define STEPSCOPE_COLLECTOR_NAME_TABLE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "base/string_pool.h"

namespace stepscope {

class NameTable {
 public:
  NameTable();

  uint32_t intern(std::string_view text);
  // How many names the bounds have cut or replaced so far, and the sentence about `count` of them.
  uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }
  static std::string how_lost(uint64_t count);
  // Calls visit(id, text) for the names from `first` on and returns how many there are now. The
  // texts live as long as the table.
  uint32_t visit_from(uint32_t first, const std::function<void(uint32_t, std::string_view)>& visit);

  // For fork(): no other thread may hold the lock while the process is copied.
  std::mutex& mutex() { return mutex_; }

 private:
  std::mutex mutex_;
  StringPool names_;
  uint32_t too_many_;
  std::atomic<uint64_t> lost_ = 0;
};

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_NAME_TABLE_H_
