#include "base/string_pool.h"

#include <cstring>

#include "base/hash.h"

namespace stepscope {
namespace {
constexpr size_t kArenaBytes = 256 * 1024;
constexpr size_t kFirstSlots = 1024;
}  // namespace

StringPool::StringPool() : slots_(kFirstSlots, Slot{0, kNoString}) { intern(""); }

char* StringPool::allocate(size_t bytes) {
  if (bytes > arena_left_) {
    const size_t arena = bytes > kArenaBytes ? bytes : kArenaBytes;
    arenas_.push_back(std::make_unique_for_overwrite<char[]>(arena));
    arena_next_ = arenas_.back().get();
    arena_left_ = arena;
  }
  char* place = arena_next_;
  arena_next_ += bytes;
  arena_left_ -= bytes;
  return place;
}

StringId StringPool::intern(std::string_view text) {
  const uint64_t hash = hash_bytes(text);
  const auto tag = static_cast<uint32_t>(hash >> 32);
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  while (slots_[slot].id != kNoString) {
    if (slots_[slot].hash == tag && strings_[slots_[slot].id] == text) return slots_[slot].id;
    slot = (slot + 1) & mask;
  }
  const auto id = static_cast<StringId>(strings_.size());
  char* copy = allocate(text.size());
  if (!text.empty()) std::memcpy(copy, text.data(), text.size());
  strings_.emplace_back(copy, text.size());
  text_bytes_ += text.size();
  slots_[slot] = {tag, id};
  if (strings_.size() * 2 > slots_.size()) rehash();
  return id;
}

StringId StringPool::find(std::string_view text) const {
  const uint64_t hash = hash_bytes(text);
  const auto tag = static_cast<uint32_t>(hash >> 32);
  const size_t mask = slots_.size() - 1;
  for (size_t slot = hash & mask; slots_[slot].id != kNoString; slot = (slot + 1) & mask) {
    if (slots_[slot].hash == tag && strings_[slots_[slot].id] == text) return slots_[slot].id;
  }
  return kNoString;
}

void StringPool::rehash() {
  slots_.assign(slots_.size() * 2, Slot{0, kNoString});
  const size_t mask = slots_.size() - 1;
  for (StringId id = 0; id < strings_.size(); ++id) {
    const uint64_t hash = hash_bytes(strings_[id]);
    size_t slot = hash & mask;
    while (slots_[slot].id != kNoString) slot = (slot + 1) & mask;
    slots_[slot] = {static_cast<uint32_t>(hash >> 32), id};
  }
}

void StringRemap::extend(const StringPool& from, StringPool& to) {
  for (auto id = static_cast<StringId>(map_.size()); id < from.size(); ++id) {
    map_.push_back(to.intern(from.view(id)));
  }
}

}  // namespace stepscope
