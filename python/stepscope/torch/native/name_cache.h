// NameCache: Stepscope's ids of operator names, looked up without a lock.
//
// Names of operators lie in torch's registry and are known by their address, until operators are
// taken out (forget() then). Those of autograd's nodes and of the user's ranges lie in short-lived
// strings that reuse addresses: their text is compared. One for each thread.
#ifndef STEPSCOPE_TORCH_NAME_CACHE_H_
#define STEPSCOPE_TORCH_NAME_CACHE_H_

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <unordered_map>

#include <ATen/record_function.h>
#include <stepscope/record.h>

namespace stepscope_torch {

class NameCache {
 public:
  uint32_t id(const at::RecordFunction& function) {
    const char* const name = function.name();
    const size_t at = slot_of(reinterpret_cast<uintptr_t>(name));
    if (__builtin_expect(operators_[at].name == name, 1)) return operators_[at].id;
    if (operators_[at ^ 1].name == name) return operators_[at ^ 1].id;
    return find(function, name, at);
  }

  void forget() {
    for (Operator& slot : operators_) slot = {};
    for (Text& slot : texts_) slot = {};
    known_.clear();
  }

 private:
  static constexpr size_t kSlots = 512;        // models call 50 to 300 different operators
  static constexpr size_t kMostNames = 50000;  // of ranges whose names hold numbers

  struct Operator {
    const char* name = nullptr;
    uint32_t id = 0;
  };
  struct Text {
    const char* text = "";  // the key in known_
    uint32_t id = 0;
    uint32_t next = 0;  // the slot of the text that came behind it
  };

  static size_t slot_of(uint64_t key) { return (key * 0x9E3779B97F4A7C15u) >> 55; }
  static_assert(kSlots == 1u << (64 - 55));

  // Eight bytes at a time: autograd's names share their ends and often their lengths.
  static uint64_t hash_of(const char* name, size_t length) {
    uint64_t hash = length;
    size_t at = 0;
    for (; at + 8 <= length; at += 8) {
      uint64_t word;
      std::memcpy(&word, name + at, 8);
      hash = std::rotl((hash ^ word) * 0x9E3779B97F4A7C15u, 31);
    }
    uint64_t rest = 0;
    std::memcpy(&rest, name + at, length - at);
    return hash ^ rest;
  }

  uint32_t find(const at::RecordFunction& function, const char* name, size_t at) {
    // Steps repeat: behind the last text comes the one that came behind it before.
    const Text& expected = texts_[texts_[last_].next];
    if (expected.id != 0 && std::strcmp(expected.text, name) == 0) {
      last_ = texts_[last_].next;
      return expected.id;
    }
    const size_t length = std::strlen(name);
    const size_t slot = slot_of(hash_of(name, length));
    texts_[last_].next = static_cast<uint32_t>(slot);
    last_ = slot;
    Text& same = texts_[slot];
    if (same.id == 0 || std::strcmp(same.text, name) != 0) {
      if (known_.size() >= kMostNames) forget();
      const auto [entry, added] = known_.try_emplace(std::string(name, length), 0);
      if (added) entry->second = stepscope_name(name, length);
      same.text = entry->first.c_str();
      same.id = entry->second;
    }
    // Asked only here, because the answer is a copy of the name.
    if (function.operator_name()) {
      operators_[operators_[at].name == nullptr ? at : at ^ 1] = {name, same.id};
    }
    return same.id;
  }

  Operator operators_[kSlots];
  Text texts_[kSlots];
  size_t last_ = 0;                                  // the slot of the last text
  std::unordered_map<std::string, uint32_t> known_;  // its keys do not move
};

}  // namespace stepscope_torch

#endif  // STEPSCOPE_TORCH_NAME_CACHE_H_
