#include "collector/lasting_rows.h"

#include <algorithm>
#include <array>

#include "base/json_text.h"

namespace stepscope {
namespace {

// Of other notes the last one counts.
constexpr std::array<std::string_view, 5> kRepeated = {"not_honoured", "source_left_out",
                                                       "torch_thread", "python_threads", "device"};

}  // namespace

void LastingRows::add(const RawTableLayout& layout, int64_t key,
                      std::initializer_list<int64_t> row) {
  if (writes_) chunk_.table(layout, key).add(row);
  if (!keeps_) return;
  if (kept_.bytes() >= kMostBytes) {
    ++left_out_;
    return;
  }
  kept_.table(layout, key).add(row);
}

void LastingRows::add_note(std::string_view name, std::string_view json) {
  if (writes_) chunk_.add_note(name, json);
  if (!keeps_) return;
  const bool repeated = std::find(kRepeated.begin(), kRepeated.end(), name) != kRepeated.end();
  const auto known = std::find_if(notes_.begin(), notes_.end(), [&](const auto& note) {
    return note.first == name && (!repeated || note.second == json);
  });
  const size_t before = known == notes_.end() ? 0 : known->second.size();
  const size_t added = known == notes_.end() ? name.size() + json.size() : json.size();
  if (note_bytes_ - before + added > kMostNoteBytes) {
    ++left_out_;
    return;
  }
  note_bytes_ += added - before;
  if (known == notes_.end()) {
    notes_.emplace_back(name, json);
  } else {
    known->second = json;
  }
}

std::span<const std::byte> LastingRows::pack(uint64_t number) {
  for (const auto& [name, json] : notes_) kept_.add_note(name, json);
  if (left_out_ > 0) {
    kept_.add_note("source_left_out", JsonObject()
                                          .add("source", std::to_string(left_out_) +
                                                             " names of threads, frames and others")
                                          .add("why", "a watch keeps 16 MiB of them")
                                          .text());
  }
  return kept_.pack_and_keep_rows(number);
}

}  // namespace stepscope
