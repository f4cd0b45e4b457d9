#include "importers/chrome/event_scanner.h"

#include <algorithm>
#include <string>

#include "importers/chrome/json_text.h"

namespace stepscope {
namespace {

// An event that does not end within this many bytes is not waited for any longer but repaired or
// given up.
constexpr size_t kLongestEvent = 4 << 20;
// How much is indexed at first behind an event that put the index out of step. Grows fourfold while
// all goes well.
constexpr size_t kFreshWindow = 16 * 1024;

// Of a list between the events, in brackets and commas; longer ones are resynchronised like an
// event.
constexpr size_t kLongestList = 1024;

std::string place(uint64_t offset) { return "byte " + std::to_string(offset); }

}  // namespace

ObjectWalker::Step EventScanner::read_event(const IndexedText& source, size_t& at, size_t mark,
                                            uint64_t offset, bool repaired, StagedChunk& chunk) {
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
  if (source.positions[walker.end() - 1] > mark) return Step::kBroken;
  at = walker.end();
  mapper.map(event);
  return step;
}

bool EventScanner::read_repaired(std::string_view text, uint64_t offset, StagedChunk& chunk,
                                 size_t& used) {
  std::string repaired = repair_event(text, &used);
  const size_t size = repaired.size();
  repaired.append(kTextPadding, '\0');
  repaired_index_.build(repaired.data(), size);
  const IndexedText source{repaired.data(), size, repaired_index_.begin(), repaired_index_.size()};
  size_t at = 0;
  return source.count > 0 && repaired[source.positions[0]] == '{' &&
         read_event(source, at, kNoMark, offset, true, chunk) == Step::kDone;
}

void EventScanner::index_from(size_t from, size_t bytes) {
  base_ = from;
  at_ = 0;
  mark_ = 0;
  const size_t size = std::min(bytes, whole_.size() - from);
  index_.build(whole_.data() + from, size);
  source_ = {whole_.data() + from, size, index_.begin(), index_.size()};
}

void EventScanner::go_on_at(size_t to) {
  resume_ = to;
  const auto* const end = source_.positions + source_.count;
  const auto* const found = std::lower_bound(source_.positions + at_, end, to - base_);
  if (found != end && *found == to - base_) {
    at_ = static_cast<size_t>(found - source_.positions);
  } else {
    index_from(to, kFreshWindow);
  }
}

size_t EventScanner::mark_behind(size_t position) {
  const auto& marks = index_.marks();
  while (mark_ < marks.size() && base_ + marks[mark_] < position) ++mark_;
  return mark_ < marks.size() ? marks[mark_] : kNoMark;
}

size_t EventScanner::list_goes_on_at(size_t position) const {
  const size_t next = next_event_start(whole_, position + 1);
  const bool is_event = next != std::string_view::npos &&
                        whole_.substr(next, 512).find("\"ph\"") != std::string_view::npos;
  return is_event ? next : std::string_view::npos;
}

void EventScanner::count_bare_value(size_t from, size_t next, uint64_t offset, StagedChunk& chunk) {
  if (next >= source_.count) return;
  const size_t end = base_ + source_.positions[next];
  while (from < end && static_cast<unsigned char>(whole_[from]) <= ' ') ++from;
  if (from < end && (whole_[end] == ',' || whole_[end] == ']'))
    chunk.quality.add(QualityCode::kUnparsableEvent, place(offset + from));
}

bool EventScanner::skip_list(size_t position, uint64_t offset, StagedChunk& chunk) {
  const size_t mark = mark_behind(position);
  size_t depth = 0;
  for (size_t at = at_; at + 1 < source_.count && at - at_ < kLongestList; ++at) {
    const char c = source_.text[source_.positions[at]];
    if (c == '{') return false;  // may be an event
    if (c == '[') ++depth;
    if (c != ']' || --depth > 0) continue;
    const char behind = source_.text[source_.positions[at + 1]];
    if (source_.positions[at] > mark || (behind != ',' && behind != ']')) return false;
    chunk.quality.add(QualityCode::kUnparsableEvent, place(offset + position));
    resume_ = base_ + source_.positions[at] + 1;
    at_ = at + 1;
    return true;
  }
  return false;
}

EventScanner::Outcome EventScanner::handle_broken(size_t position, Step step, uint64_t offset,
                                                  bool is_last, StagedChunk& chunk) {
  // The event ends where the next one begins.
  const size_t next = next_event_start(whole_, position + 1);
  const bool has_next = next != std::string_view::npos;
  const size_t mark = mark_behind(position);
  const bool is_marked = mark != kNoMark && base_ + mark < next;
  if (step == Step::kOutOfText && !is_marked && !all_indexed()) {
    resume_ = position;
    index_from(position, source_.size * 4);
    return Outcome::kGoOn;
  }
  if (!has_next && !is_last && whole_.size() - position < kLongestEvent) {
    chunk.end = ChunkEnd::kIncomplete;
    chunk.used_bytes = position;
    return Outcome::kIncomplete;
  }
  const std::string_view event = whole_.substr(position, has_next ? next - position : next);
  size_t used = 0;
  const bool is_object = whole_[position] == '{';
  if (is_object && (has_next || is_marked || step != Step::kOutOfText) &&
      read_repaired(event, offset + position, chunk, used)) {
    chunk.quality.add(QualityCode::kRepairedEvent, place(offset + position));
    go_on_at(has_next ? next : position + used);
    return Outcome::kGoOn;
  }
  const bool cut = !has_next && is_last && step == Step::kOutOfText;
  chunk.quality.add(cut ? QualityCode::kTruncatedInput : QualityCode::kUnparsableEvent,
                    place(offset + position));
  if (has_next) {
    go_on_at(next);
    return Outcome::kGoOn;
  }
  // The last event; the end of the list may still be found behind it.
  if (cut || used == 0 || used >= event.size()) return Outcome::kGiveUp;
  go_on_at(position + used);
  return Outcome::kGoOn;
}

void EventScanner::scan(const char* text, size_t size, uint64_t offset, bool is_last,
                        StagedChunk& chunk) {
  mapper.start_chunk(chunk, offset, text);
  whole_ = {text, size};
  resume_ = 0;
  index_from(0, size);
  count_bare_value(0, 0, offset, chunk);
  while (true) {
    if (at_ >= source_.count) {
      if (all_indexed()) break;
      index_from(resume_, source_.size * 4);
      continue;
    }
    const size_t position = base_ + source_.positions[at_];
    const char c = text[position];
    if (c == ',') {
      count_bare_value(position + 1, at_ + 1, offset, chunk);
      ++at_;
      continue;
    }
    if (c == '[' && skip_list(position, offset, chunk)) continue;
    if (c == ']' && list_goes_on_at(position) == std::string_view::npos) {
      const bool is_sure = is_last || size - position >= kLongestEvent;
      chunk.end = is_sure ? ChunkEnd::kArrayEnd : ChunkEnd::kIncomplete;
      chunk.used_bytes = position;
      return;
    }
    Step step = Step::kBroken;
    if (c == '{') {
      step = read_event(source_, at_, mark_behind(position), offset + position, false, chunk);
      if (step == Step::kDone) {
        resume_ = base_ + source_.positions[at_ - 1] + 1;
        continue;
      }
    }
    const Outcome outcome = handle_broken(position, step, offset, is_last, chunk);
    if (outcome == Outcome::kIncomplete) return;
    if (outcome == Outcome::kGiveUp) break;
  }
  chunk.end = ChunkEnd::kComplete;
  chunk.used_bytes = size;
}

}  // namespace stepscope
