#include "store/slice_writer.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace stepscope {
namespace {

std::string_view work_class_name(WorkClass work_class) {
  switch (work_class) {
    case WorkClass::kCommunication:
      return "communication";
    case WorkClass::kMemory:
      return "memory";
    case WorkClass::kCompute:
      break;
  }
  return "compute";
}

constexpr int64_t kOneDayNs = 24LL * 3600 * 1'000'000'000;

int64_t or_null(int32_t value) { return value < 0 ? kNull : value; }

}  // namespace

SliceWriter::SliceWriter(StoreWriter& store, uint32_t position, LaidOutRank& laid_out,
                         const RankLinks& links, const StringRemap& strings)
    : store_(store),
      position_(position),
      laid_out_(laid_out),
      rank_(*laid_out.rank),
      links_(links),
      strings_(strings),
      steps_(rank_.steps),
      launch_steps_(rank_.steps),
      slices_(store, Table::kSlices, position),
      kernels_(store, Table::kKernels, position),
      ops_(store, Table::kOps, position) {
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

Status SliceWriter::write() {
  for (TrackId track = 0; track < rank_.track_count(); ++track) write_track(track);
  if (auto status = slices_.finish(); !status) return status;
  if (auto status = kernels_.finish(); !status) return status;
  if (auto status = ops_.finish(); !status) return status;

  TableWriter by_name(store_, Table::kTotalsByName, position_);
  TableWriter by_step(store_, Table::kTotalsByStep, position_);
  // Largest first: the order people read it in, and the same in every run.
  const auto sorted = [&](const std::unordered_map<uint64_t, Totals>& map) {
    std::vector<std::pair<uint64_t, Totals>> rows(map.begin(), map.end());
    std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
      return a.second.total != b.second.total ? a.second.total > b.second.total : a.first < b.first;
    });
    return rows;
  };
  for (const auto& [key, totals] : sorted(by_name_)) {
    by_name.row({text(static_cast<StringId>(key >> 32)), text(static_cast<StringId>(key)),
                 totals.count, totals.total, totals.min, totals.max});
  }
  for (const auto& [key, totals] : sorted(by_step_)) {
    by_step.row({step_numbers_[static_cast<uint32_t>(key)], text(static_cast<StringId>(key >> 32)),
                 totals.count, totals.total});
  }
  if (auto status = by_name.finish(); !status) return status;
  if (auto status = by_step.finish(); !status) return status;
  if (auto status = write_communications(); !status) return status;

  const auto section = [&](SectionKind kind, const auto& items, uint64_t rows) {
    SectionEntry entry{};
    entry.kind = kind;
    entry.rank = position_;
    entry.rows = rows;
    return store_.append_section(entry, std::as_bytes(std::span(items.data(), items.size())));
  };
  if (auto status = section(SectionKind::kLanes, lanes_, lanes_.size()); !status) return status;
  if (auto status = section(SectionKind::kTileLevels, tiles_.levels(), tiles_.levels().size());
      !status)
    return status;
  return section(SectionKind::kTiles, tiles_.tiles(), tiles_.tiles().size());
}

void SliceWriter::write_track(TrackId track) {
  const TrackLayout& layout = laid_out_.layouts[track];
  PodVector<uint32_t> order;
  order.resize_uninitialised(layout.row.size());
  for (uint32_t i = 0; i < layout.row.size(); ++i) order[layout.row[i]] = i;
  uint32_t row_in_track = 0;
  for (uint32_t depth = 0; depth < layout.lanes.size(); ++depth) {
    starts_ns_.clear();
    durations_ns_.clear();
    const uint32_t first = row_in_track;
    for (; row_in_track < first + layout.lanes[depth]; ++row_in_track) {
      write_slice(track, order[row_in_track], laid_out_.first_row[track] + row_in_track, depth);
    }
    Lane lane{track,
              depth,
              laid_out_.first_row[track] + first,
              layout.lanes[depth],
              starts_ns_.empty() ? 0 : starts_ns_[0],
              0,
              0};
    tiles_.add_lane(lane, starts_ns_.span(), durations_ns_.span());
    lanes_.push_back(lane);
  }
}

void SliceWriter::write_slice(TrackId track, uint32_t index, uint32_t row, uint32_t depth) {
  SliceRecord& slice = rank_.slices(track)[index];
  starts_ns_.push_back(slice.ts_ns);
  durations_ns_.push_back((slice.flags & kFlagImpossible) ? 0 : slice.dur_ns);
  int64_t step = kNull;
  if (slice.kind == SliceKind::kKernel) {
    const SlicePlace launch = laid_out_.place(links_.launches.find(slice.correlation));
    note_launch(slice, launch);
    // Work belongs to the step that launched it, even when it runs into the next one.
    step = launch.found() ? launch_steps_.step_at(rank_.slices(launch.track)[launch.index].ts_ns)
                          : steps_.step_at(slice.ts_ns);
    write_kernel(track, slice, row, launch);
  } else {
    step = steps_.step_at(slice.ts_ns);
    if (slice.kind == SliceKind::kOp) write_op(slice, row);
    if (slice.kind == SliceKind::kCommunication && slice.detail != kNoDetail) {
      communications_.push_back(
          {row, slice.detail, slice.ts_ns, slice.ts_ns + slice.dur_ns, slice.name});
    }
  }
  const uint32_t parent = laid_out_.layouts[track].parent[index];
  const bool has_args = slice.args != ArgsRef::kNone;
  size_t column = 0;
  const auto push = [&](int64_t value) { slices_.column(column++).push(value); };
  push(track);
  push(slice.ts_ns);
  push(slice.dur_ns);
  push(text(slice.name));
  push(text(slice.cat));
  push(depth);
  push(parent == kNoSlice ? kNull : static_cast<int64_t>(laid_out_.row(track, parent)));
  push(step);
  push(rank_.unpack_id(slice.correlation));
  push(rank_.unpack_id(slice.external_id));
  push(slice.flags);
  push(has_args ? static_cast<int64_t>(slice.args & ((1ull << 44) - 1)) : kNull);
  push(has_args ? static_cast<int64_t>(ArgsRef::length(slice.args)) : kNull);
  count(slice, step);
}

