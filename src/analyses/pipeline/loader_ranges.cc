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
  const auto first_track = static_cast<int64_t>(store.row_base(Table::kTracks, rank));
  struct Found {
    int64_t track;
    LoaderRange range;
  };
  std::vector<Found> found;
  for_each_row<6>(store, Table::kSlices, rank, {"name", "track", "ts", "dur", "step", "flags"},
                  [&](const auto& row) {
                    const auto [name, track, ts_ns, dur_ns, step, flags] = row;
                    if (!names.contains(name) || dur_ns == kNull || dur_ns < 0) return;
                    if ((flags & kFlagImpossible) != 0) return;
                    if (on_device[static_cast<size_t>(track - first_track)]) return;
                    found.push_back({track, {name, ts_ns, dur_ns, step}});
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
