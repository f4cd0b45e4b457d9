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
  // at the next event.
  void scan(const char* text, size_t size, uint64_t offset, bool is_last, StagedChunk& chunk);

  EventMapper mapper;

 private:
  using Step = ObjectWalker::Step;
  Step read_event(const IndexedText& source, size_t& at, uint64_t offset, bool repaired,
                  StagedChunk& chunk);
  bool read_repaired(std::string_view text, uint64_t offset, StagedChunk& chunk);

  StructuralIndex index_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_CHROME_EVENT_SCANNER_H_
