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
  while (const auto left_over = next()) recycle(*left_over);
  buffer_bytes_ = buffer_bytes;
  most_ = std::min(most, kMost);
  ready_ = std::min(ready, most_);
  refused_ = 0;
  // Buffers that an earlier recording gave back to the system: touched again here, not on the
  // launching thread.
  const uint64_t free = free_.load(std::memory_order_acquire);
  for (size_t slot = 0; slot < count(); ++slot) {
    if ((free & bit_of(slot)) == 0) continue;
    for (size_t at = 0; at < slots_[slot].bytes; at += 4096)
      *static_cast<volatile uint8_t*>(slots_[slot].memory + at) = 0;
  }
  keep_ready();
}

void ActivityBuffers::keep_ready() {
  while (static_cast<size_t>(std::popcount(free_.load(std::memory_order_relaxed))) < ready_ &&
         add_slot()) {
  }
}

bool ActivityBuffers::add_slot() {
  const size_t slot = count();
  if (slot >= most_) return false;
  void* const memory = ::mmap(nullptr, buffer_bytes_, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) return false;
  slots_[slot].memory = static_cast<uint8_t*>(memory);
  slots_[slot].bytes = buffer_bytes_;
  count_.store(slot + 1, std::memory_order_release);
  free_.fetch_or(bit_of(slot), std::memory_order_release);
  return true;
}

std::span<uint8_t> ActivityBuffers::take() {
  uint64_t free = free_.load(std::memory_order_acquire);
  while (free != 0) {
    const auto slot = static_cast<size_t>(std::countr_zero(free));
    if (free_.compare_exchange_weak(free, free & ~bit_of(slot), std::memory_order_acquire))
      return {slots_[slot].memory, slots_[slot].bytes};
  }
  refused_.fetch_add(1, std::memory_order_relaxed);
  return {};
}

void ActivityBuffers::complete(const uint8_t* buffer, size_t valid_bytes) {
  const size_t slots = count_.load(std::memory_order_acquire);
  for (size_t slot = 0; slot < slots; ++slot) {
    if (slots_[slot].memory != buffer) continue;
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
  return Filled{{slots_[oldest].memory, slots_[oldest].valid_bytes}, oldest};
}

void ActivityBuffers::recycle(const Filled& filled) {
  std::memset(filled.records.data(), 0, filled.records.size());
  free_.fetch_or(bit_of(filled.slot), std::memory_order_release);
}

void ActivityBuffers::give_memory_back() {
  // Only those that nobody can be handed meanwhile.
  const uint64_t free = free_.exchange(0, std::memory_order_acquire);
  for (size_t slot = 0; slot < count(); ++slot) {
    if ((free & bit_of(slot)) != 0)
      ::madvise(slots_[slot].memory, slots_[slot].bytes, MADV_DONTNEED);
  }
  free_.fetch_or(free, std::memory_order_release);
}

}  // namespace stepscope::cupti
