// ShapeCache: Stepscope's ids of the texts that tell an operator's inputs, looked up without a
// lock.
//
// Inputs become a few numbers (what each is, its type, its sizes); a text is made only for numbers
// that were not seen before. Training repeats its shapes every step, so that hardly ever happens.
// One for each thread, at most kMostKeys of them.
#ifndef STEPSCOPE_TORCH_SHAPE_CACHE_H_
#define STEPSCOPE_TORCH_SHAPE_CACHE_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type_base.h>
#include <stepscope/record.h>

namespace stepscope_torch {

class ShapeCache {
 public:
  // 0 for operators without inputs, and for those whose inputs make too many numbers; the text
  // would be longer than any reader wants. `name` is the operator's.
  uint32_t id(uint32_t name, c10::ArrayRef<const c10::IValue> inputs) {
    if (inputs.empty()) return 0;
    // Steps repeat: what this operator got behind the last one's inputs before, it gets again.
    uint32_t& guess = guesses_[(last_ * 61 + name) % kGuesses];
    const Slot& expected = slots_[guess];
    Comparison same{keys_.data() + expected.first, keys_.data() + expected.first + expected.words};
    if (!add_all(inputs, same) || same.at != same.end) {
      const std::optional<uint32_t> found = find(inputs);
      if (!found) return 0;
      guess = *found;
    }
    last_ = guess;
    return slots_[guess].id;
  }

 private:
  static constexpr int kSlotBits = 13;
  static constexpr size_t kSlots = size_t{1} << kSlotBits;
  static constexpr size_t kMostKeys = kSlots / 2;
  static constexpr size_t kMostWords = 4096;
  static constexpr size_t kGuesses = 4096;

  // The words of an input: what it is, above its type and how many words follow.
  enum What : int64_t { kOther, kTensor, kUndefined, kScalar, kTensorList, kScalarList };
  struct Slot {
    uint64_t hash = 0;
    uint32_t first = 0;
    uint32_t words = 0;  // 0: free
    uint32_t id = 0;
  };

  // Where words go: into the key, or beside one that is known. False ends it.
  struct Comparison {
    const int64_t* at;
    const int64_t* end;
    bool put(int64_t word) { return at != end && *at++ == word; }
  };
  struct Key {
    size_t count = 0;
    int64_t words[kMostWords];
    bool put(int64_t word) {
      if (count >= kMostWords) return false;
      words[count++] = word;
      return true;
    }
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
    return std::equal(key_.words, key_.words + key_.count, words);
  }

  template <typename Words>
  static bool add_tensor(const at::Tensor& tensor, Words& words) {
    const c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
    // Symbolic and nested sizes are not numbers; asking for them throws.
    if (!tensor.defined() || impl->has_symbolic_sizes_strides() || tensor.is_nested())
      return words.put(head(kUndefined, 0, 0));
    const c10::IntArrayRef sizes = impl->sizes();
    if (!words.put(head(kTensor, static_cast<int64_t>(tensor.scalar_type()),
                        static_cast<int64_t>(sizes.size()))))
      return false;
    for (const int64_t size : sizes) {
      if (!words.put(size)) return false;
    }
    return true;
  }

  // IValue's own questions (isIntList) compare whole types, and take longer than all the rest.
  static c10::TypeKind element_kind(const c10::IValue& list) {
    const auto* const pointer =
        static_cast<const c10::intrusive_ptr_target*>(list.internalToPointer());
    return static_cast<const c10::detail::ListImpl*>(pointer)->elementType->kind();
  }

  template <typename Words>
  static bool add(const c10::IValue& input, Words& words) {
    if (input.isTensor()) return add_tensor(input.toTensor(), words);
    if (!input.isList()) return words.put(head(input.isScalar() ? kScalar : kOther, 0, 0));
    const c10::TypeKind kind = element_kind(input);
    if (kind != c10::TypeKind::TensorType) {
      const bool scalars = kind == c10::TypeKind::IntType || kind == c10::TypeKind::FloatType ||
                           kind == c10::TypeKind::BoolType;
      return words.put(head(scalars ? kScalarList : kOther, 0, 0));
    }
    const c10::ArrayRef<c10::IValue> tensors = input.toListRef();
    if (!words.put(head(kTensorList, 0, static_cast<int64_t>(tensors.size())))) return false;
    for (const c10::IValue& tensor : tensors) {
      if (!add_tensor(tensor.toTensor(), words)) return false;
    }
    return true;
  }

  template <typename Words>
  static bool add_all(c10::ArrayRef<const c10::IValue> inputs, Words& words) {
    for (const c10::IValue& input : inputs) {
      if (!add(input, words)) return false;
    }
    return true;
  }

  // The slot of inputs, a new one where they are. Empty when they do not fit into a key.
  std::optional<uint32_t> find(c10::ArrayRef<const c10::IValue> inputs) {
    key_.count = 0;
    if (!add_all(inputs, key_)) return std::nullopt;
    const uint64_t hash = hash_of(key_.words, key_.count);
    size_t at = hash >> (64 - kSlotBits);
    for (; slots_[at].words != 0; at = (at + 1) & (kSlots - 1)) {
      const Slot& slot = slots_[at];
      if (slot.hash == hash && slot.words == key_.count && is_key(&keys_[slot.first])) break;
    }
    if (slots_[at].words == 0) at = make(hash, at);
    return static_cast<uint32_t>(at);
  }

  // Returns the slot, which is another one when there were too many and all are forgotten.
  size_t make(uint64_t hash, size_t at) {
    const std::string text = key_text();
    const uint32_t id = stepscope_name(text.data(), text.size());
    if (known_ >= kMostKeys) {
      slots_.assign(kSlots, {});
      keys_.clear();
      known_ = 0;
      at = hash >> (64 - kSlotBits);
    }
    slots_[at] = {hash, static_cast<uint32_t>(keys_.size()), static_cast<uint32_t>(key_.count), id};
    keys_.insert(keys_.end(), key_.words, key_.words + key_.count);
    ++known_;
    return at;
  }

  // The words of Kineto's traces, so that what reads those reads ours.
  std::string key_text() const {
    std::string sizes;
    std::string types;
    for (size_t at = 0; at < key_.count;) {
      if (at != 0) {
        sizes += ',';
        types += ',';
      }
      const auto what = static_cast<What>(key_.words[at] >> 48);
      if (what == kTensorList) {
        size_t left = static_cast<uint32_t>(key_.words[at++]);
        sizes += '[';
        for (bool first = true; left > 0; --left, first = false) {
          if (!first) sizes += ',';
          at = tensor_text(at, sizes);
        }
        sizes += ']';
        types += "\"TensorList\"";
      } else {
        const auto type = static_cast<c10::ScalarType>(key_.words[at] >> 32 & 0xFFFF);
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
    const size_t count = static_cast<uint32_t>(key_.words[at]);
    sizes += '[';
    for (size_t i = 1; i <= count; ++i) {
      if (i != 1) sizes += ',';
      sizes += std::to_string(key_.words[at + i]);
    }
    sizes += ']';
    return at + 1 + count;
  }

  Key key_;  // of the operator at hand
  std::vector<int64_t> keys_;
  std::vector<Slot> slots_ = std::vector<Slot>(kSlots);
  size_t known_ = 0;
  uint32_t last_ = 0;                                                // the slot of the last inputs
  std::vector<uint32_t> guesses_ = std::vector<uint32_t>(kGuesses);  // slots
};

}  // namespace stepscope_torch

#endif  // STEPSCOPE_TORCH_SHAPE_CACHE_H_
