#include "store/rank_writer.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/hash.h"
#include "base/parallel.h"
#include "store/rank_links.h"
#include "store/slice_writer.h"
#include "store/store_writer.h"
#include "store/track_layout.h"
#include "store/typed_writer.h"

namespace stepscope {
namespace {

constexpr int64_t kOneDayNs = 24LL * 3600 * 1'000'000'000;
constexpr int64_t kSevenDaysNs = 7LL * 24 * 3600 * 1'000'000'000;
constexpr size_t kMostColumns = 65535;  // of a source table: their numbers have 16 bits

int64_t within(int64_t value, int64_t limit) { return std::clamp(value, -limit, limit); }

void mark_impossible(PodVector<SliceRecord>& slices, const StringPool& strings,
                     QualityReport& quality) {
  for (SliceRecord& slice : slices) {
    slice.ts_ns = within(slice.ts_ns, kLatestNs);
    if (slice.dur_ns >= 0 && slice.dur_ns <= kSevenDaysNs) continue;
    slice.dur_ns = within(slice.dur_ns, kLatestNs);
    const auto code =
        slice.dur_ns < 0 ? QualityCode::kNegativeDuration : QualityCode::kImplausibleDuration;
    slice.flags |= kFlagImpossible;
    std::string example;
    if (quality.wants_example(code)) {
      example = std::string(strings.view(slice.name).substr(0, 60)) + " " +
                std::to_string(slice.dur_ns) + " ns";
    }
    quality.add(code, example);
  }
}

// Gaps that no training has, and times before the clock's zero. `slices` is sorted.
void check_clock(const PodVector<SliceRecord>& slices, const StringPool& strings,
                 QualityReport& quality) {
  for (size_t i = 0; i < slices.size(); ++i) {
    if (slices[i].ts_ns < 0)
      quality.add(QualityCode::kNegativeTime, strings.view(slices[i].name).substr(0, 60));
    if (i == 0 || slices[i].ts_ns / 2 - slices[i - 1].ts_ns / 2 <= kOneDayNs / 2) continue;
    quality.add(QualityCode::kClockJump,
                "before " + std::string(strings.view(slices[i].name).substr(0, 60)));
  }
}

LaidOutRank lay_out_rank(RankBuilder& rank, unsigned threads) {
  LaidOutRank laid_out;
  laid_out.rank = &rank;
  const size_t count = rank.track_count();
  laid_out.layouts.resize(count);
  laid_out.first_row.resize(count);
  std::vector<TrackId> largest_first(count);
  std::iota(largest_first.begin(), largest_first.end(), 0);
  std::stable_sort(largest_first.begin(), largest_first.end(), [&](TrackId a, TrackId b) {
    return rank.slices(a).size() > rank.slices(b).size();
  });
  std::vector<QualityReport> reports(count);
  parallel_for(count, threads, [&](size_t at) {
    const TrackId track = largest_first[at];
    mark_impossible(rank.slices(track), rank.strings, reports[track]);
    laid_out.layouts[track] =
        lay_out_track(rank.slices(track), rank.track(track).kind, rank.strings, reports[track]);
    check_clock(rank.slices(track), rank.strings, reports[track]);
  });
  for (TrackId track = 0; track < count; ++track) {
    rank.quality.merge(reports[track]);
    laid_out.first_row[track] = static_cast<uint32_t>(laid_out.row_count);
    laid_out.row_count += rank.slices(track).size();
  }
  return laid_out;
}

// `count` comes from the writer of the slices, which sees them all; the first one is looked up.
void note_zero_durations(RankBuilder& rank, int64_t count) {
  std::string example;
  for (TrackId track = 0; count > 0 && example.empty() && track < rank.track_count(); ++track) {
    const auto& slices = rank.slices(track);
    const auto* const found = std::find_if(slices.begin(), slices.end(), [](const auto& slice) {
      return slice.dur_ns == 0 && (slice.flags & (kFlagImpossible | kFlagInstant)) == 0;
    });
    if (found == slices.end()) continue;
    example = std::string(rank.strings.view(found->name).substr(0, 60)) + " at " +
              std::to_string(found->ts_ns) + " ns";
  }
  rank.quality.add(QualityCode::kZeroDuration, example, count);
}

// One line of a source table's head: names with line breaks (quoted CSV headers) must not end it.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  text += '\n';
  return text;
}

// Small tables, one function each. `text` maps a rank's string id to the run's.
class SmallTables {
 public:
  SmallTables(StoreWriter& store, uint32_t position, LaidOutRank& laid_out, StringRemap& strings)
      : store_(store),
        position_(position),
        laid_out_(laid_out),
        rank_(*laid_out.rank),
        slices_(laid_out),
        strings_(strings) {}

