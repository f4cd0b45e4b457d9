#include "analyses/pipeline/loader_ranges.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>

#include "analyses/common/rank_rows.h"

namespace stepscope {
namespace {

constexpr std::string_view kPrefixes[] = {"enumerate(DataLoader)#", "enumerate(DataPipe)#"};

std::unordered_set<int64_t> range_names(const StoreReader& store, size_t rank) {
  std::unordered_set<int64_t> in_store;
  for (const std::string_view prefix : kPrefixes) {
    for (const StringId id : store.find_strings(prefix)) {
      if (store.string(id).starts_with(prefix)) in_store.insert(id);
    }
  }
  std::unordered_set<int64_t> names;
  if (in_store.empty()) return names;
  for_each_row<1>(store, Table::kTotalsByName, rank, {"name"}, [&](const auto& row) {
    if (in_store.contains(row[0])) names.insert(row[0]);
  });
  return names;
}

}  // namespace

std::vector<LoaderRange> loader_ranges(const StoreReader& store, size_t rank) {
  std::vector<LoaderRange> ranges;
  const auto names = range_names(store, rank);
  if (names.empty()) return ranges;
  std::vector<bool> on_device(store.rows(Table::kTracks, rank));
  for (size_t track = 0; track < on_device.size(); ++track)
    on_device[track] = text_at(store, Table::kTracks, "kind", rank, track) == "device";
  // By string id: a test of eleven million names must not hash.
  std::vector<bool> wanted(store.string_count());
  for (const int64_t name : names) wanted[static_cast<size_t>(name)] = true;
  const auto is_loader = [&](int64_t name) {
    return name >= 0 && static_cast<size_t>(name) < wanted.size() &&
           wanted[static_cast<size_t>(name)];
  };
  struct Found {
    int64_t track;
    LoaderRange range;
  };
  std::vector<Found> found;
  // Few of many slices: only the names are read of all of them.
  const ColumnView& tracks = store.column(Table::kSlices, "track", rank);
  const ColumnView& starts = store.column(Table::kSlices, "ts", rank);
  const ColumnView& lengths = store.column(Table::kSlices, "dur", rank);
  const ColumnView& steps = store.column(Table::kSlices, "step", rank);
  const ColumnView& flags = store.column(Table::kSlices, "flags", rank);
  uint64_t next_row = 0;
  for_each_row<1>(store, Table::kSlices, rank, {"name"}, [&](const auto& name) {
    const uint64_t row = next_row++;
    if (!is_loader(name[0])) return;
    const int64_t dur_ns = lengths.at(row);
    if (dur_ns == kNull || dur_ns < 0 || (flags.at(row) & kFlagImpossible) != 0) return;
    const int64_t track = tracks.at(row);
    if (on_device[static_cast<size_t>(track)]) return;
    found.push_back({track, {name[0], starts.at(row), dur_ns, steps.at(row)}});
  });
  std::ranges::sort(found, {}, [](const Found& one) {
    return std::tuple(one.track, one.range.ts_ns, -one.range.dur_ns);
  });
  int64_t track = kNull;
  int64_t outermost_until_ns = kNull;
  for (const Found& one : found) {
    const bool is_inner = one.track == track && one.range.ts_ns < outermost_until_ns;
    if (is_inner) continue;
    track = one.track;
    outermost_until_ns = one.range.ts_ns + one.range.dur_ns;
    ranges.push_back(one.range);
  }
  std::ranges::stable_sort(ranges, {}, &LoaderRange::ts_ns);
  return ranges;
}

std::string_view loader_name(std::string_view range) {
  const size_t hash = range.find('#');
  if (hash != std::string_view::npos) range.remove_prefix(hash + 1);
  constexpr std::string_view kNext = ".__next__";
  if (range.ends_with(kNext)) range.remove_suffix(kNext.size());
  return range;
}

}  // namespace stepscope
