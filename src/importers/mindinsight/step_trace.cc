#include "importers/mindinsight/step_trace.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/decimal.h"
#include "base/file.h"
#include "importers/common/checked_math.h"
#include "importers/common/csv_reader.h"
#include "importers/common/text_file.h"

namespace stepscope::mindinsight {
namespace {

constexpr uint64_t kMostBytes = 1ull << 30;

// "stream_10_parallel_0" -> 10
int64_t stream_in_name(std::string_view name) {
  if (!name.starts_with("stream_")) return kNull;
  const std::string_view rest = name.substr(7);
  const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  return parse_integer(rest.substr(0, digits)).value_or(kNull);
}

struct ReduceColumns {
  std::string name;
  size_t start = 0;
  size_t end = 0;
};

std::vector<ReduceColumns> reduce_columns(const CsvReader& csv) {
  constexpr std::string_view kStart = "_start_point";
  std::vector<ReduceColumns> columns;
  for (const std::string& header : csv.header()) {
    if (!header.ends_with(kStart) || header == "start_point") continue;
    const std::string name = header.substr(0, header.size() - kStart.size());
    columns.push_back({name, csv.column({header}), csv.column({name + "_end_point"})});
  }
  return columns;
}

template <typename T>
T field(const std::string& bytes, size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

// Marks of one iteration, in the order of the records, to rows.
class RowMaker {
 public:
  void fp(int64_t count) { row_.fp = count; }
  void bp(int64_t count) { row_.bp = count; }
  // Reduce events come as pairs of tags on one stream.
  void reduce(int64_t stream, int64_t count) {
    auto [open, is_new] = open_.try_emplace(stream, count);
    if (is_new) return;
    const int64_t number = reduces_of_[stream]++;
    row_.reduces.push_back(
        {"stream_" + std::to_string(stream) + "_parallel_" + std::to_string(number), stream,
         open->second, count});
    open_.erase(open);
  }
  void end(int64_t count) {
    row_.step = static_cast<int64_t>(rows_.size()) + 1;
    row_.end = count;
    row_.start = rows_.empty() ? (row_.fp == kNull ? count : row_.fp) : rows_.back().end;
    rows_.push_back(std::move(row_));
    row_ = {};
    open_.clear();
    reduces_of_.clear();
  }
  std::vector<StepTraceRow> take() { return std::move(rows_); }
  bool unfinished() const { return row_.fp != kNull || row_.bp != kNull; }

 private:
  StepTraceRow row_;
  std::map<int64_t, int64_t> open_;
  std::map<int64_t, int64_t> reduces_of_;
  std::vector<StepTraceRow> rows_;
};

// Slices are one stream of records; a record may not straddle two files.
std::string read_slices(const std::vector<std::string>& paths, size_t record_bytes,
                        std::string_view role, RankBuilder& rank) {
  std::string all;
  for (const std::string& path : paths) {
    auto bytes = read_file(path, kMostBytes);
    if (!bytes) {
      add_unreadable(rank, path, bytes.error());
      continue;
    }
    const size_t records = bytes->size() / record_bytes;
    if (bytes->size() % record_bytes != 0) {
      rank.quality.add(QualityCode::kTruncatedInput,
                       path + " byte " + std::to_string(records * record_bytes));
    }
    all.append(*bytes, 0, records * record_bytes);
    add_source(rank, path, role, static_cast<int64_t>(records));
  }
  return all;
}

void note_unfinished(const RowMaker& maker, const std::vector<std::string>& paths,
                     RankBuilder& rank) {
  if (maker.unfinished() && !paths.empty()) {
    rank.quality.add(QualityCode::kWindowCut, paths.back() + ": the last step has no end");
  }
}

}  // namespace

std::vector<StepTraceRow> read_step_trace_csv(const std::string& path, RankBuilder& rank) {
  std::vector<StepTraceRow> rows;
  auto csv = CsvReader::open(path);
  if (!csv) return rows;  // keep_csv() has reported it
  QualityReport ignored;  // likewise
  const size_t number = csv->column({"step_num"});
  const size_t start = csv->column({"start_point"});
  const size_t end = csv->column({"end_point"});
  const size_t fp = csv->column({"fp_point"});
  const size_t bp = csv->column({"bp_point"});
  const auto reduces = reduce_columns(*csv);
  while (csv->next(ignored)) {
    if (csv->cell(number) == "-") continue;
    StepTraceRow row;
    row.step = csv->integer(number, ignored);
    row.start = csv->integer(start, ignored);
    row.end = csv->integer(end, ignored);
    row.fp = csv->integer(fp, ignored);
    row.bp = csv->integer(bp, ignored);
    if (row.step == 0 && row.start == 0 && row.end == 0) continue;  // averages of a single step
    if (row.step == kNull || row.start == kNull || row.end == kNull) {
      rank.quality.add(QualityCode::kBadNumber, path + " line " + std::to_string(csv->line()));
      continue;
    }
    for (const ReduceColumns& columns : reduces) {
      ReduceEvent event{columns.name, stream_in_name(columns.name),
                        csv->integer(columns.start, ignored), csv->integer(columns.end, ignored)};
      const bool absent =
          event.start == kNull || event.end == kNull || (event.start == 0 && event.end == 0);
      if (!absent) row.reduces.push_back(std::move(event));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<StepTraceRow> read_training_trace(const std::vector<std::string>& paths,
                                              RankBuilder& rank) {
  constexpr size_t kRecord = 20;  // u64 tag, u16 task, u16 stream, u64 counter
  const std::string bytes = read_slices(paths, kRecord, "training_trace", rank);
  RowMaker maker;
  for (size_t at = 0; at < bytes.size(); at += kRecord) {
    const auto tag = field<uint64_t>(bytes, at);
    const auto stream = field<uint16_t>(bytes, at + 10);
    const auto count = static_cast<int64_t>(field<uint64_t>(bytes, at + 12));
    if (tag == 0) continue;  // start of the model: a step begins at the end of the one before
    if (tag == 1) {
      maker.fp(count);
    } else if (tag == 2) {
      maker.bp(count);
    } else if (tag == 255) {
      maker.end(count);
    } else {
      maker.reduce(stream, count);
    }
  }
  note_unfinished(maker, paths, rank);
  return maker.take();
}

std::vector<StepTraceRow> read_ts_track(const std::vector<std::string>& paths, RankBuilder& rank) {
  constexpr size_t kRecord = 40;
  constexpr uint8_t kStepTraceReport = 10;
  const std::string bytes = read_slices(paths, kRecord, "ts_track", rank);
  RowMaker maker;
  for (size_t at = 0; at < bytes.size(); at += kRecord) {
    if (field<uint8_t>(bytes, at + 1) != kStepTraceReport) continue;
    const auto count = static_cast<int64_t>(field<uint64_t>(bytes, at + 8));
    const auto stream = field<uint16_t>(bytes, at + 32);
    const auto tag = field<uint16_t>(bytes, at + 36);
    if (tag == 2) {
      maker.fp(count);
    } else if (tag == 3) {
      maker.bp(count);
    } else if (tag == 4) {
      maker.end(count);
    } else if (tag >= 10000 && tag < 20000) {
      maker.reduce(stream, count);
    } else if (tag > 1) {  // 0 and 1: start and end of the model
      rank.quality.add(QualityCode::kUnknownCategory, "step trace tag " + std::to_string(tag));
    }
  }
  note_unfinished(maker, paths, rank);
  return maker.take();
}

std::vector<StepTraceRow> read_gpu_step_trace(const std::string& path, RankBuilder& rank) {
  auto file = TextFile::open(path);
  if (!file) {
    add_unreadable(rank, path, file.error());
    return {};
  }
  // Times are ns; the analysers drop the last digit, so do we.
  const auto count_of = [&](std::string_view text) -> std::optional<int64_t> {
    const auto ns = parse_integer(text);
    if (!ns) {
      rank.quality.add(QualityCode::kBadNumber, file->place());
      return std::nullopt;
    }
    return *ns / kNsPerCount;
  };
  std::vector<std::vector<std::vector<std::string_view>>> lines;  // words of comma fields
  std::string_view line;
  while (file->next(line)) {
    std::vector<std::vector<std::string_view>> words;
    for (const std::string_view word : split_words(line)) words.push_back(split_text(word, ','));
    if (!words.empty()) lines.push_back(std::move(words));
  }
  RowMaker maker;
  const bool asynchronous = !lines.empty() && lines[0][0].size() > 1;
  if (asynchronous) {  // a line per step: start, fp, bp, end, then reduce events
    for (const auto& words : lines) {
      if (words.size() < 4 || words[1].size() < 2 || words[2].size() < 2 || words[3].size() < 2) {
        rank.quality.add(QualityCode::kUnparsableEvent, path + ": a step without its four marks");
        continue;
      }
      const auto fp = count_of(words[1][1]);
      const auto bp = count_of(words[2][1]);
      const auto end = count_of(words[3][1]);
      if (!fp || !bp || !end) continue;
      maker.fp(*fp);
      maker.bp(*bp);
      for (size_t i = 4; i < words.size(); ++i) {
        if (words[i].size() < 3) continue;
        const auto from = count_of(words[i][1]);
        const auto to = count_of(words[i][2]);
        if (!from || !to) continue;
        maker.reduce(0, *from);
        maker.reduce(0, *to);
      }
      maker.end(*end);
    }
  } else if (lines.size() >= 3) {  // a line per mark: name, then start,end of every step
    for (size_t step = 1; step < lines[0].size(); ++step) {
      if (step >= lines[1].size() || step >= lines[2].size() || lines[1][step].size() < 2 ||
          lines[2][step].size() < 2) {
        rank.quality.add(QualityCode::kWindowCut, path + ": the last step has no end");
        break;
      }
      const auto fp = count_of(lines[0][step][0]);
      const auto bp = count_of(lines[1][step][1]);
      const auto end = count_of(lines[2][step][1]);
      if (!fp || !bp || !end) continue;
      maker.fp(*fp);
      maker.bp(*bp);
      for (size_t reduce = 3; reduce < lines.size(); ++reduce) {
        if (step >= lines[reduce].size() || lines[reduce][step].size() < 2) continue;
        const auto from = count_of(lines[reduce][step][0]);
        const auto to = count_of(lines[reduce][step][1]);
        if (!from || !to) continue;
        maker.reduce(0, *from);
        maker.reduce(0, *to);
      }
      maker.end(*end);
    }
  } else {
    rank.quality.add(QualityCode::kUnparsableEvent, path + ": fewer than three marks");
  }
  auto rows = maker.take();
  add_source(rank, path, "step_trace_profiling", static_cast<int64_t>(rows.size()));
  return rows;
}

void add_step_trace(const std::vector<StepTraceRow>& rows, bool with_reduces, RankBuilder& rank) {
  if (rows.empty()) return;
  TrackInfo info;
  info.process = rank.strings.intern("Step Trace");
  info.thread = rank.strings.intern("Steps");
  info.kind = TrackKind::kAnalysis;
  const TrackId phases = rank.add_track(info);
  const StringId cat = rank.strings.intern("step_trace");
  const auto add = [&](TrackId track, std::string_view name, int64_t start, int64_t end,
                       uint32_t detail, SliceKind kind) {
    SliceRecord slice;
    slice.ts_ns = times_or_null(start, kNsPerCount);
    slice.dur_ns = times_or_null(minus_or_null(end, start), kNsPerCount);
    if (slice.ts_ns == kNull || slice.dur_ns == kNull) {
      rank.quality.add(QualityCode::kBadNumber, std::string(name) + " in the step trace");
      return;
    }
    slice.name = rank.strings.intern(name);
    slice.cat = cat;
    slice.kind = kind;
    slice.detail = detail;
    rank.add_slice(track, slice);
  };
  std::map<int64_t, TrackId> streams;
  for (const StepTraceRow& row : rows) {
    StepRecord step;
    step.step = row.step;
    step.ts_ns = times_or_null(row.start, kNsPerCount);
    step.dur_ns = times_or_null(minus_or_null(row.end, row.start), kNsPerCount);
    if (step.ts_ns == kNull || step.dur_ns == kNull) {
      rank.quality.add(QualityCode::kBadNumber, "step " + std::to_string(row.step));
      continue;
    }
    step.source = rank.strings.intern("file");
    step.track = phases;
    const std::string name = "Step " + std::to_string(row.step);
    step.name = rank.strings.intern(name);
    rank.steps.push_back(step);
    const auto phase = [&](std::string_view word, int64_t start, int64_t end) {
      if (end > start) add(phases, word, start, end, kNoDetail, SliceKind::kAnnotation);
    };
    add(phases, name, row.start, row.end, kNoDetail, SliceKind::kAnnotation);
    if (row.fp != kNull) {
      phase("iteration_interval", row.start, row.fp);
      phase("fp_and_bp", row.fp, row.bp == kNull ? row.end : row.bp);
    }
    if (row.bp != kNull) phase("tail", row.bp, row.end);
    if (!with_reduces) continue;
    for (const ReduceEvent& event : row.reduces) {
      auto [track, is_new] = streams.try_emplace(event.stream, TrackId{0});
      if (is_new) {
        TrackInfo lane;
        lane.process = rank.strings.intern("Communication");
        lane.thread = rank.strings.intern(
            event.stream == kNull ? event.name : "Stream " + std::to_string(event.stream));
        lane.kind = TrackKind::kCommunication;
        lane.stream = event.stream;
        track->second = rank.add_track(lane);
      }
      CommunicationDetail detail;
      detail.level = rank.strings.intern("op");
      add(track->second, event.name, event.start, event.end, rank.add_communication(detail),
          SliceKind::kCommunication);
    }
  }
}

}  // namespace stepscope::mindinsight