  Status write_all(const RankLinks& links) {
    for (const Status& status :
         {write_tracks(), write_steps(), write_flows(links), write_counters(), write_memory(),
          write_queues(), write_stages(), write_sources(), write_source_tables(), write_args()}) {
      if (!status.ok()) return status;
    }
    return {};
  }

  Status write_rank(int64_t first_ns, int64_t last_ns) {
    const RankInfo& info = rank_.info;
    std::set<int64_t> devices;
    for (TrackId id = 0; id < rank_.track_count(); ++id) {
      if (rank_.track(id).device != kNull) devices.insert(rank_.track(id).device);
    }
    TableWriter table(store_, Table::kRanks, position_);
    table.row(
        {info.rank, info.window, own_text(info.host), info.pid, own_text(info.device_kind),
         own_text(info.device_name),
         info.device_count == kNull ? static_cast<int64_t>(devices.size()) : info.device_count,
         info.world_size, own_text(info.parallel_json), own_text(info.source_format),
         own_text(info.source_path), own_text(info.other_forms_json), own_text(info.versions_json),
         info.rank_inferred, info.clock_base_ns, first_ns, last_ns});
    return table.finish();
  }

 private:
  Status write_tracks() {
    TableWriter table(store_, Table::kTracks, position_);
    for (TrackId id = 0; id < rank_.track_count(); ++id) {
      const TrackInfo& track = rank_.track(id);
      table.row({text(track.process), text(track.thread),
                 text(rank_.strings.find(track_kind_name(track.kind))), track.device, track.stream,
                 text(track.pid), text(track.tid),
                 static_cast<int64_t>(laid_out_.layouts[id].row.size()),
                 static_cast<int64_t>(laid_out_.layouts[id].lanes.size())});
    }
    return table.finish();
  }

  Status write_steps() {
    TableWriter table(store_, Table::kSteps, position_);
    for (const StepRecord& step : rank_.steps) {
      table.row(
          {step.step, step.ts_ns, step.dur_ns, step_slice(step), text(step.source), step.complete});
    }
    return table.finish();
  }

  Status write_flows(const RankLinks& links) {
    TableWriter table(store_, Table::kFlows, position_);
    join_flows(laid_out_, links,
               [&](const Flow& flow) { table.row({flow.from_row, flow.to_row, text(flow.kind)}); });
    return table.finish();
  }

  Status write_counters() {
    auto& counters = rank_.counters;
    std::stable_sort(counters.begin(), counters.end(),
                     [](const CounterRecord& a, const CounterRecord& b) {
                       return a.track != b.track ? a.track < b.track : a.ts_ns < b.ts_ns;
                     });
    TableWriter table(store_, Table::kCounters, position_);
    for (const CounterRecord& counter : counters) {
      table.row({counter.track, counter.ts_ns, float_bits(counter.value)});
    }
    return table.finish();
  }

  Status write_memory() {
    auto& memory = rank_.memory;
    std::stable_sort(
        memory.begin(), memory.end(),
        [](const MemoryRecord& a, const MemoryRecord& b) { return a.ts_ns < b.ts_ns; });
    TableWriter table(store_, Table::kMemory, position_);
    for (const MemoryRecord& event : memory) {
      const SlicePlace op = operator_at(event.track, event.ts_ns);
      StringId name = event.name;
      if (name == kNoString && op.found()) name = rank_.slices(op.track)[op.index].name;
      // Those that the input gives a name belong to its operator or to nothing.
      const SlicePlace place = event.name == kNoString ? range_at(event.track, event.ts_ns) : op;
      table.row(
          {event.ts_ns, text(event.device_kind), event.device, text(event.component), text(name),
           event.address, event.bytes, event.total_allocated, event.total_reserved,
           event.total_active, event.duration_ns,
           place.found() ? static_cast<int64_t>(laid_out_.row(place.track, place.index)) : kNull});
    }
    memory.release();
    return table.finish();
  }

