#include "store/slice_writer.h"

#include <algorithm>
#include <limits>

namespace stepscope {

namespace {
constexpr int64_t kOneDayNs = 24LL * 3600 * 1'000'000'000;
constexpr size_t kFirstLinkColumn = 7;  // of the slices table: step, behind parent
}  // namespace

SliceWriter::SliceWriter(StoreWriter& store, uint32_t position, const LaidOutRank& laid_out,
                         const StringRemap& strings)
    : store_(store),
      position_(position),
      laid_out_(laid_out),
      rank_(*laid_out.rank),
      strings_(strings),
      steps_(rank_.steps),
      launch_steps_(rank_.steps),
      slices_(store, Table::kSlices, position) {
  step_numbers_.push_back(kNull);
  step_index_[kNull] = 0;
}

int64_t SliceWriter::first_ns() const {
  if (ranges_.first_ns == kNull || instants_.first_ns == kNull)
    return std::max(ranges_.first_ns, instants_.first_ns);
  const bool near = ranges_.first_ns - instants_.first_ns <= kOneDayNs;
  return near ? std::min(ranges_.first_ns, instants_.first_ns) : ranges_.first_ns;
}

int64_t SliceWriter::last_ns() const {
  if (ranges_.last_ns == kNull || instants_.last_ns == kNull)
    return std::max(ranges_.last_ns, instants_.last_ns);
  const bool near = instants_.last_ns - ranges_.last_ns <= kOneDayNs;
  return near ? std::max(ranges_.last_ns, instants_.last_ns) : ranges_.last_ns;
}

void SliceWriter::write_places() {
  for_each_row(
      laid_out_,
      [&](TrackId track, uint32_t index, uint32_t, uint32_t depth) {
        write_place(track, index, depth);
      },
      [](TrackId, uint32_t, uint32_t, uint32_t) {});
}

void SliceWriter::write_links() {
  for_each_row(
      laid_out_,
      [&](TrackId track, uint32_t index, uint32_t, uint32_t) { write_link(track, index); },
      [&](TrackId track, uint32_t depth, uint32_t first_row, uint32_t rows) {
        Lane lane{track, depth, first_row, rows, starts_ns_.empty() ? 0 : starts_ns_[0], 0, 0};
        tiles_.add_lane(lane, starts_ns_.span(), durations_ns_.span(), names_.span(), strings_);
        lanes_.push_back(lane);
        starts_ns_.clear();
        durations_ns_.clear();
        names_.clear();
      });
}

Status SliceWriter::finish() {
  if (auto status = slices_.finish(); !status) return status;
  if (auto status = write_totals(); !status) return status;
  return write_tiles();
}

Status SliceWriter::write_totals() {
  // Largest first: the order people read it in, and the same in every run.
  const auto sorted = [](const std::unordered_map<uint64_t, Totals>& map) {
    std::vector<std::pair<uint64_t, Totals>> rows(map.begin(), map.end());
    std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
      return a.second.total != b.second.total ? a.second.total > b.second.total : a.first < b.first;
    });
    return rows;
  };
  TableWriter by_name(store_, Table::kTotalsByName, position_);
  for (const auto& [key, totals] : sorted(by_name_)) {
    by_name.row({text(static_cast<StringId>(key >> 32)), text(static_cast<StringId>(key)),
                 totals.count, totals.total, totals.min, totals.max});
  }
  if (auto status = by_name.finish(); !status) return status;
  TableWriter by_step(store_, Table::kTotalsByStep, position_);
  for (const auto& [key, totals] : sorted(by_step_)) {
    by_step.row({step_numbers_[static_cast<uint32_t>(key)], text(static_cast<StringId>(key >> 32)),
                 totals.count, totals.total});
  }
  return by_step.finish();
}

