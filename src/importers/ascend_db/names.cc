// Interned strings, enumerations and lanes of an Ascend database.
#include "base/hash.h"
#include "importers/ascend_db/db_reader.h"
#include "importers/common/ascend_words.h"

namespace stepscope {

DbReader::DbReader(const SqliteFile& file, bool is_mindspore, const Progress& progress,
                   RankBuilder& rank)
    : file_(file), is_mindspore_(is_mindspore), progress_(progress), rank_(rank) {}

bool DbReader::has_events() const { return file_.has_table("TASK"); }

void DbReader::read_names() {
  known_tables_.insert("STRING_IDS");
  TableScan strings(file_, "STRING_IDS", {"id", "value"}, rank_.quality);
  while (strings.next()) {
    const int64_t id = strings.integer(0);
    if (id != kNull) strings_[id] = rank_.strings.intern(strings.text(1));
  }
  rows_ += strings.rows();
  for (const std::string& table : file_.tables()) {
    if (!table.starts_with("ENUM_")) continue;
    known_tables_.insert(table);
    auto& names = enums_[table];
    TableScan row(file_, table, {"id", "name"}, rank_.quality);
    while (row.next()) {
      const int64_t id = row.integer(0);
      if (id != kNull) names[id] = rank_.strings.intern(row.text(1));
    }
  }
}

StringId DbReader::string(int64_t id) const {
  const auto found = strings_.find(id);
  return found == strings_.end() ? kEmptyString : found->second;
}

StringId DbReader::known_string(int64_t id) const {
  const StringId text = string(id);
  const std::string_view view = rank_.strings.view(text);
  return view.empty() || view == "N/A" ? kNoString : text;
}

StringId DbReader::without_quotes(int64_t id) {
  const StringId text = known_string(id);
  if (text == kNoString) return kNoString;
  const std::string_view view = rank_.strings.view(text);
  if (view.size() < 2 || view.front() != '"' || view.back() != '"') return text;
  const std::string inside(view.substr(1, view.size() - 2));
  return inside.empty() ? kNoString : rank_.strings.intern(inside);
}

StringId DbReader::enumerated(std::string_view table, int64_t id) {
  if (id == kNull) return kNoString;
  const auto names = enums_.find(table);
  if (names == enums_.end()) return kNoString;
  const auto found = names->second.find(id);
  if (found == names->second.end()) {
    rank_.quality.add(QualityCode::kUnknownCategory,
                      std::string(table) + " has no " + std::to_string(id));
    return kNoString;
  }
  return rank_.strings.view(found->second) == "N/A" ? kNoString : found->second;
}

StringId DbReader::group_name(int64_t id) {
  const StringId name = known_string(id);
  if (name == kNoString) return kNoString;
  const std::string_view view = rank_.strings.view(name);
  // Some writers store the hash itself.
  if (view.find_first_not_of("0123456789") == std::string_view::npos) return name;
  return rank_.strings.intern(std::to_string(group_name_hash(view)));
}

TrackId DbReader::host_track(std::string_view process, int64_t global_tid) {
  const auto [found, added] = host_tracks_.try_emplace({std::string(process), global_tid}, 0);
  if (!added) return found->second;
  TrackInfo track;
  track.process = rank_.strings.intern(process);
  track.kind = TrackKind::kHost;
  if (global_tid != kNull) {
    const std::string tid = std::to_string(global_tid & 0xFFFFFFFF);
    track.pid = rank_.strings.intern(std::to_string(global_tid >> 32));
    track.tid = rank_.strings.intern(tid);
    track.thread = rank_.strings.intern("Thread " + tid);
    if (rank_.info.pid == kNull) rank_.info.pid = global_tid >> 32;
  }
  found->second = rank_.add_track(track);
  return found->second;
}

TrackId DbReader::lane(std::string_view process, const std::string& thread, TrackKind kind,
                       int64_t device, int64_t stream) {
  const auto [found, added] =
      lanes_.try_emplace(std::tuple(std::string(process), thread, device), 0);
  if (!added) return found->second;
  TrackInfo track;
  track.process = rank_.strings.intern(process);
  track.thread = rank_.strings.intern(thread);
  track.kind = kind;
  track.device = device;
  track.stream = stream;
  if (stream != kNull) track.tid = rank_.strings.intern(std::to_string(stream));
  found->second = rank_.add_track(track);
  return found->second;
}

bool DbReader::span(const TableScan& row, int start, int end, SliceRecord& slice,
                    std::string_view table) {
  slice.ts_ns = row.integer(start);
  if (!is_usable_time(slice.ts_ns)) {
    rank_.quality.add(
        QualityCode::kUnparsableEvent,
        std::string(table) + " row " + std::to_string(row.rows()) + " has no usable start time");
    return false;
  }
  const int64_t end_ns = row.integer(end);
  if (end_ns == kNull) {
    slice.flags |= kFlagUnfinished;
    std::string example;
    if (rank_.quality.wants_example(QualityCode::kUnfinishedOperation))
      example = std::string(table) + " row " + std::to_string(row.rows()) + " has no end";
    rank_.quality.add(QualityCode::kUnfinishedOperation, example);
  } else {
    slice.dur_ns = is_usable_time(end_ns) ? end_ns - slice.ts_ns : -1;  // marked by the store
  }
  return true;
}

}  // namespace stepscope