  Status write_queues() {
    TableWriter table(store_, Table::kQueues, position_);
    for (const QueueRecord& queue : rank_.queues) {
      table.row({text(queue.stage), queue.ts_ns, queue.batch, queue.size, queue.capacity,
                 queue.push_ns, queue.fetch_ns});
    }
    return table.finish();
  }

  Status write_stages() {
    TableWriter table(store_, Table::kStages, position_);
    number_stages(rank_.stages);
    for (const StageRecord& stage : rank_.stages) {
      table.row({text(stage.stage), text(stage.kind), stage.workers, stage.capacity,
                 text(stage.consumer), stage.position});
    }
    return table.finish();
  }

  Status write_sources() {
    TableWriter table(store_, Table::kSources, position_);
    for (const SourceFile& source : rank_.sources) {
      table.row({own_text(source.path), static_cast<int64_t>(source.stamp.bytes),
                 source.stamp.modified_ns, own_text(source.role), source.rows});
    }
    return table.finish();
  }

  Status write_source_tables() {
    uint16_t number = 0;
    for (const SourceTable& source : rank_.source_tables) {
      std::string head = one_line(source.name) + one_line(source.doc);
      const size_t columns = std::min(source.columns.size(), kMostColumns);
      if (columns < source.columns.size()) {
        rank_.quality.add(QualityCode::kLimitReached, "columns of " + source.name,
                          static_cast<int64_t>(source.columns.size() - columns));
      }
      for (size_t at = 0; at < columns; ++at) {
        head += static_cast<char>('0' + static_cast<int>(source.columns[at].type));
        head += one_line(source.columns[at].name);
      }
      SectionEntry entry{};
      entry.kind = SectionKind::kSourceTable;
      entry.table = number;
      entry.rank = position_;
      entry.rows = source.rows();
      if (auto status = store_.append_section(entry, std::as_bytes(std::span(head))); !status)
        return status;
      entry.kind = SectionKind::kSourceColumn;
      for (size_t at = 0; at < columns; ++at) {
        entry.column = static_cast<uint16_t>(at);
        ColumnWriter writer(store_, entry);
        const bool is_text = source.columns[at].type == Type::kText;
        for (const int64_t value : source.columns[at].values) {
          writer.push(is_text && value != kNull ? text(static_cast<StringId>(value)) : value);
        }
        if (auto status = writer.finish(); !status) return status;
      }
      ++number;
    }
    return {};
  }

  Status write_args() {
    SectionEntry entry{};
    entry.rank = position_;
    for (const auto& mirror : rank_.mirrors) {
      std::vector<MirrorFrame> index;
      uint32_t checksum = 0;
      for (const auto& frame : mirror.frames) {
        auto place = store_.append_extent(std::as_bytes(std::span(frame.compressed)));
        if (!place) return std::move(place.error());
        checksum = crc32c(frame.compressed.data(), frame.compressed.size(), checksum);
        index.push_back({frame.text_offset, *place, frame.text_bytes,
                         static_cast<uint32_t>(frame.compressed.size())});
      }
      entry.kind = SectionKind::kMirrorIndex;
      entry.table = static_cast<uint16_t>(mirror.source);
      entry.rows = index.size();
      if (auto status = store_.append_section(entry, std::as_bytes(std::span(index)), checksum);
          !status)
        return status;
    }
    if (rank_.own_args().empty()) return {};
    entry.kind = SectionKind::kMirrorBytes;
    entry.table = 0;
    entry.rows = 1;
    return store_.append_section(entry, std::as_bytes(std::span(rank_.own_args())));
  }

