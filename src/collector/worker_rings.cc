#include "collector/worker_rings.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace stepscope {
namespace {

constexpr uint64_t kMagic = 0x31676e6972777373;  // "sswring1"

thread_local SharedWorkerArea* joined = nullptr;

SharedWorkerArea* map(int file) {
  void* const memory =
      ::mmap(nullptr, sizeof(SharedWorkerArea), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<SharedWorkerArea*>(memory);
}

bool is_gone(int64_t process) {
  return ::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH;
}

}  // namespace

const std::string& WorkerRings::address() {
  const std::lock_guard lock(mutex_);
  if (area_ != nullptr) return address_;
  const int file = ::memfd_create("stepscope-workers", MFD_CLOEXEC);
  if (file < 0) return address_;
  if (::ftruncate(file, sizeof(SharedWorkerArea)) != 0 || (area_ = map(file)) == nullptr) {
    ::close(file);
    return address_;
  }
  file_ = file;
  // Of zeros, which is what its parts begin with; pages come when they are used.
  area_->magic = kMagic;
  area_->recording = recording_ ? 1 : 0;
  address_ = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file);
  return address_;
}

void WorkerRings::start() {
  drain([](int64_t, const stepscope_ring&, uint64_t, uint64_t) {});
  take_not_recorded();
  const std::lock_guard lock(mutex_);
  recording_ = true;
  if (area_ != nullptr) area_->recording.store(1, std::memory_order_release);
}

void WorkerRings::stop() {
  const std::lock_guard lock(mutex_);
  recording_ = false;
  if (area_ != nullptr) area_->recording.store(0, std::memory_order_release);
}

bool WorkerRings::filling() const {
  const std::lock_guard lock(mutex_);
  if (area_ == nullptr) return false;
  for (const SharedRing& shared : area_->rings) {
    if (shared.process.load(std::memory_order_relaxed) == 0) continue;
    if (__atomic_load_n(&shared.ring.head, __ATOMIC_RELAXED) - shared.ring.tail >
        kWorkerRecords / 2) {
      return true;
    }
  }
  return false;
}

void WorkerRings::drain(const Visit& visit) {
  const std::lock_guard lock(mutex_);
  if (area_ == nullptr) return;
  for (size_t at = 0; at < kMostWorkerRings; ++at) {
    SharedRing& shared = area_->rings[at];
    const int64_t process = shared.process.load(std::memory_order_acquire);
    if (process == 0) continue;
    const bool gone = is_gone(process);  // asked first: what it wrote before is then there
    const uint64_t head = __atomic_load_n(&shared.ring.head, __ATOMIC_ACQUIRE);
    const uint64_t tail = shared.ring.tail;
    if (head != tail && head - tail <= kWorkerRecords) {
      stepscope_ring view{};
      view.records = area_->records[at];
      view.mask = kWorkerRecords - 1;
      visit(process, view, tail, head);
    }
    __atomic_store_n(&shared.ring.tail, head, __ATOMIC_RELEASE);
    const uint64_t lost = __atomic_load_n(&shared.ring.not_recorded, __ATOMIC_RELAXED);
    not_recorded_ += static_cast<int64_t>(lost - counted_[at]);
    counted_[at] = lost;
    if (gone) shared.process.store(0, std::memory_order_release);
  }
}

int64_t WorkerRings::take_not_recorded() {
  const std::lock_guard lock(mutex_);
  const int64_t count = not_recorded_;
  not_recorded_ = 0;
  return count;
}

int64_t WorkerRings::turned_away() const {
  const std::lock_guard lock(mutex_);
  return area_ == nullptr ? 0 : static_cast<int64_t>(area_->without_ring.load());
}

void WorkerRings::forget() {
  if (area_ != nullptr) {
    ::munmap(area_, sizeof *area_);
    ::close(file_);
  }
  area_ = nullptr;
  address_.clear();
  recording_ = false;
  not_recorded_ = 0;
  for (uint64_t& counted : counted_) counted = 0;
  joined = nullptr;
}

bool join_worker_rings(const char* address) {
  if (joined != nullptr) return true;
  const int file = ::open(address, O_RDWR | O_CLOEXEC);
  if (file < 0) return false;
  struct stat about{};
  SharedWorkerArea* area = nullptr;
  if (::fstat(file, &about) == 0 && about.st_size == sizeof(SharedWorkerArea)) area = map(file);
  ::close(file);
  if (area == nullptr) return false;
  if (area->magic == kMagic) {
    for (size_t at = 0; at < kMostWorkerRings; ++at) {
      SharedRing& shared = area->rings[at];
      int64_t nobody = 0;
      if (!shared.process.compare_exchange_strong(nobody, ::getpid())) continue;
      const uint64_t head = __atomic_load_n(&shared.ring.head, __ATOMIC_RELAXED);
      stepscope_thread = {area->records[at], kWorkerRecords - 1, head, 0, &shared.ring};
      joined = area;
      return true;
    }
    area->without_ring.fetch_add(1, std::memory_order_relaxed);
  }
  ::munmap(area, sizeof *area);
  return false;
}

bool worker_is_recorded() {
  return joined != nullptr && joined->recording.load(std::memory_order_relaxed) != 0;
}

void leave_worker_rings() {
  if (joined == nullptr) return;
  // The ring stays the parent's, and the memory mapped: it takes the ring back when we have ended.
  joined = nullptr;
  stepscope_thread = {};
}

}  // namespace stepscope
