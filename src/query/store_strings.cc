#include "query/store_strings.h"

#include <algorithm>
#include <cstring>

namespace stepscope {
namespace {

constexpr size_t kInlineBytes = 12;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool is_ascii(std::string_view text) {
  uint64_t seen = 0;
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    seen |= word;
  }
  for (; i < text.size(); ++i) seen |= static_cast<unsigned char>(text[i]);
  return (seen & 0x8080808080808080ull) == 0;
}

// Bytes of the UTF-8 character at the start of `text`, 0 when it is not one.
size_t character_bytes(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  size_t length = 0;
  uint32_t code = 0;
  uint32_t smallest = 0;
  if ((first & 0xE0) == 0xC0) {
    length = 2, code = first & 0x1F, smallest = 0x80;
  } else if ((first & 0xF0) == 0xE0) {
    length = 3, code = first & 0x0F, smallest = 0x800;
  } else if ((first & 0xF8) == 0xF0) {
    length = 4, code = first & 0x07, smallest = 0x10000;
  }
  if (length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3F);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < smallest || code > 0x10FFFF || surrogate ? 0 : length;
}

bool is_utf8(std::string_view text) {
  if (is_ascii(text)) return true;
  while (!text.empty()) {
    const size_t bytes = character_bytes(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

std::string repair_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t bytes = character_bytes(text);
    out += bytes == 0 ? kReplacement : text.substr(0, bytes);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return out;
}

}  // namespace

duckdb_string_t as_duckdb_string(std::string_view text) {
  duckdb_string_t value;
  std::memset(&value, 0, sizeof value);
  if (text.size() <= kInlineBytes) {
    value.value.inlined.length = static_cast<uint32_t>(text.size());
    if (!text.empty()) std::memcpy(value.value.inlined.inlined, text.data(), text.size());
  } else {
    value.value.pointer.length = static_cast<uint32_t>(text.size());
    std::memcpy(value.value.pointer.prefix, text.data(), 4);
    value.value.pointer.ptr = const_cast<char*>(text.data());  // DuckDB only reads it
  }
  return value;
}

std::string_view as_view(const duckdb_string_t& value) {
  const uint32_t length = value.value.inlined.length;
  return {length <= kInlineBytes ? value.value.inlined.inlined : value.value.pointer.ptr, length};
}

const std::vector<duckdb_string_t>& StoreStrings::values() {
  std::call_once(built_, [this] { build(); });
  return values_;
}

std::string_view StoreStrings::text(size_t id) { return as_view(values()[id]); }

void StoreStrings::build() {
  values_.reserve(store_.string_count());
  for (size_t id = 0; id < store_.string_count(); ++id) {
    std::string_view text = store_.string(static_cast<int64_t>(id));
    text = text.substr(0, UINT32_MAX);
    if (!is_utf8(text)) text = repaired_.emplace_back(repair_utf8(text));
    values_.push_back(as_duckdb_string(text));
  }
}

StringEnum::StringEnum(StoreStrings& strings, const std::vector<StringId>& ids) {
  if (ids.empty() || ids.size() > kMaxMembers) return;
  struct Member {
    std::string_view text;
    StringId id;
  };
  std::vector<Member> members;
  members.reserve(ids.size());
  const size_t known = strings.values().size();
  for (const StringId id : ids) {
    if (id >= known) return;
    members.push_back({strings.text(id), id});
    // Members are passed as C strings.
    if (members.back().text.find('\0') != std::string_view::npos) return;
  }
  std::sort(members.begin(), members.end(),
            [](const Member& a, const Member& b) { return a.text < b.text; });
  std::vector<std::string> texts;
  std::vector<const char*> pointers;
  texts.reserve(members.size());
  for (const Member& member : members) {
    if (!texts.empty() && texts.back() == member.text) return;  // two repaired strings in one
    pointers.push_back(texts.emplace_back(member.text).c_str());
  }
  positions_.assign(known, kUnknown);
  for (size_t at = 0; at < members.size(); ++at) {
    positions_[members[at].id] = static_cast<uint16_t>(at);
  }
  member_count_ = members.size();
  type_ = duckdb_create_enum_type(pointers.data(), pointers.size());
}

StringEnum::~StringEnum() {
  if (type_ != nullptr) duckdb_destroy_logical_type(&type_);
}

}  // namespace stepscope