 private:
  int64_t text(StringId id) const {
    return id == kNoString ? kNull : static_cast<int64_t>(strings_(id));
  }

  // Text that is not in the rank's pool yet.
  int64_t own_text(std::string_view value) {
    if (value.empty()) return kNull;
    const StringId id = rank_.strings.intern(value);
    store_.merge_strings(rank_.strings, strings_);
    return text(id);
  }

  SlicePlace operator_at(TrackId track, int64_t ts_ns) {
    if (track == kNoDetail) return {};
    SlicePlace place = slices_.at(track, ts_ns);
    while (place.found() && rank_.slices(track)[place.index].kind != SliceKind::kOp) {
      place.index = laid_out_.layouts[track].parent[place.index];
    }
    return place;
  }

  // The innermost operator or range that a program names: a step, a module, a part of a step.
  SlicePlace range_at(TrackId track, int64_t ts_ns) {
    if (track == kNoDetail) return {};
    SlicePlace place = slices_.at(track, ts_ns);
    while (place.found()) {
      const SliceKind kind = rank_.slices(track)[place.index].kind;
      if (kind == SliceKind::kOp || kind == SliceKind::kAnnotation) break;
      place.index = laid_out_.layouts[track].parent[place.index];
    }
    return place;
  }

  int64_t step_slice(const StepRecord& step) const {
    if (step.track == kNoDetail) return kNull;
    const auto& slices = rank_.slices(step.track);
    const auto* at =
        std::lower_bound(slices.begin(), slices.end(), step.ts_ns,
                         [](const SliceRecord& slice, int64_t ts) { return slice.ts_ns < ts; });
    // The limit bounds inputs whose marks all start at one time.
    for (int tries = 0; tries < 4096 && at != slices.end() && at->ts_ns == step.ts_ns;
         ++at, ++tries) {
      if (at->name == step.name)
        return laid_out_.row(step.track, static_cast<uint32_t>(at - slices.begin()));
    }
    return kNull;
  }

  StoreWriter& store_;
  const uint32_t position_;
  LaidOutRank& laid_out_;
  RankBuilder& rank_;
  SliceFinder slices_;
  StringRemap& strings_;
};

}  // namespace

Status write_rank(StoreWriter& store, uint32_t position, RankBuilder& rank, unsigned threads) {
  for (const auto word : {"compute", "communication", "memory", "host", "device", "python",
                          "counter", "async", "analysis", "other"}) {
    rank.strings.intern(word);
  }
  for (StepRecord& step : rank.steps) {
    step.ts_ns = within(step.ts_ns, kLatestNs);
    step.dur_ns = within(step.dur_ns, kLatestNs);
  }
  std::stable_sort(rank.steps.begin(), rank.steps.end(),
                   [](const StepRecord& a, const StepRecord& b) { return a.ts_ns < b.ts_ns; });
  if (rank.steps.empty()) rank.quality.add(QualityCode::kNoSteps);
  LaidOutRank laid_out = lay_out_rank(rank, threads);
  const RankLinks links = index_links(laid_out, threads);
  resolve_launches(laid_out, links, threads);
  StringRemap strings;
  store.merge_strings(rank.strings, strings);

  // Four independent pieces of work, the longest of a large trace first.
  SliceWriter slices(store, position, laid_out, strings);
  TypedWriter typed(store, position, laid_out, links, strings);
  StringRemap own_strings = strings;  // SmallTables adds strings of its own
  SmallTables tables(store, position, laid_out, own_strings);
  Status results[3];
  parallel_for(4, threads, [&](size_t which) {
    if (which == 0) results[0] = tables.write_all(links);
    if (which == 1) results[1] = typed.write();
    if (which == 2) slices.write_links();
    if (which == 3) slices.write_places();
  });
  results[2] = slices.finish();
  for (const Status& status : results) {
    if (!status.ok()) return status;
  }
  note_zero_durations(rank, slices.zero_durations());
  store.quality(position).merge(rank.quality);
  return tables.write_rank(slices.first_ns(), slices.last_ns());
}

}  // namespace stepscope