void SliceWriter::note_launch(SliceRecord& slice, SlicePlace launch) {
  if (!launch.found()) {
    if (slice.correlation == kNoId) return;
    slice.flags |= kFlagOutsideWindow;
    rank_.quality.add(QualityCode::kLaunchOutsideWindow);
    return;
  }
  const SliceRecord& call = rank_.slices(launch.track)[launch.index];
  if (slice.ts_ns >= call.ts_ns) return;
  slice.flags |= kFlagBeforeLaunch;
  std::string example;
  if (rank_.quality.wants_example(QualityCode::kKernelBeforeLaunch)) {
    example = std::string(rank_.strings.view(slice.name).substr(0, 60)) + " by " +
              std::to_string(call.ts_ns - slice.ts_ns) + " ns";
  }
  rank_.quality.add(QualityCode::kKernelBeforeLaunch, example);
}

void SliceWriter::write_kernel(TrackId track, SliceRecord& slice, uint32_t row, SlicePlace launch) {
  static const KernelDetail kNothing;
  const KernelDetail& detail = slice.detail == kNoDetail ? kNothing : rank_.kernel(slice.detail);
  const TrackInfo& lane = rank_.track(track);
  SlicePlace op = laid_out_.place(links_.operators.find(slice.external_id));
  if (!op.found() && launch.found()) {
    // No external id: the innermost operator around the launching call.
    uint32_t at = laid_out_.layouts[launch.track].parent[launch.index];
    const auto& host = rank_.slices(launch.track);
    while (at != kNoSlice && host[at].kind != SliceKind::kOp)
      at = laid_out_.layouts[launch.track].parent[at];
    op = {launch.track, at};
  }
  const StringId class_name = rank_.strings.find(work_class_name(detail.work_class));
  size_t column = 0;
  const auto push = [&](int64_t value) { kernels_.column(column++).push(value); };
  push(row);
  push(lane.device);
  push(lane.stream);
  push(text(class_name));
  push(text(detail.type));
  push(text(detail.op_type));
  push(launch.found() ? static_cast<int64_t>(laid_out_.row(launch.track, launch.index)) : kNull);
  push(op.found() ? static_cast<int64_t>(laid_out_.row(op.track, op.index)) : kNull);
  push(launch.found() ? slice.ts_ns - rank_.slices(launch.track)[launch.index].ts_ns : kNull);
  push(detail.wait_ns);
  push(text(detail.input_shapes));
  push(text(detail.input_types));
  push(text(detail.output_shapes));
  push(text(detail.grid));
  push(text(detail.block));
  push(or_null(detail.registers));
  push(or_null(detail.shared_memory));
  push(or_null(detail.occupancy));
  push(detail.bytes);
  push(text(detail.counters));
  if (detail.communication != kNoDetail) {
    communications_.push_back(
        {row, detail.communication, slice.ts_ns, slice.ts_ns + slice.dur_ns, slice.name});
  }
}

void SliceWriter::write_op(const SliceRecord& slice, uint32_t row) {
  static const OpDetail kNothing;
  const OpDetail& detail = slice.detail == kNoDetail ? kNothing : rank_.op(slice.detail);
  ops_.row({row, text(detail.type), text(detail.input_shapes), text(detail.input_types),
            detail.sequence, detail.forward_thread, text(detail.stack), text(detail.module)});
  if (detail.communication != kNoDetail) {
    communications_.push_back(
        {row, detail.communication, slice.ts_ns, slice.ts_ns + slice.dur_ns, slice.name});
  }
}

Status SliceWriter::write_communications() {
  std::unordered_map<StringId, std::vector<const PendingCommunication*>> wholes;
  for (const auto& pending : communications_) wholes[pending.name].push_back(&pending);
  TableWriter table(store_, Table::kCommunications, position_);
  for (const auto& pending : communications_) {
    const CommunicationDetail& detail = rank_.communication(pending.detail);
    int64_t of = kNull;
    if (detail.of_name != kNoString) {
      if (const auto found = wholes.find(detail.of_name); found != wholes.end()) {
        for (const auto* whole : found->second) {
          if (whole->ts_ns <= pending.ts_ns && pending.ts_ns <= whole->end_ns) of = whole->row;
        }
      }
    }
    table.row({pending.row, text(detail.level), text(detail.op), text(detail.group),
               detail.group_size, detail.sequence, detail.bytes, detail.elements,
               text(detail.data_type), text(detail.algorithm), detail.src_rank, detail.dst_rank,
               text(detail.transport), text(detail.link),
               detail.bandwidth < 0 ? kNull : std::bit_cast<int64_t>(detail.bandwidth),
               detail.wait_ns, detail.transit_ns, of});
  }
  return table.finish();
}

void SliceWriter::count(const SliceRecord& slice, int64_t step) {
  if (slice.flags & kFlagImpossible) return;
  if (slice.flags & kFlagInstant) {
    instants_.widen(slice.ts_ns, slice.ts_ns);
    return;
  }
  ranges_.widen(slice.ts_ns, slice.ts_ns + slice.dur_ns);
  if (slice.dur_ns == 0) rank_.quality.add(QualityCode::kZeroDuration);

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
