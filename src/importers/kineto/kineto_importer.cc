#include "importers/kineto/kineto_importer.h"

#include <algorithm>
#include <filesystem>

#include "base/decimal.h"
#include "base/own_files.h"
#include "base/utf8.h"
#include "importers/chrome/chrome_reader.h"
#include "importers/chrome/json_text.h"
#include "importers/kineto/trace_properties.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

constexpr std::string_view kStepPrefix = "ProfilerStep#";

std::string without_packing(std::string path) {
  for (const std::string_view suffix : {".gz", ".zst", ".zip"}) {
    if (path.ends_with(suffix)) path.resize(path.size() - suffix.size());
  }
  return path;
}

// "rank_3", "rank-3.Jul", "worker0.162..." -> the number behind the word.
int64_t rank_in_name(std::string_view name) {
  for (const std::string_view word : {"rank", "worker"}) {
    const size_t at = name.find(word);
    if (at == std::string_view::npos) continue;
    size_t digit = at + word.size();
    if (digit < name.size() && (name[digit] == '_' || name[digit] == '-')) ++digit;
    size_t end = digit;
    while (end < name.size() && name[end] >= '0' && name[end] <= '9') ++end;
    if (end > digit && end - digit < 8) return *parse_integer(name.substr(digit, end - digit));
  }
  return kNull;
}

// The rank in the distributedInfo object, when the beginning of the file has it.
int64_t rank_in_head(std::string_view head) {
  const size_t info = head.find("\"distributedInfo\"");
  if (info == std::string_view::npos) return kNull;
  const size_t key = head.find("\"rank\"", info);
  if (key == std::string_view::npos) return kNull;
  size_t at = key + 6;
  while (at < head.size() && (head[at] == ':' || head[at] == ' ')) ++at;
  size_t end = at;
  while (end < head.size() && head[end] >= '0' && head[end] <= '9') ++end;
  const auto number = parse_integer(head.substr(at, end - at));
  return number ? *number : kNull;
}

// What the file was exported from, when it was by us.
std::string export_in_head(std::string_view head) {
  const std::string key = "\"" + std::string(kExportOf) + "\":\"";
  const size_t found = head.find(key);
  if (found == std::string_view::npos) return {};
  const size_t begin = found + key.size() - 1;
  size_t end = begin + 1;
  while (end < head.size() && head[end] != '"') end += head[end] == '\\' ? 2 : 1;
  const auto name = json_tree(head.substr(begin, end + 1 - begin));
  return name.is_string() ? name.get<std::string>() : "";
}

void find_steps(RankBuilder& rank) {
  const StringId marked = rank.strings.intern("marked");
  for (TrackId track = 0; track < rank.track_count(); ++track) {
    if (rank.track(track).kind == TrackKind::kDevice)
      continue;  // the GPU's copy of the mark is not a step
    for (SliceRecord& slice : rank.slices(track)) {
      const std::string_view name = rank.strings.view(slice.name);
      if (!name.starts_with(kStepPrefix)) continue;
      const auto number = parse_integer(name.substr(kStepPrefix.size()));
      if (!number) continue;
      // Old traces have their marks among the operators.
      if (slice.kind == SliceKind::kOp) slice.kind = SliceKind::kAnnotation;
      StepRecord step;
      step.step = *number;
      step.ts_ns = slice.ts_ns;
      step.dur_ns = slice.dur_ns;
      step.source = marked;
      step.track = track;
      step.name = slice.name;
      step.complete = !(slice.flags & kFlagUnfinished);
      if (!step.complete) rank.quality.add(QualityCode::kWindowCut, name);
      rank.steps.push_back(step);
    }
  }
}

// Process-level rows of the profiler itself are not threads of the program.
void mark_other_tracks(RankBuilder& rank) {
  for (TrackId id = 0; id < rank.track_count(); ++id) {
    TrackInfo& track = rank.track(id);
    if (track.kind != TrackKind::kHost) continue;
    const std::string_view pid = rank.strings.view(track.pid);
    if (pid == "Spans" || pid == "Traces" || pid.empty() || pid == "-1")
      track.kind = TrackKind::kOther;
  }
}

}  // namespace

bool KinetoImporter::probe_file(const std::string& path, std::string_view head,
                                std::vector<Candidate>& found) const {
  if (!looks_like_chrome_trace(head)) return false;
  Candidate candidate;
  candidate.importer = this;
  candidate.path = path;
  candidate.unit = without_packing(path);
  candidate.rank = rank_in_head(head);
  if (candidate.rank == kNull) {
    candidate.rank_inferred = true;
    const std::filesystem::path as_path(path);
    candidate.rank = rank_in_name(as_path.filename().string());
    if (candidate.rank == kNull)
      candidate.rank = rank_in_name(as_path.parent_path().filename().string());
  }
  candidate.richness =
      path == candidate.unit ? 11 : 10;  // plain before packed: its args are read in place
  std::error_code ignored;
  candidate.bytes = std::filesystem::file_size(path, ignored);
  candidate.export_of = export_in_head(head);
  found.push_back(candidate);
  return true;
}

Status KinetoImporter::import(const Candidate& candidate, const ImportContext& context,
                              RankBuilder& rank) const {
  auto trace = read_chrome_trace(candidate.path, {}, context, rank);
  if (!trace) return std::move(trace.error());
  if (trace->events == 0) {
    const bool damaged = rank.quality.count(QualityCode::kUnparsableEvent) > 0;
    return Error{ErrorCode::kBadInput, "cannot import", candidate.path,
                 damaged            ? "none of its events can be read"
                 : trace->truncated ? "it ends before the first complete event"
                                    : "its list of events is empty",
                 "record again; the profiler probably stopped before it had written anything"};
  }
  if (!trace->properties.empty()) {
    auto properties = parse_json(trace->properties, candidate.path);
    if (!properties) {
      properties = parse_json(repair_utf8(repair_event(trace->properties)), candidate.path);
    }
    if (properties) {
      apply_properties(*properties, rank);
    } else {
      rank.quality.add(QualityCode::kUnparsableEvent,
                       "the properties beside the events: " + properties.error().why);
    }
  }
  if (rank.info.rank_inferred) {
    rank.quality.add(QualityCode::kRankInferred, "taken as rank " + std::to_string(rank.info.rank));
  }
  describe_device(rank);
  mark_other_tracks(rank);
  shift_times(rank, rank.info.clock_base_ns);
  find_steps(rank);
  if (trace->truncated) mark_cut_step(rank);
  return {};
}

}  // namespace stepscope
