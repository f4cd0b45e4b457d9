#include "store/quality.h"

#include <array>

namespace stepscope {
namespace {

using enum QualityCode;
constexpr int kExamples = 3;

constexpr QualitySpec kSpecs[] = {
    {kTruncatedInput, "truncated_input", "loss",
     "the input ends in the middle; everything before that was read", false},
    {kUnparsableEvent, "unparsable_event", "loss", "events that could not be read and are missing",
     false},
    {kRepairedEvent, "repaired_event", "note",
     "events that are not written as their format wants (unescaped text, bare NaN, values in each "
     "other's column) and were read all the same",
     false},
    {kUnknownPhase, "unknown_phase", "loss",
     "events of a phase that the format does not define; they are not in any table", false},
    {kUnknownCategory, "unknown_category", "note",
     "events of a category this version does not know; kept in slices under their own word", false},
    {kUnknownProcess, "unknown_process", "note",
     "processes of a kind this version does not know; kept as tracks of kind other", false},
    {kUnknownColumn, "unknown_column", "note",
     "columns this version does not know; kept in the source tables", false},
    {kIgnoredFile, "ignored_file", "note",
     "files of the folder, or members of the zip, that were not read", false},
    {kUnreadableFile, "unreadable_file", "loss",
     "files that should have been read but could not be", false},
    {kDuplicateKey, "duplicate_key", "suspect",
     "objects that give a key twice; the last value was used", false},
    {kDroppedRecords, "dropped_records", "loss",
     "the profiler that made the input says that it lost records", false},
    {kNegativeDuration, "negative_duration", "suspect",
     "events with a negative length; kept and marked", true},
    {kZeroDuration, "zero_duration", "note", "events of length 0 that are not instants", false},
    {kEndBeforeStart, "end_before_start", "suspect",
     "records that end before they start; kept and marked", true},
    {kNegativeTime, "negative_time", "suspect", "events before time zero of the input", false},
    {kImplausibleDuration, "implausible_duration", "suspect",
     "events longer than seven days, usually a counter overflow; kept and marked", true},
    {kKernelBeforeLaunch, "kernel_before_launch", "suspect",
     "device work that starts before the call that launched it: the clocks of host and device "
     "disagree",
     false},
    {kLaunchOutsideWindow, "launch_outside_window", "note",
     "device work whose launching call is not in the input, usually launched before the recording "
     "began",
     false},
    {kStreamOverlap, "stream_overlap", "note",
     "slices that overlap others of the same stream without being nested; drawn on extra rows",
     false},
    {kOutlivesParent, "outlives_parent", "note",
     "host slices that end after the slice they are nested in, usually by rounding", false},
    {kFlowEndWithoutStart, "flow_end_without_start", "note",
     "arrows that have an end but no start in the input", false},
    {kFlowStartWithoutEnd, "flow_start_without_end", "note",
     "arrows that have a start but no end in the input", false},
    {kFlowWithoutSlice, "flow_without_slice", "note",
     "arrow ends at a time and lane where there is no slice", false},
    {kBeginWithoutEnd, "begin_without_end", "loss",
     "begin events without an end; drawn to the end of the trace and marked", true},
    {kEndWithoutBegin, "end_without_begin", "loss",
     "end events without a begin; they are not in any table", false},
    {kUnfinishedOperation, "unfinished_operation", "note",
     "operations that were still open when the recording stopped", false},
    {kClockJump, "clock_jump", "suspect",
     "a clock that jumped: slices that start more than a day after the one before them on their "
     "track; in recordings of Stepscope a calendar clock that was set meanwhile (times follow the "
     "steady clock) or clock readings that go backwards",
     false},
    {kClockCoarse, "clock_coarse", "note", "times whose unit is coarser than the rest of the input",
     false},
    {kDuplicateId, "duplicate_id", "suspect",
     "ids that should be unique but are given to several events", false},
    {kWindowCut, "window_cut", "note", "steps that the recording window cut; marked as incomplete",
     false},
    {kNoSteps, "no_steps", "note", "the input marks no training steps", false},
    {kMissingRank, "missing_rank", "loss", "ranks of the job that are not in the input", false},
    {kRankInferred, "rank_inferred", "note",
     "the input does not say its rank; it was taken from its place or name", false},
    {kFailedRank, "failed_rank", "loss", "ranks that could not be read", false},
    {kOtherForms, "other_forms", "note",
     "the same rank exists in other forms that were not read; --form chooses", false},
    {kRaggedRow, "ragged_row", "suspect", "table rows with fewer or more cells than the header",
     false},
    {kBadNumber, "bad_number", "suspect",
     "cells or fields that should be numbers and are not; read as missing", false},
    {kLeftOverRecords, "left_over_records", "note",
     "records of earlier recording windows; left out", true},
    {kInconsistentCounts, "inconsistent_counts", "suspect",
     "two places of the input that should agree do not; the example names them", false},
    {kInvalidText, "invalid_text", "note", "text that is not UTF-8; the bytes were kept", false},
    {kWideInteger, "wide_integer", "note", "integers that do not fit 64 bits; kept as text", false},
    {kEndedAbnormally, "ended_abnormally", "loss", "the program did not stop the recording", false},
    {kStillRecording, "still_recording", "note",
     "the recording was still going on when it was read; open it again for what came later", false},
    {kSourceLeftOut, "source_left_out", "note", "things that were to be recorded and could not be",
     false},
    {kNotHonoured, "not_honoured", "note",
     "options of the recording that have no effect on this device", false},
    {kLimitReached, "limit_reached", "loss", "a safety limit of the reader was reached", false},
    {kNotUnderstood, "not_understood", "loss",
     "files or parts of files that are known by name but whose meaning is not; not in any table",
     false},
    {kDamagedPacking, "damaged_packing", "suspect",
     "the packed file is not as its format wants: a wrong checksum, or bytes behind its end; its "
     "text was read",
     false},
    {kOverlappingWindows, "overlapping_windows", "suspect",
     "recordings of one rank that cover the same time: a copy, or the file of another rank; each "
     "counts as a window of its own",
     false},
    {kNamesLost, "names_lost", "loss",
     "ranges and others that lost their name: they are called (too many names), or their name was "
     "cut, because the program made up more names than a recording keeps",
     false},
};

constexpr bool specs_in_enum_order() {
  for (size_t i = 0; i < std::size(kSpecs); ++i) {
    if (static_cast<size_t>(kSpecs[i].code) != i) return false;
  }
  return static_cast<size_t>(kNamesLost) + 1 == std::size(kSpecs);
}
static_assert(specs_in_enum_order());

}  // namespace

std::span<const QualitySpec> quality_specs() { return kSpecs; }
const QualitySpec& quality_spec(QualityCode code) { return kSpecs[static_cast<size_t>(code)]; }

void QualityReport::add(QualityCode code, std::string_view example, int64_t count) {
  if (count == 0) return;
  Entry& entry = entries_[code];
  entry.count += count;
  if (example.empty() || entry.examples >= kExamples) return;
  if (!entry.example.empty()) entry.example += "; ";
  entry.example += example;
  ++entry.examples;
}

void QualityReport::merge(const QualityReport& other) {
  for (const auto& [code, entry] : other.entries_) add(code, entry.example, entry.count);
}

int64_t QualityReport::count(QualityCode code) const {
  const auto found = entries_.find(code);
  return found == entries_.end() ? 0 : found->second.count;
}

bool QualityReport::wants_example(QualityCode code) const {
  const auto found = entries_.find(code);
  return found == entries_.end() || found->second.examples < kExamples;
}

}  // namespace stepscope
