// ShapeCache: Stepscope's ids of the texts that tell an operator's inputs, looked up without a
// lock.
//
// Inputs become a few numbers (what each is, its type, its sizes); a text is made only for numbers
// that were not seen before. Training repeats its shapes every step, so that hardly ever happens.
// One for each thread, at most kMostKeys of them.
#ifndef STEPSCOPE_TORCH_SHAPE_CACHE_H_
#define STEPSCOPE_TORCH_SHAPE_CACHE_H_

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <stepscope/record.h>

namespace stepscope_torch {

class ShapeCache {
 public:
  // 0 for operators without inputs, and for those whose inputs make too many numbers; the text
  // would be longer than any reader wants.
  uint32_t id(c10::ArrayRef<const c10::IValue> inputs) {
    if (inputs.empty()) return 0;
    key_words_ = 0;
    for (const c10::IValue& input : inputs) {
      if (!add(input)) return 0;
    }
    const uint64_t hash = hash_of(key_, key_words_);
    for (size_t at = hash >> (64 - kSlotBits);; at = (at + 1) & (kSlots - 1)) {
      const Slot& slot = slots_[at];
      if (slot.words == 0) return make(hash, at);
      if (slot.hash == hash && slot.words == key_words_ && is_key(&keys_[slot.first]))
        return slot.id;
    }
  }

 private:
  static constexpr int kSlotBits = 13;
  static constexpr size_t kSlots = size_t{1} << kSlotBits;
  static constexpr size_t kMostKeys = kSlots / 2;
  static constexpr size_t kMostWords = 4096;

  // The words of an input: what it is, above its type and how many words follow.
  enum What : int64_t { kOther, kTensor, kUndefined, kScalar, kTensorList, kScalarList };
  struct Slot {
    uint64_t hash = 0;
    uint32_t first = 0;
    uint32_t words = 0;  // 0: free
    uint32_t id = 0;
  };

  static int64_t head(What what, int64_t type, int64_t count) {
    return what << 48 | type << 32 | count;
  }

  // Two chains, because each multiplication waits for the one before it.
  static uint64_t hash_of(const int64_t* words, size_t count) {
    constexpr uint64_t kFactor = 0x9E3779B97F4A7C15u;
    uint64_t even = count;
    uint64_t odd = kFactor;
    size_t at = 0;
    for (; at + 1 < count; at += 2) {
      even = std::rotl((even ^ static_cast<uint64_t>(words[at])) * kFactor, 29);
      odd = std::rotl((odd ^ static_cast<uint64_t>(words[at + 1])) * kFactor, 29);
    }
    if (at < count) even = std::rotl((even ^ static_cast<uint64_t>(words[at])) * kFactor, 29);
    return (even ^ odd) * kFactor;
  }

  bool is_key(const int64_t* words) const {
    for (size_t at = 0; at < key_words_; ++at) {
      if (words[at] != key_[at]) return false;
    }
    return true;
  }

  // False when the key is full.
  bool add_tensor(const at::Tensor& tensor) {
    const c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
    // Symbolic and nested sizes are not numbers; asking for them throws.
    if (!tensor.defined() || impl->has_symbolic_sizes_strides() || tensor.is_nested())
      return add_head(kUndefined, 0, 0);
    const c10::IntArrayRef sizes = impl->sizes();
    if (key_words_ + sizes.size() >= kMostWords) return false;
    int64_t* words = key_ + key_words_;
    *words++ = head(kTensor, static_cast<int64_t>(tensor.scalar_type()),
                    static_cast<int64_t>(sizes.size()));
    for (const int64_t size : sizes) *words++ = size;
    key_words_ += 1 + sizes.size();
    return true;
  }

  bool add_head(What what, int64_t type, size_t count) {
    if (key_words_ >= kMostWords) return false;
    key_[key_words_++] = head(what, type, static_cast<int64_t>(count));
    return true;
  }

  bool add(const c10::IValue& input) {
    if (input.isTensor()) return add_tensor(input.toTensor());
    if (input.isNone()) return add_head(kOther, 0, 0);
    if (input.isScalar()) return add_head(kScalar, 0, 0);
    if (!input.isList()) return add_head(kOther, 0, 0);
    if (!input.isTensorList()) {
      const bool scalars = input.isIntList() || input.isDoubleList() || input.isBoolList();
      return add_head(scalars ? kScalarList : kOther, 0, 0);
    }
    const c10::ArrayRef<c10::IValue> tensors = input.toListRef();
    if (!add_head(kTensorList, 0, tensors.size())) return false;
    for (const c10::IValue& tensor : tensors) {
      if (!add_tensor(tensor.toTensor())) return false;
    }
    return true;
  }

  uint32_t make(uint64_t hash, size_t at) {
    const std::string text = key_text();
    const uint32_t id = stepscope_name(text.data(), text.size());
    if (known_ >= kMostKeys) {
      slots_.assign(kSlots, {});
      keys_.clear();
      known_ = 0;
      at = hash >> (64 - kSlotBits);
    }
    slots_[at] = {hash, static_cast<uint32_t>(keys_.size()), static_cast<uint32_t>(key_words_), id};
    keys_.insert(keys_.end(), key_, key_ + key_words_);
    ++known_;
    return id;
  }

  // The words of Kineto's traces, so that what reads those reads ours.
  std::string key_text() const {
    std::string sizes;
    std::string types;
    for (size_t at = 0; at < key_words_;) {
      if (at != 0) {
        sizes += ',';
        types += ',';
      }
      const auto what = static_cast<What>(key_[at] >> 48);
      if (what == kTensorList) {
        size_t left = static_cast<uint32_t>(key_[at++]);
        sizes += '[';
        for (bool first = true; left > 0; --left, first = false) {
          if (!first) sizes += ',';
          at = tensor_text(at, sizes);
        }
        sizes += ']';
        types += "\"TensorList\"";
      } else {
        const auto type = static_cast<c10::ScalarType>(key_[at] >> 32 & 0xFFFF);
        types += '"';
        if (what == kTensor) types += c10::scalarTypeToTypeMeta(type).name();
        if (what == kScalar) types += "Scalar";
        if (what == kScalarList) types += "ScalarList";
        types += '"';
        at = tensor_text(at, sizes);
      }
    }
    return "{\"Input Dims\":[" + sizes + "],\"Input type\":[" + types + "]}";
  }

  size_t tensor_text(size_t at, std::string& sizes) const {
    const size_t count = static_cast<uint32_t>(key_[at]);
    sizes += '[';
    for (size_t i = 1; i <= count; ++i) {
      if (i != 1) sizes += ',';
      sizes += std::to_string(key_[at + i]);
    }
    sizes += ']';
    return at + 1 + count;
  }

  size_t key_words_ = 0;
  int64_t key_[kMostWords];  // of the operator at hand
  std::vector<int64_t> keys_;
  std::vector<Slot> slots_ = std::vector<Slot>(kSlots);
  size_t known_ = 0;
};

}  // namespace stepscope_torch

#endif  // STEPSCOPE_TORCH_SHAPE_CACHE_H_
