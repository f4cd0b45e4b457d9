// EventScanner: all events of one piece of a file. One per worker thread.
#ifndef STEPSCOPE_IMPORTERS_CHROME_EVENT_SCANNER_H_
#define STEPSCOPE_IMPORTERS_CHROME_EVENT_SCANNER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "importers/chrome/event_mapper.h"
#include "importers/chrome/object_walker.h"
#include "importers/chrome/staged_chunk.h"
#include "importers/chrome/structural_index.h"

namespace stepscope {

class EventScanner {
 public:
  explicit EventScanner(MapperOptions options) : mapper(options) {}

  // Reads text[0, size), which begins between two events and is followed by kTextPadding zero
  // bytes. `offset` is its place in the file's text. `is_last`: nothing follows, so what is
  // incomplete is lost. An event that is not valid JSON is repaired or counted, and reading goes on
  // at the next event. Costs time in proportion to the text also when every event is broken.
  void scan(const char* text, size_t size, uint64_t offset, bool is_last, StagedChunk& chunk);

  EventMapper mapper;

 private:
  using Step = ObjectWalker::Step;
  static constexpr size_t kNoMark = static_cast<size_t>(-1);

  // Reads the event at index `at` and moves `at` behind it. Text at or behind `mark` is not valid
  // JSON: an event that reaches it is broken.
  Step read_event(const IndexedText& source, size_t& at, size_t mark, uint64_t offset,
                  bool repaired, StagedChunk& chunk);
  // Repairs and reads the event at the start of `text`; `used` is set to its length there.
  bool read_repaired(std::string_view text, uint64_t offset, StagedChunk& chunk, size_t& used);

  // Where reading a piece stands.
  void index_from(size_t from, size_t bytes);
  bool all_indexed() const { return base_ + source_.size == whole_.size(); }
  // Goes on at `to`, with the index that is there when it is right about that place.
  void go_on_at(size_t to);
  size_t mark_behind(size_t position);
  // Where the list goes on behind the ] at `position`, which then belongs to a list inside a broken
  // event; npos when it is the end.
  size_t list_goes_on_at(size_t position) const;
  // Entries that are no objects are counted one by one as events that cannot be read. A number,
  // word or string between `from` and the indexed character `next`:
  void count_bare_value(size_t from, size_t next, uint64_t offset, StagedChunk& chunk);
  // Goes on behind the list that begins at `position`; false when it may be more than such an
  // entry.
  bool skip_list(size_t position, uint64_t offset, StagedChunk& chunk);
  enum class Outcome : uint8_t { kGoOn, kIncomplete, kGiveUp };
  Outcome handle_broken(size_t position, Step step, uint64_t offset, bool is_last,
                        StagedChunk& chunk);

  StructuralIndex index_;
  StructuralIndex repaired_index_;
  std::string_view whole_;
  IndexedText source_;  // the part of the piece that is indexed, from base_ on
  size_t base_ = 0;
  size_t at_ = 0;      // in the index
  size_t mark_ = 0;    // in the index's marks
  size_t resume_ = 0;  // everything before this position is done
};

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_CHROME_EVENT_SCANNER_H_
