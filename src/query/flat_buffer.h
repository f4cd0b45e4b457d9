// FlatBuilder: the little of FlatBuffers that the heads of Arrow messages need.
//
// Built back to front, as the format wants it: what is referred to is written first, and a place is
// its distance from the end. Fields are added in any order between start_table and end_table.
#ifndef STEPSCOPE_QUERY_FLAT_BUFFER_H_
#define STEPSCOPE_QUERY_FLAT_BUFFER_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope {

class FlatBuilder {
 public:
  using Place = uint32_t;

  Place text(std::string_view value) {
    align(4, value.size() + 1);
    push_bytes("\0", 1);
    push_bytes(value.data(), value.size());
    push(static_cast<uint32_t>(value.size()));
    return place();
  }

  Place places(std::span<const Place> items) {
    align(4, items.size() * 4);
    for (size_t i = items.size(); i-- > 0;) push_offset(items[i]);
    push(static_cast<uint32_t>(items.size()));
    return place();
  }

  // Structs that are `size` bytes each, of 8-byte fields.
  Place structs(const void* items, size_t count, size_t size) {
    align(8, count * size);
    push_bytes(items, count * size);
    push(static_cast<uint32_t>(count));
    return place();
  }

  void start_table() {
    fields_.clear();
    table_end_ = place();
  }
  template <typename Number>
  void field(size_t slot, Number value) {
    align(sizeof value, 0);
    push(value);
    fields_.push_back({slot, place()});
  }
  void field_place(size_t slot, Place target) {
    align(4, 0);
    push_offset(target);
    fields_.push_back({slot, place()});
  }
  Place end_table() {
    align(4, 0);
    push(int32_t{0});  // distance to the vtable, filled in below
    const Place table = place();
    size_t slots = 0;
    for (const Field& field : fields_) slots = std::max(slots, field.slot + 1);
    std::vector<uint16_t> vtable(slots);
    for (const Field& field : fields_) {
      vtable[field.slot] = static_cast<uint16_t>(table - field.place);
    }
    for (size_t i = slots; i-- > 0;) push(vtable[i]);
    push(static_cast<uint16_t>(table - table_end_));
    push(static_cast<uint16_t>(4 + 2 * slots));
    const int32_t distance = static_cast<int32_t>(place() - table);
    std::memcpy(reversed_end() - table, &distance, sizeof distance);
    return table;
  }

  std::string finish(Place root) {
    align(8, 4);
    push_offset(root);
    return {reversed_end() - place(), place()};
  }

 private:
  struct Field {
    size_t slot;
    Place place;
  };

  Place place() const { return static_cast<Place>(used_); }
  // One past the last byte of the buffer; bytes are filled downwards from here.
  char* reversed_end() { return bytes_.data() + bytes_.size(); }

  void push_bytes(const void* data, size_t count) {
    if (used_ + count > bytes_.size()) {
      std::string larger(std::max(bytes_.size() * 2, used_ + count + 256), '\0');
      std::memcpy(larger.data() + larger.size() - used_, reversed_end() - used_, used_);
      bytes_.swap(larger);
    }
    used_ += count;
    if (count > 0) std::memcpy(reversed_end() - used_, data, count);
  }
  template <typename Number>
  void push(Number value) {
    push_bytes(&value, sizeof value);
  }
  void push_offset(Place target) { push(static_cast<uint32_t>(place() + 4 - target)); }
  // So that after `more` bytes the place is a multiple of `size`.
  void align(size_t size, size_t more) {
    while ((used_ + more) % size != 0) push_bytes("\0", 1);
  }

  std::string bytes_ = std::string(1024, '\0');
  size_t used_ = 0;
  std::vector<Field> fields_;
  Place table_end_ = 0;
};

}  // namespace stepscope

#endif  // STEPSCOPE_QUERY_FLAT_BUFFER_H_