Status SliceWriter::write_tiles() {
  const auto section = [&](SectionKind kind, const auto& items) {
    SectionEntry entry{};
    entry.kind = kind;
    entry.rank = position_;
    entry.rows = items.size();
    return store_.append_section(entry, std::as_bytes(std::span(items.data(), items.size())));
  };
  if (auto status = section(SectionKind::kLanes, lanes_); !status) return status;
  if (auto status = section(SectionKind::kTileLevels, tiles_.levels()); !status) return status;
  return section(SectionKind::kTiles, tiles_.tiles());
}

// Device work belongs to the step that launched it, even when it runs into the next one.
int64_t SliceWriter::step_of(TrackId track, uint32_t index, const SliceRecord& slice) {
  if (slice.kind == SliceKind::kKernel) {
    const SlicePlace launch = laid_out_.place(laid_out_.launches[track][index]);
    if (launch.found())
      return launch_steps_.step_at(rank_.slices(launch.track)[launch.index].ts_ns);
  }
  return steps_.step_at(slice.ts_ns);
}

void SliceWriter::write_place(TrackId track, uint32_t index, uint32_t depth) {
  const SliceRecord& slice = rank_.slices(track)[index];
  const uint32_t parent = laid_out_.layouts[track].parent[index];
  size_t column = 0;
  const auto push = [&](int64_t value) { slices_.column(column++).push(value); };
  push(track);
  push(slice.ts_ns);
  push(slice.dur_ns);
  push(text(slice.name));
  push(text(slice.cat));
  push(depth);
  push(parent == kNoSlice ? kNull : static_cast<int64_t>(laid_out_.row(track, parent)));
}

void SliceWriter::write_link(TrackId track, uint32_t index) {
  const SliceRecord& slice = rank_.slices(track)[index];
  starts_ns_.push_back(slice.ts_ns);
  durations_ns_.push_back((slice.flags & kFlagImpossible) ? 0 : slice.dur_ns);
  names_.push_back(slice.name);
  const int64_t step = step_of(track, index, slice);
  const bool has_args = slice.args != ArgsRef::kNone;
  size_t column = kFirstLinkColumn;
  const auto push = [&](int64_t value) { slices_.column(column++).push(value); };
  push(step);
  push(rank_.unpack_id(slice.correlation));
  push(rank_.unpack_id(slice.external_id));
  push(slice.flags);
  push(has_args ? static_cast<int64_t>(slice.args & ((1ull << 44) - 1)) : kNull);
  push(has_args ? static_cast<int64_t>(ArgsRef::length(slice.args)) : kNull);
  count(slice, step);
}

void SliceWriter::count(const SliceRecord& slice, int64_t step) {
  if (slice.flags & kFlagImpossible) return;
  if (slice.flags & kFlagInstant) {
    instants_.widen(slice.ts_ns, slice.ts_ns);
    return;
  }
  ranges_.widen(slice.ts_ns, slice.ts_ns + slice.dur_ns);
  zero_durations_ += slice.dur_ns == 0;

  const uint64_t name_key = static_cast<uint64_t>(slice.cat) << 32 | slice.name;
  if (name_key != last_name_key_) {
    last_name_key_ = name_key;
    last_name_ = &by_name_[name_key];
  }
  if (step != last_step_number_) {
    last_step_number_ = step;
    const auto [found, added] =
        step_index_.try_emplace(step, static_cast<uint32_t>(step_numbers_.size()));
    if (added) step_numbers_.push_back(step);
    last_step_index_ = found->second;
  }
  const uint64_t step_key = static_cast<uint64_t>(slice.cat) << 32 | last_step_index_;
  if (step_key != last_step_key_) {
    last_step_key_ = step_key;
    last_step_ = &by_step_[step_key];
  }
  for (Totals* totals : {last_name_, last_step_}) {
    totals->min = totals->count == 0 ? slice.dur_ns : std::min(totals->min, slice.dur_ns);
    totals->max = totals->count == 0 ? slice.dur_ns : std::max(totals->max, slice.dur_ns);
    if (__builtin_add_overflow(totals->total, slice.dur_ns, &totals->total))
      totals->total = std::numeric_limits<int64_t>::max();
    ++totals->count;
  }
}

}  // namespace stepscope
