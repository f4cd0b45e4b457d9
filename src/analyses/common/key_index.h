// Dense numbers for combinations of ids: the groups of a "group by", without strings. A lookup is a
// hash and one comparison; groups are numbered in order of first use.
#ifndef STEPSCOPE_ANALYSES_COMMON_KEY_INDEX_H_
#define STEPSCOPE_ANALYSES_COMMON_KEY_INDEX_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stepscope {

inline constexpr uint32_t kNoGroup = 0xFFFFFFFFu;

template <size_t N>
class KeyIndex {
 public:
  using Key = std::array<int64_t, N>;

  KeyIndex() : slots_(kFirstSlots, kNoGroup) {}

  uint32_t group(const Key& key) {
    // Neighbouring rows often belong to one group.
    if (last_ != kNoGroup && keys_[last_] == key) return last_;
    size_t slot = hash(key) & (slots_.size() - 1);
    while (slots_[slot] != kNoGroup && keys_[slots_[slot]] != key)
      slot = (slot + 1) & (slots_.size() - 1);
    if (slots_[slot] == kNoGroup) {
      slots_[slot] = static_cast<uint32_t>(keys_.size());
      keys_.push_back(key);
      last_ = slots_[slot];
      if (keys_.size() * 2 > slots_.size()) grow();
      return last_;
    }
    return last_ = slots_[slot];
  }

  size_t size() const { return keys_.size(); }
  const Key& key(uint32_t group) const { return keys_[group]; }

 private:
  static constexpr size_t kFirstSlots = 256;

  static size_t hash(const Key& key) {
    uint64_t value = 0;
    for (const int64_t part : key) {
      value = (value ^ static_cast<uint64_t>(part)) * 0x9E3779B97F4A7C15ull;
      value ^= value >> 29;
    }
    return value;
  }
  void grow() {
    slots_.assign(slots_.size() * 2, kNoGroup);
    for (uint32_t group = 0; group < keys_.size(); ++group) {
      size_t slot = hash(keys_[group]) & (slots_.size() - 1);
      while (slots_[slot] != kNoGroup) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = group;
    }
  }

  std::vector<Key> keys_;
  std::vector<uint32_t> slots_;  // a power of two
  uint32_t last_ = kNoGroup;
};

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_COMMON_KEY_INDEX_H_
