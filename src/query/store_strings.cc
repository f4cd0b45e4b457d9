#include "query/store_strings.h"

#include <algorithm>
#include <cstring>

#include "base/utf8.h"

namespace stepscope {
namespace {

constexpr size_t kInlineBytes = 12;

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
