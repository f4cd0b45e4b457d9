#include "importers/chrome/chunk_feed.h"

#include <cstring>
#include <string_view>

#include "importers/chrome/json_text.h"
#include "importers/chrome/structural_index.h"

namespace stepscope {
namespace {

constexpr size_t kHeadStep = 256 * 1024;
constexpr size_t kLongestHead = 64 << 20;
constexpr size_t kLongestPiece = 64 << 20;

std::string_view view(const PodVector<char>& text) { return {text.data(), text.size()}; }

size_t skip_blank(std::string_view text, size_t at) {
  while (at < text.size() && static_cast<unsigned char>(text[at]) <= ' ') ++at;
  return at;
}

// The list of events by its words alone, for heads whose quotes do not pair up (log lines that were
// written without escaping).
HeadState find_events_by_words(std::string_view text, size_t& key_position, size_t& begin) {
  constexpr std::string_view kKey = "\"traceEvents\"";
  const size_t start = skip_blank(text, text.starts_with("\xEF\xBB\xBF") ? 3 : 0);
  if (start >= text.size() || text[start] != '{') return HeadState::kNotThere;
  for (size_t at = text.find(kKey); at != std::string_view::npos; at = text.find(kKey, at + 1)) {
    const size_t colon = skip_blank(text, at + kKey.size());
    const size_t bracket = skip_blank(text, colon + 1);
    const size_t first = skip_blank(text, bracket + 1);
    if (first >= text.size()) return HeadState::kNeedMore;
    if (text[colon] != ':' || text[bracket] != '[') continue;
    if (text[first] != ']' && !(text[first] == '{' && looks_like_event(text, first))) continue;
    key_position = at;
    begin = bracket + 1;
    return HeadState::kObject;
  }
  return HeadState::kNeedMore;
}

HeadState find_events_strictly(std::string_view text, size_t& key_position, size_t& begin) {
  size_t at = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  at = skip_blank(text, at);
  if (at >= text.size()) return HeadState::kNeedMore;
  if (text[at] == '[') {
    key_position = at;
    begin = at + 1;
    return HeadState::kArray;
  }
  if (text[at] != '{') return HeadState::kNotThere;
  size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      size_t end = at + 1;
      while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
      if (end >= text.size()) return HeadState::kNeedMore;
      const size_t colon = skip_blank(text, end + 1);
      if (depth == 1 && text.substr(at, end + 1 - at) == "\"traceEvents\"") {
        const size_t bracket = skip_blank(text, colon + 1);
        if (bracket >= text.size()) return HeadState::kNeedMore;
        if (text[colon] == ':' && text[bracket] == '[') {
          key_position = at;
          begin = bracket + 1;
          return HeadState::kObject;
        }
      }
      at = end + 1;
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return HeadState::kNotThere;
    ++at;
  }
  return HeadState::kNeedMore;
}

}  // namespace

HeadState find_events(std::string_view text, size_t& key_position, size_t& begin) {
  const HeadState strict = find_events_strictly(text, key_position, begin);
  if (strict == HeadState::kObject || strict == HeadState::kArray) return strict;
  const HeadState by_words = find_events_by_words(text, key_position, begin);
  return by_words == HeadState::kObject ? by_words : strict;
}

Result<size_t> ChunkFeed::read_more(PodVector<char>& into, size_t bytes) {
  const size_t before = into.size();
  into.resize_uninitialised(before + bytes);
  auto got = source_.read(into.data() + before, bytes);
  if (!got) return got;
  into.resize_uninitialised(before + *got);
  text_bytes_ += *got;
  if (*got == 0) at_end_ = true;
  return got;
}

Result<std::string> ChunkFeed::read_head() {
  const std::string& path = source_.file().path();
  size_t step = kHeadStep;
  while (true) {
    auto got = read_more(carry_, step);
    if (!got) return std::move(got.error());
    size_t key = 0;
    size_t begin = 0;
    const HeadState state = find_events(view(carry_), key, begin);
    if (state == HeadState::kObject || state == HeadState::kArray) {
      is_array_ = state == HeadState::kArray;
      std::string head = is_array_ ? "" : std::string(view(carry_).substr(0, key));
      std::memmove(carry_.data(), carry_.data() + begin, carry_.size() - begin);
      carry_.resize_uninitialised(carry_.size() - begin);
      carry_offset_ = begin;
      return head;
    }
    if (carry_.size() == 0) {
      return Error{ErrorCode::kBadInput, "cannot import", path, "the file is empty",
                   "record again; the profiler probably stopped before it wrote anything"};
    }
    if (state == HeadState::kNotThere || at_end_) {
      return Error{ErrorCode::kNotRecognised, "cannot import", path,
                   "it is not a trace: there is no list of events (\"traceEvents\" or a JSON list)",
                   "give a trace written by torch.profiler, MindSpore, msprof or chrome://tracing"};
    }
    if (carry_.size() > kLongestHead) {
      return Error{ErrorCode::kLimit, "cannot import", path, "no event within its first 64 MiB",
                   "check that this is a trace"};
    }
    step = carry_.size();
  }
}

Result<bool> ChunkFeed::next(TextPiece& piece) {
  piece.text.clear();
  piece.text.append(carry_.data(), carry_.size());
  piece.offset = carry_offset_;
  piece.number = next_number_++;
  carry_.clear();
  size_t cut = std::string_view::npos;
  while (!at_end_) {
    if (piece.text.size() < piece_bytes_ || cut == std::string_view::npos) {
      // A piece without a place to cut grows until there is one.
      const size_t want =
          piece.text.size() < piece_bytes_ ? piece_bytes_ - piece.text.size() : piece.text.size();
      auto got = read_more(piece.text, want);
      if (!got) return std::move(got.error());
    }
    if (at_end_) break;
    if (piece.text.size() < piece_bytes_) continue;
    cut = last_event_start(view(piece.text));
    if (cut != std::string_view::npos) break;
    if (piece.text.size() >= kLongestPiece) {
      cut = piece.text.size();
      break;
    }
  }
  if (piece.text.empty()) return false;
  piece.is_last = at_end_;
  piece.size = at_end_ ? piece.text.size() : cut;
  carry_.append(piece.text.data() + piece.size, piece.text.size() - piece.size);
  carry_offset_ = piece.offset + piece.size;
  piece.text.resize_uninitialised(piece.size + kTextPadding);
  std::memset(piece.text.data() + piece.size, 0, kTextPadding);
  return true;
}

}  // namespace stepscope
