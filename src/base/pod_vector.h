// PodVector<T>: a growing array of trivially copyable records that never copies to grow.
//
// realloc of a large block is a page-table move (mremap) on Linux, so a vector of hundreds of
// megabytes grows without the 2x peak and without the second first-touch that std::vector pays.
// First touch of memory is what bounds a large import, see docs/performance.md. Allocation failure
// throws std::bad_alloc and leaves the vector as it was.
#ifndef STEPSCOPE_BASE_POD_VECTOR_H_
#define STEPSCOPE_BASE_POD_VECTOR_H_

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "base/sanitizers.h"

namespace stepscope {

template <typename T>
class PodVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  PodVector() = default;
  PodVector(PodVector&& other) noexcept { swap(other); }
  PodVector& operator=(PodVector&& other) noexcept {
    swap(other);
    return *this;
  }
  PodVector(const PodVector&) = delete;
  PodVector& operator=(const PodVector&) = delete;
  ~PodVector() { give_back(); }

  void push_back(const T& value) {
    if (size_ == capacity_) {
      const T copy = value;  // `value` may live in the block that is about to move
      grow(size_ + 1);
      data_[size_++] = copy;
      return;
    }
    data_[size_++] = value;
  }
  void append(const T* values, size_t count) {
    if (count == 0) return;
    if (size_ + count > capacity_) grow(size_ + count);
    std::memcpy(static_cast<void*>(data_ + size_), values, count * sizeof(T));
    size_ += count;
  }
  // Makes room for `count` elements; new elements are left uninitialised.
  void resize_uninitialised(size_t count) {
    if (count > capacity_) grow(count);
    size_ = count;
  }
  void clear() { size_ = 0; }
  void release() { PodVector().swap(*this); }
  void swap(PodVector& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(mapped_bytes_, other.mapped_bytes_);
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](size_t index) { return data_[index]; }
  const T& operator[](size_t index) const { return data_[index]; }
  T& back() { return data_[size_ - 1]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::span<const T> span() const { return {data_, size_}; }

 private:
  static constexpr size_t kMappedBytes = 256 * 1024;  // blocks from this size on are mapped
  static constexpr size_t kPageBytes = 4096;
  static constexpr size_t kLargePagesFromBytes = 16 << 20;

  void grow(size_t needed) {
    size_t capacity = capacity_ + capacity_ / 2 + 8;
    if (capacity < needed) capacity = needed;
    size_t bytes = capacity * sizeof(T);
    void* moved = nullptr;
    if (bytes < kMappedBytes) {
      moved = std::realloc(static_cast<void*>(data_), bytes);
    } else {
      bytes = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
      moved = is_mapped() ? remap(bytes) : map(bytes);
      if (moved == MAP_FAILED) throw std::bad_alloc();
      // Large pages halve the cost of first touch; they are not used where they would waste much.
      if (bytes >= kLargePagesFromBytes) ::madvise(moved, bytes, MADV_HUGEPAGE);
      if (!is_mapped() && data_ != nullptr) {
        std::memcpy(moved, static_cast<const void*>(data_), size_ * sizeof(T));
        std::free(static_cast<void*>(data_));
      }
      mapped_bytes_ = bytes;
    }
    if (moved == nullptr) throw std::bad_alloc();
    data_ = static_cast<T*>(moved);
    capacity_ = bytes / sizeof(T);
  }
  static void* map(size_t bytes) {
    return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  void* remap(size_t bytes) {
    if constexpr (!kThreadSanitizer) {
      return ::mremap(static_cast<void*>(data_), mapped_bytes_, bytes, MREMAP_MAYMOVE);
    }
    // The thread sanitizer does not see mremap: it would take the next owner of the pages that were
    // left, or grown into, for a second writer of this block.
    void* moved = map(bytes);
    if (moved == MAP_FAILED) return moved;
    std::memcpy(moved, static_cast<const void*>(data_), size_ * sizeof(T));
    ::munmap(static_cast<void*>(data_), mapped_bytes_);
    return moved;
  }
  bool is_mapped() const { return mapped_bytes_ != 0; }
  void give_back() {
    if (is_mapped()) {
      ::munmap(static_cast<void*>(data_), mapped_bytes_);
    } else {
      std::free(static_cast<void*>(data_));
    }
  }

  T* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
  size_t mapped_bytes_ = 0;  // 0: the block is malloc's
};

}  // namespace stepscope

#endif  // STEPSCOPE_BASE_POD_VECTOR_H_
