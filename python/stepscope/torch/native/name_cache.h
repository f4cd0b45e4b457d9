// NameCache: Stepscope's ids of operator names, looked up without a lock.
//
// A name that was seen before costs a comparison of its text: pointers alone prove nothing, because
// names of autograd's nodes and of the user's ranges lie in short-lived strings that reuse them.
// One for each thread.
#ifndef STEPSCOPE_TORCH_NAME_CACHE_H_
#define STEPSCOPE_TORCH_NAME_CACHE_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <unordered_map>

#include <stepscope/record.h>

namespace stepscope_torch {

class NameCache {
 public:
  uint32_t id(const char* name) {
    Slot& near = by_pointer_[slot_of(reinterpret_cast<uintptr_t>(name))];
    if (__builtin_expect(near.pointer == name && std::strcmp(near.text, name) == 0, 1))
      return near.id;
    return find(name, near);
  }

 private:
  static constexpr size_t kSlots = 512;        // models call 50 to 300 different operators
  static constexpr size_t kMostNames = 50000;  // of ranges whose names hold numbers

  struct Slot {
    const char* pointer = nullptr;
    const char* text = "";  // the key in known_
    uint32_t id = 0;
  };

  static size_t slot_of(uint64_t key) { return (key * 0x9E3779B97F4A7C15u) >> 55; }
  static_assert(kSlots == 1u << (64 - 55));

  // Length and both ends: tells operators apart well enough, and the text is compared anyway.
  static uint64_t ends_of(const char* name, size_t length) {
    uint64_t first = 0;
    uint64_t last = 0;
    const size_t bytes = length < 8 ? length : 8;
    std::memcpy(&first, name, bytes);
    std::memcpy(&last, name + length - bytes, bytes);
    return first ^ (last * 31) ^ length;
  }

  uint32_t find(const char* name, Slot& near) {
    const size_t length = std::strlen(name);
    Slot& same = by_content_[slot_of(ends_of(name, length))];
    if (same.id == 0 || std::strcmp(same.text, name) != 0) {
      if (known_.size() >= kMostNames) forget();
      const auto [entry, added] = known_.try_emplace(std::string(name, length), 0);
      if (added) entry->second = stepscope_name(name, length);
      same.text = entry->first.c_str();
      same.id = entry->second;
    }
    near = same;
    near.pointer = name;
    return same.id;
  }

  void forget() {
    for (Slot& slot : by_pointer_) slot = {};
    for (Slot& slot : by_content_) slot = {};
    known_.clear();
  }

  Slot by_pointer_[kSlots];
  Slot by_content_[kSlots];
  std::unordered_map<std::string, uint32_t> known_;  // its keys do not move
};

}  // namespace stepscope_torch

#endif  // STEPSCOPE_TORCH_NAME_CACHE_H_
