#include "collector/worker_rings.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "collector/sources/system/proc_files.h"

namespace stepscope {
namespace {

constexpr uint64_t kMagic = 0x32676e6972777373;  // "sswring2"

thread_local SharedWorkerArea* joined = nullptr;

SharedWorkerArea* map(int file) {
  void* const memory =
      ::mmap(nullptr, sizeof(SharedWorkerArea), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<SharedWorkerArea*>(memory);
}

// 0 where /proc does not tell.
uint64_t start_of(int64_t process) {
  const auto about = ProcFiles().process(process);
  return about ? static_cast<uint64_t>(about->started) : 0;
}

uint64_t as_owner(int64_t process) {
  return start_of(process) << 32 | static_cast<uint32_t>(process);
}

int64_t process_of(uint64_t owner) { return static_cast<uint32_t>(owner); }

// A system call, no more: the writer thread asks it of every ring, twenty times a second.
bool is_gone(uint64_t owner) {
  return ::kill(static_cast<pid_t>(process_of(owner)), 0) != 0 && errno == ESRCH;
}

// Also when another process has its id now; reads a file for that.
bool is_gone_or_replaced(uint64_t owner) {
  if (is_gone(owner)) return true;
  const uint64_t now = as_owner(process_of(owner));
  return owner >> 32 != 0 && now >> 32 != 0 && now != owner;
}

bool is_empty(const stepscope_ring& ring) {
  return __atomic_load_n(&ring.head, __ATOMIC_ACQUIRE) ==
         __atomic_load_n(&ring.tail, __ATOMIC_ACQUIRE);
}

// Several workers may be at it, and the parent's drain() as well: whoever exchanges the owner has
// the ring. An owner that is gone writes no more, so what was found empty still is by then.
bool take(SharedRing& shared, uint64_t me, bool of_ended) {
  uint64_t owner = shared.owner.load(std::memory_order_acquire);
  if (owner != 0 && !(of_ended && is_gone_or_replaced(owner) && is_empty(shared.ring)))
    return false;
  return shared.owner.compare_exchange_strong(owner, me);
}

// kMostWorkerRings when there is none.
size_t take_ring(SharedWorkerArea& area, uint64_t me) {
  for (const bool of_ended : {false, true}) {
    for (size_t at = 0; at < kMostWorkerRings; ++at) {
      if (take(area.rings[at], me, of_ended)) return at;
    }
  }
  return kMostWorkerRings;
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
  discard();
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
    if (shared.owner.load(std::memory_order_relaxed) == 0) continue;
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
    uint64_t owner = 0;
    bool gone = false;
    uint64_t head = 0;
    do {  // again when the ring has passed on meanwhile: the records are then the new owner's
      owner = shared.owner.load(std::memory_order_acquire);
      gone = owner != 0 && is_gone(owner);  // asked first: what it wrote before is then there
      head = __atomic_load_n(&shared.ring.head, __ATOMIC_ACQUIRE);
    } while (shared.owner.load(std::memory_order_acquire) != owner);
    if (owner == 0) continue;
    const uint64_t tail = shared.ring.tail;
    if (head != tail && head - tail <= kWorkerRecords) {
      stepscope_ring view{};
      view.records = area_->records[at];
      view.mask = kWorkerRecords - 1;
      visit(process_of(owner), view, tail, head);
    }
    __atomic_store_n(&shared.ring.tail, head, __ATOMIC_RELEASE);
    const uint64_t lost = __atomic_load_n(&shared.ring.not_recorded, __ATOMIC_RELAXED);
    not_recorded_ += static_cast<int64_t>(lost - counted_[at]);
    counted_[at] = lost;
    // Not when the next worker was faster.
    if (gone) shared.owner.compare_exchange_strong(owner, 0);
  }
}

void WorkerRings::discard() {
  drain([](int64_t, const stepscope_ring&, uint64_t, uint64_t) {});
  take_not_recorded();
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
  const uint64_t me = as_owner(::getpid());
  const int file = ::open(address, O_RDWR | O_CLOEXEC);
  if (file < 0) return false;
  struct stat about{};
  SharedWorkerArea* area = nullptr;
  if (::fstat(file, &about) == 0 && about.st_size == sizeof(SharedWorkerArea)) area = map(file);
  ::close(file);
  if (area == nullptr) return false;
  if (area->magic == kMagic) {
    const size_t at = take_ring(*area, me);
    if (at < kMostWorkerRings) {
      stepscope_ring& ring = area->rings[at].ring;
      const uint64_t head = __atomic_load_n(&ring.head, __ATOMIC_RELAXED);
      stepscope_thread = {area->records[at], kWorkerRecords - 1, head, 0, &ring};
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
