#include "collector/ring_registry.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <new>

namespace stepscope {
namespace {

// Linux 5.14; older kernels touch the pages at first use instead.
constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE

// Rings of that size are aligned to it: two large pages come five times as fast as 1,024 small
// ones.
constexpr size_t kLargePage = 2 << 20;

// A ring of an ended thread is given to the next one while it is not fuller than a quarter, with so
// many owners at most.
constexpr size_t kMostOwners = 1024;

bool can_be_taken_over(const ThreadRing& ring) {
  if (!ring.ended.load(std::memory_order_acquire) || ring.owners.size() >= kMostOwners)
    return false;
  const uint64_t tail = __atomic_load_n(&ring.shared.tail, __ATOMIC_ACQUIRE);
  return ring.shared.head - tail <= ring.shared.mask / 4;
}

// All whose records the writer has taken. The last one stays: it may be recording.
void forget_former_owners(ThreadRing& ring) {
  size_t former = 0;
  while (former + 1 < ring.owners.size() && ring.owners[former + 1].first <= ring.shared.tail)
    ++former;
  ring.owners.erase(ring.owners.begin(), ring.owners.begin() + static_cast<std::ptrdiff_t>(former));
}

void touch(const ThreadRing& ring) {
  ::madvise(ring.shared.records, ring.mapped_bytes, kPopulateWrite);
}

// MAP_FAILED when there is no memory.
void* map_ring(size_t bytes) {
  const bool large = bytes % kLargePage == 0;
  const size_t mapped = large ? bytes + kLargePage : bytes;
  void* const memory =
      ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || !large) return memory;
  auto* const begin = static_cast<std::byte*>(memory);
  const size_t before = (kLargePage - reinterpret_cast<uintptr_t>(begin) % kLargePage) % kLargePage;
  if (before > 0) ::munmap(begin, before);
  ::munmap(begin + before + bytes, kLargePage - before);
  ::madvise(begin + before, bytes, MADV_HUGEPAGE);  // small pages will do where that is refused
  return begin + before;
}

}  // namespace

void RingRegistry::set_limits(size_t records, size_t most_rings) {
  const std::lock_guard lock(mutex_);
  records_ = std::bit_ceil(records);
  most_rings_ = most_rings;
  // Nobody writes to a free ring, so those of another size can go, and those that are too many.
  // What threads left in theirs before they ended is of no recording.
  size_t left = rings_.size();
  std::erase_if(rings_, [&](const auto& ring) {
    if (ring->ended) ring->in_use = false;
    if (ring->in_use || (ring->shared.mask + 1 == records_ && left <= most_rings_)) return false;
    ::munmap(ring->shared.records, ring->mapped_bytes);
    --left;
    return true;
  });
  exhausted_ = false;
  without_ring_ = 0;
  without_memory_ = false;
}

ThreadRing* RingRegistry::make_ring() {
  if (rings_.size() >= most_rings_) return nullptr;
  const size_t bytes = records_ * sizeof(stepscope_record);
  auto ring = std::make_unique<ThreadRing>();
  rings_.reserve(rings_.size() + 1);  // what may throw comes before what would leak
  void* const memory = map_ring(bytes);
  if (memory == MAP_FAILED) {
    without_memory_ = true;
    return nullptr;
  }
  ring->mapped_bytes = bytes;
  ring->shared.records = static_cast<stepscope_record*>(memory);
  ring->shared.mask = records_ - 1;
  touch(*ring);
  return rings_.emplace_back(std::move(ring)).get();
}

void RingRegistry::prepare(size_t count) {
  const std::lock_guard lock(mutex_);
  for (const auto& ring : rings_) {
    if (ring->in_use || count == 0) continue;
    touch(*ring);
    --count;
  }
  while (count > 0 && make_ring() != nullptr) --count;
}

void RingRegistry::touch_in_use() {
  const std::lock_guard lock(mutex_);
  for (const auto& ring : rings_) {
    if (ring->in_use) touch(*ring);
  }
}

