#include "collector/sources/cupti/activity_buffers.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace stepscope::cupti {
namespace {

uint64_t bit_of(size_t slot) { return uint64_t{1} << slot; }

}  // namespace

void ActivityBuffers::prepare(size_t buffer_bytes, size_t ready, size_t most) {
  give_memory_back();
  buffer_bytes_ = buffer_bytes;
  most_ = std::min(most, kMost);
  ready_ = std::min(ready, most_);
  refused_ = 0;
  all_made_ = false;
  keep_ready();
}

void ActivityBuffers::keep_ready() {
  bool more = true;
  while (more &&
         static_cast<size_t>(std::popcount(free_.load(std::memory_order_relaxed))) < ready_) {
    more = add_slot();
  }
  if (!more || count() >= most_) all_made_ = true;
}

bool ActivityBuffers::add_slot() {
  if (count() >= most_) return false;
  const auto slot = static_cast<size_t>(std::countr_zero(without_memory_));
  uint8_t* const memory = memory_for(slots_[slot]);
  if (memory == nullptr) return false;
  without_memory_ &= ~bit_of(slot);
  slots_[slot].memory.store(memory, std::memory_order_relaxed);
  slots_[slot].bytes = buffer_bytes_;
  free_.fetch_or(bit_of(slot), std::memory_order_release);
  return true;
}

uint8_t* ActivityBuffers::memory_for(Slot& slot) const {
  if (slot.address != nullptr && slot.bytes == buffer_bytes_) {
    std::memset(slot.address, 0, slot.bytes);  // touches it
    return slot.address;
  }
  void* const memory = ::mmap(nullptr, buffer_bytes_, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  slot.address = static_cast<uint8_t*>(memory);
  return slot.address;
}

std::span<uint8_t> ActivityBuffers::take() {
  uint64_t free = free_.load(std::memory_order_acquire);
  while (free != 0) {
    const auto slot = static_cast<size_t>(std::countr_zero(free));
    if (free_.compare_exchange_weak(free, free & ~bit_of(slot), std::memory_order_acquire))
      return {slots_[slot].memory.load(std::memory_order_relaxed), slots_[slot].bytes};
  }
  refused_.fetch_add(1, std::memory_order_relaxed);
  return {};
}

void ActivityBuffers::complete(const uint8_t* buffer, size_t valid_bytes) {
  if (buffer == nullptr) return;
  for (size_t slot = 0; slot < kMost; ++slot) {
    if (slots_[slot].memory.load(std::memory_order_relaxed) != buffer) continue;
    slots_[slot].valid_bytes = std::min(valid_bytes, slots_[slot].bytes);
    slots_[slot].order = next_order_.fetch_add(1, std::memory_order_relaxed);
    filled_.fetch_or(bit_of(slot), std::memory_order_release);
    return;
  }
}

std::optional<ActivityBuffers::Filled> ActivityBuffers::next() {
  const uint64_t filled = filled_.load(std::memory_order_acquire);
  if (filled == 0) return std::nullopt;
  size_t oldest = kMost;
  for (uint64_t left = filled; left != 0; left &= left - 1) {
    const auto slot = static_cast<size_t>(std::countr_zero(left));
    if (oldest == kMost || slots_[slot].order < slots_[oldest].order) oldest = slot;
  }
  filled_.fetch_and(~bit_of(oldest), std::memory_order_acquire);
  uint8_t* const memory = slots_[oldest].memory.load(std::memory_order_relaxed);
  return Filled{{memory, slots_[oldest].valid_bytes}, oldest};
}

void ActivityBuffers::recycle(const Filled& filled) {
  free_.fetch_or(bit_of(filled.slot), std::memory_order_release);
}

void ActivityBuffers::take_all_back() {
  const uint64_t cuptis = ~without_memory_ & ~free_.load() & ~filled_.load();
  free_.fetch_or(cuptis, std::memory_order_release);
}

void ActivityBuffers::give_memory_back() {
  while (const auto left_over = next())
    free_.fetch_or(bit_of(left_over->slot), std::memory_order_release);
  const uint64_t free = free_.exchange(0, std::memory_order_acquire);
  for (uint64_t left = free; left != 0; left &= left - 1) {
    Slot& slot = slots_[static_cast<size_t>(std::countr_zero(left))];
    ::madvise(slot.memory.exchange(nullptr, std::memory_order_relaxed), slot.bytes, MADV_DONTNEED);
  }
  without_memory_ |= free;
}

}  // namespace stepscope::cupti
