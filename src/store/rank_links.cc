#include "store/rank_links.h"

#include <algorithm>
#include <set>

#include "base/parallel.h"

namespace stepscope {
namespace {

// How many slices are looked at around a moment before giving up: bounds the cost of inputs with a
// million slices that start at the same time or are nested in each other.
constexpr int kSearchLimit = 4096;

}  // namespace

IdIndex::IdIndex(const IdRange& ids) : lowest_(ids.lowest) {
  const size_t span = ids.count == 0 ? 0 : size_t{ids.highest} - ids.lowest + 1;
  if (span != 0 && span <= 2 * ids.count) {
    by_id_.assign(span, kNoSlice);
  } else {
    slots_.resize(ids.count + ids.count / 4 + 16);
  }
}

// The product spreads neighbouring ids and multiples of 2^k alike; its high half, scaled to the
// number of slots, needs no power of two.
size_t IdIndex::slot_of(PackedId id) const {
  const uint64_t spread = (id * 0x9E3779B97F4A7C15ull) >> 32;
  return static_cast<size_t>(spread * slots_.size() >> 32);
}

bool IdIndex::insert(PackedId id, uint32_t slice) {
  if (!by_id_.empty()) {
    uint32_t& place = by_id_[id - lowest_];
    if (place != kNoSlice) return false;
    place = slice;
    return true;
  }
  size_t slot = slot_of(id);
  while (slots_[slot].id != kNoId) {
    if (slots_[slot].id == id) return false;
    slot = next(slot);
  }
  slots_[slot] = {id, slice};
  return true;
}

void IdIndex::replace(PackedId id, uint32_t slice) {
  if (!by_id_.empty()) {
    by_id_[id - lowest_] = slice;
    return;
  }
  size_t slot = slot_of(id);
  while (slots_[slot].id != id) slot = next(slot);
  slots_[slot].slice = slice;
}

uint32_t IdIndex::find(PackedId id) const {
  if (id == kNoId) return kNoSlice;
  if (!by_id_.empty()) {
    // An id below the lowest becomes a large number.
    const PackedId at = id - lowest_;
    return at < by_id_.size() ? by_id_[at] : kNoSlice;
  }
  for (size_t slot = slot_of(id); slots_[slot].id != kNoId; slot = next(slot)) {
    if (slots_[slot].id == id) return slots_[slot].slice;
  }
  return kNoSlice;
}

SlicePlace LaidOutRank::place(uint32_t slice) const {
  if (slice == kNoSlice) return {};
  const auto after = std::upper_bound(first_row.begin(), first_row.end(), slice);
  const auto track = static_cast<TrackId>(after - first_row.begin() - 1);
  return {track, slice - first_row[track]};
}

namespace {

// Indexes the slices of one kind by one of their ids. Of several calls with one id, the one that
// the input starts an arrow at is the launch.
IdIndex index_slices(const LaidOutRank& laid_out, SliceKind kind, PackedId SliceRecord::* id,
                     QualityReport& quality) {
  const RankBuilder& rank = *laid_out.rank;
  IdRange ids;
  for (TrackId track = 0; track < rank.track_count(); ++track) {
    for (const SliceRecord& slice : rank.slices(track)) {
      if (slice.kind == kind && slice.*id != kNoId) ids.add(slice.*id);
    }
  }
  IdIndex index(ids);
  for (TrackId track = 0; track < rank.track_count(); ++track) {
    const auto& slices = rank.slices(track);
    for (uint32_t i = 0; i < slices.size(); ++i) {
      const SliceRecord& slice = slices[i];
      if (slice.kind != kind || slice.*id == kNoId) continue;
      const uint32_t number = laid_out.first_row[track] + i;
      if (index.insert(slice.*id, number)) continue;
      const SlicePlace known = laid_out.place(index.find(slice.*id));
      const bool known_starts = rank.slices(known.track)[known.index].flags & kFlagFlowStart;
      if ((slice.flags & kFlagFlowStart) && !known_starts) index.replace(slice.*id, number);
      std::string example;
      if (quality.wants_example(QualityCode::kDuplicateId)) {
        example = std::string(rank.strings.view(slice.name)) + " id " +
                  std::to_string(rank.unpack_id(slice.*id));
      }
      quality.add(QualityCode::kDuplicateId, example);
    }
  }
  return index;
}

void resolve_launch(SliceRecord& slice, uint32_t launch, const LaidOutRank& laid_out,
                    QualityReport& quality) {
  const RankBuilder& rank = *laid_out.rank;
  if (launch == kNoSlice) {
    if (slice.correlation == kNoId) return;
    slice.flags |= kFlagOutsideWindow;
    std::string example;
    if (quality.wants_example(QualityCode::kLaunchOutsideWindow)) {
      example = std::string(rank.strings.view(slice.name).substr(0, 60)) + " id " +
                std::to_string(rank.unpack_id(slice.correlation));
    }
    quality.add(QualityCode::kLaunchOutsideWindow, example);
    return;
  }
  const SlicePlace place = laid_out.place(launch);
  const SliceRecord& call = rank.slices(place.track)[place.index];
  if (slice.ts_ns >= call.ts_ns) return;
  slice.flags |= kFlagBeforeLaunch;
  std::string example;
  if (quality.wants_example(QualityCode::kKernelBeforeLaunch)) {
    example = std::string(rank.strings.view(slice.name).substr(0, 60)) + " by " +
              std::to_string(call.ts_ns - slice.ts_ns) + " ns";
  }
  quality.add(QualityCode::kKernelBeforeLaunch, example);
}

}  // namespace

RankLinks index_links(LaidOutRank& laid_out, unsigned threads) {
  RankLinks links{IdIndex({}), IdIndex({})};
  QualityReport reports[2];
  parallel_for(2, threads, [&](size_t which) {
    if (which == 0) {
      links.operators =
          index_slices(laid_out, SliceKind::kOp, &SliceRecord::external_id, reports[0]);
    } else {
      links.launches =
          index_slices(laid_out, SliceKind::kLaunchCall, &SliceRecord::correlation, reports[1]);
    }
  });
  for (const QualityReport& report : reports) laid_out.rank->quality.merge(report);
  return links;
}

void resolve_launches(LaidOutRank& laid_out, const RankLinks& links, unsigned threads) {
  // Nearly all device work may be on one stream, so the pieces are parts of tracks.
  constexpr size_t kPiece = 1 << 18;
  struct Piece {
    TrackId track;
    size_t first;
    size_t last;
    QualityReport report;
  };
  RankBuilder& rank = *laid_out.rank;
  laid_out.launches.resize(rank.track_count());
  std::vector<Piece> pieces;
  for (TrackId track = 0; track < rank.track_count(); ++track) {
    const auto& slices = rank.slices(track);
    const bool has_work = std::any_of(slices.begin(), slices.end(), [](const SliceRecord& slice) {
      return slice.kind == SliceKind::kKernel;
    });
    if (!has_work) continue;
    laid_out.launches[track].resize_uninitialised(slices.size());
    for (size_t first = 0; first < slices.size(); first += kPiece)
      pieces.push_back({track, first, std::min(first + kPiece, slices.size()), {}});
  }
  parallel_for(pieces.size(), threads, [&](size_t number) {
    Piece& piece = pieces[number];
    auto& slices = rank.slices(piece.track);
    auto& launches = laid_out.launches[piece.track];
    for (size_t i = piece.first; i < piece.last; ++i) {
      const bool is_work = slices[i].kind == SliceKind::kKernel;
      launches[i] = is_work ? links.launches.find(slices[i].correlation) : kNoSlice;
      if (is_work) resolve_launch(slices[i], launches[i], laid_out, piece.report);
    }
  });
  for (const Piece& piece : pieces) rank.quality.merge(piece.report);
}

const SliceRecord* SliceFinder::first_after(TrackId track, int64_t ts_ns) {
  const auto& slices = laid_out_.rank->slices(track);
  if (slices.empty()) return slices.end();
  // Strides that double, away from the last answer, until the answer lies in [low, high).
  size_t low = last_[track];
  size_t high = low;
  for (size_t stride = 1; high < slices.size() && slices[high].ts_ns <= ts_ns; stride *= 2) {
    low = high;
    high = std::min(high + stride, slices.size());
  }
  for (size_t stride = 1; low > 0 && slices[low].ts_ns > ts_ns; stride *= 2) {
    high = low;
    low -= std::min(low, stride);
  }
  const auto* after =
      std::upper_bound(slices.begin() + low, slices.begin() + high, ts_ns,
                       [](int64_t ts, const SliceRecord& slice) { return ts < slice.ts_ns; });
  last_[track] = after == slices.begin() ? 0 : static_cast<size_t>(after - slices.begin()) - 1;
  return after;
}

SlicePlace SliceFinder::at(TrackId track, int64_t ts_ns) {
  const auto& slices = laid_out_.rank->slices(track);
  const auto* after = first_after(track, ts_ns);
  if (after == slices.begin()) return {};
  // Slices that start exactly here: operators before everything else, outer before inner among
  // equals.
  if ((after - 1)->ts_ns == ts_ns) {
    const auto* const first =
        std::lower_bound(slices.begin(), after, ts_ns,
                         [](const SliceRecord& slice, int64_t ts) { return slice.ts_ns < ts; });
    const auto* const last = std::min(after, first + kSearchLimit);
    const auto* op = std::find_if(
        first, last, [](const SliceRecord& slice) { return slice.kind == SliceKind::kOp; });
    return {track, static_cast<uint32_t>((op == last ? first : op) - slices.begin())};
  }
  // Otherwise the innermost slice that is still open.
  auto index = static_cast<uint32_t>(after - slices.begin() - 1);
  const auto& parent = laid_out_.layouts[track].parent;
  for (int tries = 0; index != kNoSlice; ++tries) {
    if (slices[index].ts_ns + std::max<int64_t>(slices[index].dur_ns, 0) > ts_ns) break;
    index = tries < kSearchLimit ? parent[index] : kNoSlice;
  }
  return {track, index};
}

namespace {

// The id of the first launch arrow that no end was found for; "" when there is none.
std::string unreached_start(const RankBuilder& rank) {
  for (TrackId track = 0; track < rank.track_count(); ++track) {
    for (const SliceRecord& slice : rank.slices(track)) {
      if ((slice.flags & kFlagFlowStart) && !slice.reached_by_flow)
        return std::to_string(rank.unpack_id(slice.correlation));
    }
  }
  return {};
}

}  // namespace

void join_flows(LaidOutRank& laid_out, const RankLinks& links,
                const std::function<void(const Flow&)>& take) {
  RankBuilder& rank = *laid_out.rank;

  // Arrows that slices carry themselves: start flag on the launching call, end flag on what it
  // launched.
  if (rank.launch_flow_kind != kNoString) {
    int64_t starts = 0;
    std::set<PackedId> without_start;
    for (TrackId track = 0; track < rank.track_count(); ++track) {
      const auto& slices = rank.slices(track);
      for (uint32_t i = 0; i < slices.size(); ++i) {
        const SliceRecord& slice = slices[i];
        starts += (slice.flags & kFlagFlowStart) != 0;
        if (!(slice.flags & kFlagFlowEnd)) continue;
        const SlicePlace launch = laid_out.place(links.launches.find(slice.correlation));
        const bool started =
            launch.found() && (rank.slices(launch.track)[launch.index].flags & kFlagFlowStart);
        if (!started) {
          without_start.insert(slice.correlation);
          continue;
        }
        if (launch.track == track && launch.index == i)
          continue;  // the call itself, marked at both ends
        SliceRecord& launching = rank.slices(launch.track)[launch.index];
        starts -= !launching.reached_by_flow;
        launching.reached_by_flow = true;
        take({laid_out.row(launch.track, launch.index), laid_out.row(track, i),
              rank.launch_flow_kind});
      }
    }
    const std::string kind(rank.strings.view(rank.launch_flow_kind));
    if (starts > 0) {
      rank.quality.add(QualityCode::kFlowStartWithoutEnd, kind + " " + unreached_start(rank),
                       starts);
    }
    if (!without_start.empty()) {
      rank.quality.add(QualityCode::kFlowEndWithoutStart,
                       kind + " " + std::to_string(rank.unpack_id(*without_start.begin())),
                       static_cast<int64_t>(without_start.size()));
    }
  }

  // Arrows given as separate records, joined by kind and id.
  auto& records = rank.flows;
  std::stable_sort(records.begin(), records.end(), [](const FlowRecord& a, const FlowRecord& b) {
    if (a.kind != b.kind) return a.kind < b.kind;
    if (a.id != b.id) return a.id < b.id;
    if ((a.phase == FlowPhase::kStart) != (b.phase == FlowPhase::kStart))
      return a.phase == FlowPhase::kStart;
    return a.ts_ns < b.ts_ns;
  });
  const auto note = [&](QualityCode code, const FlowRecord& record) {
    std::string example;
    if (rank.quality.wants_example(code)) {
      example = std::string(rank.strings.view(record.kind)) + " ";
      example += record.id & kTextFlowId
                     ? std::string(rank.strings.view(static_cast<StringId>(record.id)))
                     : std::to_string(record.id);
    }
    rank.quality.add(code, example);
  };
  SliceFinder slices(laid_out);
  for (size_t first = 0; first < records.size();) {
    size_t last = first;
    while (last < records.size() && records[last].kind == records[first].kind &&
           records[last].id == records[first].id) {
      ++last;
    }
    bool has_start = records[first].phase == FlowPhase::kStart;
    SlicePlace from;
    if (!has_start && records[first].kind == rank.launch_flow_kind) {
      // The start may be one that its slice carries as a flag.
      const uint64_t id = records[first].id;
      if (id < kNoId) from = laid_out.place(links.launches.find(static_cast<PackedId>(id)));
      has_start = from.found() && (rank.slices(from.track)[from.index].flags & kFlagFlowStart);
      if (!has_start) from = {};
    }
    if (!has_start) note(QualityCode::kFlowEndWithoutStart, records[first]);
    if (has_start && records[last - 1].phase == FlowPhase::kStart)
      note(QualityCode::kFlowStartWithoutEnd, records[first]);
    for (size_t at = first; at < last; ++at) {
      const FlowRecord& record = records[at];
      const SlicePlace place = slices.at(record.track, record.ts_ns);
      if (!place.found()) note(QualityCode::kFlowWithoutSlice, record);
      if (record.phase != FlowPhase::kStart && from.found() && place.found()) {
        take({laid_out.row(from.track, from.index), laid_out.row(place.track, place.index),
              record.kind});
      }
      // s -> t -> f is a chain; several ends of one start all point back to the start.
      if (record.phase != FlowPhase::kEnd) from = place;
    }
    first = last;
  }
  records.release();
}

int64_t StepFinder::step_at(int64_t ts_ns) {
  if (steps_.empty()) return kNull;
  const auto starts_after = [](int64_t ts, const StepRecord& step) { return ts < step.ts_ns; };
  if (steps_[hint_].ts_ns > ts_ns ||
      (hint_ + 1 < steps_.size() && steps_[hint_ + 1].ts_ns <= ts_ns)) {
    const auto after = std::upper_bound(steps_.begin(), steps_.end(), ts_ns, starts_after);
    hint_ = after == steps_.begin() ? 0 : static_cast<size_t>(after - steps_.begin()) - 1;
  }
  const StepRecord& step = steps_[hint_];
  return ts_ns >= step.ts_ns && ts_ns - step.ts_ns < step.dur_ns ? step.step : kNull;
}

}  // namespace stepscope
