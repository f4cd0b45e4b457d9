#include "importers/chrome/event_scanner.h"

#include <string>

#include "importers/chrome/json_text.h"

namespace stepscope {
namespace {

// An event that does not end within this many bytes is not waited for any longer but repaired or
// given up.
constexpr size_t kLongestEvent = 4 << 20;

std::string place(uint64_t offset) { return "byte " + std::to_string(offset); }

}  // namespace

ObjectWalker::Step EventScanner::read_event(const IndexedText& source, size_t& at, uint64_t offset,
                                            bool repaired, StagedChunk& chunk) {
  ObjectWalker walker(source, at);
  ChromeEvent event;
  event.offset = offset;
  event.repaired = repaired;
  const auto set = [&](std::string_view& field, std::string_view value) {
    if (field.data() != nullptr) chunk.quality.add(QualityCode::kDuplicateKey, place(offset));
    field = unquote(value);
  };
  std::string_view key;
  std::string_view value;
  Step step;
  while ((step = walker.next(key, value)) == Step::kPair) {
    switch (key.size()) {
      case 2:
        if (key == "ph")
          set(event.phase, value);
        else if (key == "ts")
          set(event.ts, value);
        else if (key == "id")
          set(event.id, value);
        break;
      case 3:
        if (key == "cat")
          set(event.cat, value);
        else if (key == "pid")
          set(event.pid, value);
        else if (key == "tid")
          set(event.tid, value);
        else if (key == "dur")
          set(event.dur, value);
        else if (key == "id2")
          set(event.id, value);
        break;
      case 4:
        if (key == "name") {
          set(event.name, value);
        } else if (key == "args") {
          event.args = value;
          event.args_walker = walker.inner();
        }
        break;
      default:
        break;
    }
  }
  if (step != Step::kDone) return step;
  at = walker.end();
  mapper.map(event);
  return step;
}

bool EventScanner::read_repaired(std::string_view text, uint64_t offset, StagedChunk& chunk) {
  std::string repaired = repair_event(text);
  const size_t size = repaired.size();
  repaired.append(kTextPadding, '\0');
  StructuralIndex index;
  index.build(repaired.data(), size);
  const IndexedText source{repaired.data(), size, index.begin(), index.size()};
  size_t at = 0;
  return index.size() > 0 && repaired[index.begin()[0]] == '{' &&
         read_event(source, at, offset, true, chunk) == Step::kDone;
}

void EventScanner::scan(const char* text, size_t size, uint64_t offset, bool is_last,
                        StagedChunk& chunk) {
  mapper.start_chunk(chunk, offset, text);
  const std::string_view whole(text, size);
  size_t base = 0;
  size_t at = 0;
  IndexedText source;
  const auto restart = [&](size_t from) {
    base = from;
    at = 0;
    index_.build(text + base, size - base);
    source = {text + base, size - base, index_.begin(), index_.size()};
  };
  restart(0);
  while (at < source.count) {
    const size_t position = base + source.positions[at];
    const char c = text[position];
    if (c == ',') {
      ++at;
      continue;
    }
    if (c == ']') {
      chunk.end = ChunkEnd::kArrayEnd;
      chunk.used_bytes = position;
      return;
    }
    Step step = Step::kBroken;
    if (c == '{') {
      step = read_event(source, at, offset + position, false, chunk);
      if (step == Step::kDone) continue;
      if (step == Step::kOutOfText && !is_last && size - position < kLongestEvent) {
        chunk.end = ChunkEnd::kIncomplete;
        chunk.used_bytes = position;
        return;
      }
    }
    // Not valid JSON. The event ends where the next one begins.
    const size_t next = next_event_start(whole, position + 1);
    if (next == std::string_view::npos && step == Step::kOutOfText && is_last) {
      chunk.quality.add(QualityCode::kTruncatedInput, place(offset + position));
      break;
    }
    std::string_view event =
        whole.substr(position, next == std::string_view::npos ? next : next - position);
    while (!event.empty() &&
           (event.back() == ',' || static_cast<unsigned char>(event.back()) <= ' ')) {
      event.remove_suffix(1);
    }
    if (c == '{' && read_repaired(event, offset + position, chunk)) {
      chunk.quality.add(QualityCode::kRepairedEvent, place(offset + position));
    } else {
      chunk.quality.add(QualityCode::kUnparsableEvent, place(offset + position));
    }
    if (next == std::string_view::npos) break;
    restart(next);
  }
  chunk.end = ChunkEnd::kComplete;
  chunk.used_bytes = size;
}

}  // namespace stepscope
