// StringPool: every distinct string once, named by a dense 32-bit id in order of first use.
//
// Not thread-safe: each parsing thread owns one and merges it into the rank's pool (`StringRemap`).
// A lookup of a known string costs one hash and one comparison.
#ifndef STEPSCOPE_BASE_STRING_POOL_H_
#define STEPSCOPE_BASE_STRING_POOL_H_

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace stepscope {

using StringId = uint32_t;
inline constexpr StringId kEmptyString = 0;         // the pool's first string is always ""
inline constexpr StringId kNoString = 0xFFFFFFFFu;  // NULL in SQL

class StringPool {
 public:
  StringPool();

  StringId intern(std::string_view text);
  // The id of a string that is already there, or kNoString.
  StringId find(std::string_view text) const;
  std::string_view view(StringId id) const { return strings_[id]; }
  size_t size() const { return strings_.size(); }
  // Bytes of all strings together, without bookkeeping.
  size_t text_bytes() const { return text_bytes_; }

 private:
  struct Slot {
    uint32_t hash;
    StringId id;
  };
  char* allocate(size_t bytes);
  void rehash();

  std::vector<std::string_view> strings_;
  std::vector<Slot> slots_;  // power-of-two open addressing; id == kNoString marks a free slot
  std::vector<std::unique_ptr<char[]>> arenas_;
  size_t arena_left_ = 0;
  char* arena_next_ = nullptr;
  size_t text_bytes_ = 0;
};

// Translates ids of one pool into ids of another, extended as the source grows.
class StringRemap {
 public:
  // Interns the strings of `from` that were added since the last call.
  void extend(const StringPool& from, StringPool& to);
  StringId operator()(StringId id) const { return id == kNoString ? kNoString : map_[id]; }

 private:
  std::vector<StringId> map_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_BASE_STRING_POOL_H_