stepscope_ring* RingRegistry::attach() {
  if (exhausted_.load(std::memory_order_relaxed)) {
    without_ring_.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  const std::lock_guard lock(mutex_);
  ThreadRing* ring = nullptr;
  try {
    ring = find_ring();
    if (ring != nullptr) {
      RingOwner& owner = ring->owners.emplace_back();
      owner.first = ring->shared.head;
      owner.thread = ::syscall(SYS_gettid);
      ::pthread_getname_np(::pthread_self(), owner.name, sizeof owner.name);
    }
  } catch (const std::bad_alloc&) {
    ring = nullptr;
    without_memory_ = true;
  }
  if (ring == nullptr) {
    exhausted_ = true;
    without_ring_.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  ring->in_use = true;
  ring->ended = false;
  return &ring->shared;
}

ThreadRing* RingRegistry::find_ring() {
  // The first free one: that is what prepare() has touched.
  for (const auto& ring : rings_) {
    if (!ring->in_use) return ring.get();
  }
  for (const auto& ring : rings_) {
    if (can_be_taken_over(*ring)) return ring.get();
  }
  return make_ring();
}

void RingRegistry::detach(stepscope_ring* ring) {
  // `shared` is the first member.
  reinterpret_cast<ThreadRing*>(ring)->ended.store(true, std::memory_order_release);
  exhausted_ = false;
}

std::vector<ThreadRing*> RingRegistry::in_use() {
  const std::lock_guard lock(mutex_);
  std::vector<ThreadRing*> rings;
  for (const auto& ring : rings_) {
    if (ring->in_use) rings.push_back(ring.get());
  }
  return rings;
}

void RingRegistry::copy_owners(const ThreadRing& ring, std::vector<RingOwner>& owners) {
  const std::lock_guard lock(mutex_);
  owners = ring.owners;
}

void RingRegistry::release_ended() {
  const std::lock_guard lock(mutex_);
  for (const auto& ring : rings_) {
    if (!ring->in_use) continue;
    forget_former_owners(*ring);
    if (!ring->ended.load(std::memory_order_acquire)) continue;
    if (__atomic_load_n(&ring->shared.head, __ATOMIC_ACQUIRE) != ring->shared.tail) continue;
    ring->in_use = false;
    exhausted_ = false;
  }
}

void RingRegistry::forget_content() {
  const std::lock_guard lock(mutex_);
  for (const auto& ring : rings_) {
    const uint64_t head = __atomic_load_n(&ring->shared.head, __ATOMIC_ACQUIRE);
    __atomic_store_n(&ring->shared.tail, head, __ATOMIC_RELEASE);
    ring->not_recorded_before = __atomic_load_n(&ring->shared.not_recorded, __ATOMIC_RELAXED);
    if (ring->in_use && ring->ended) ring->in_use = false;
    if (ring->in_use) touch(*ring);
    forget_former_owners(*ring);
  }
  without_ring_ = 0;
}

uint64_t RingRegistry::without_ring() const {
  return without_ring_.load(std::memory_order_relaxed);
}

uint64_t RingRegistry::not_recorded() {
  const std::lock_guard lock(mutex_);
  uint64_t count = without_ring();
  for (const auto& ring : rings_) {
    count +=
        __atomic_load_n(&ring->shared.not_recorded, __ATOMIC_RELAXED) - ring->not_recorded_before;
  }
  return count;
}

uint64_t RingRegistry::most_bytes() {
  const std::lock_guard lock(mutex_);
  uint64_t bytes = 0;
  for (const auto& ring : rings_) bytes += ring->mapped_bytes;
  const size_t to_come = most_rings_ - std::min(most_rings_, rings_.size());
  return bytes + to_come * records_ * sizeof(stepscope_record);
}

void RingRegistry::forget_threads() {
  for (const auto& ring : rings_) {
    ring->shared.tail = ring->shared.head;
    ring->in_use = false;
    ring->ended = false;
    ::madvise(ring->shared.records, ring->mapped_bytes, MADV_DONTNEED);
  }
}

void RingRegistry::give_memory_back() {
  const std::lock_guard lock(mutex_);
  for (const auto& ring : rings_) {
    ::madvise(ring->shared.records, ring->mapped_bytes, MADV_DONTNEED);
  }
}

}  // namespace stepscope
