// The data-quality report: every condition by name, counted, with the first places it was seen.
#ifndef STEPSCOPE_STORE_QUALITY_H_
#define STEPSCOPE_STORE_QUALITY_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace stepscope {

enum class QualityCode : uint8_t {
  kTruncatedInput,
  kUnparsableEvent,
  kRepairedEvent,
  kUnknownPhase,
  kUnknownCategory,
  kUnknownProcess,
  kUnknownColumn,
  kIgnoredFile,
  kUnreadableFile,
  kDuplicateKey,
  kDroppedRecords,
  kNegativeDuration,
  kZeroDuration,
  kEndBeforeStart,
  kNegativeTime,
  kImplausibleDuration,
  kKernelBeforeLaunch,
  kLaunchOutsideWindow,
  kStreamOverlap,
  kOutlivesParent,
  kFlowEndWithoutStart,
  kFlowStartWithoutEnd,
  kFlowWithoutSlice,
  kBeginWithoutEnd,
  kEndWithoutBegin,
  kUnfinishedOperation,
  kClockJump,
  kClockCoarse,
  kDuplicateId,
  kWindowCut,
  kNoSteps,
  kMissingRank,
  kRankInferred,
  kFailedRank,
  kOtherForms,
  kRaggedRow,
  kBadNumber,
  kLeftOverRecords,
  kInconsistentCounts,
  kInvalidText,
  kWideInteger,
  kEndedAbnormally,
  kStillRecording,
  kSourceLeftOut,
  kNotHonoured,
  kLimitReached,
  kNotUnderstood,
  kDamagedPacking,
  kOverlappingWindows,
  kNamesLost,
};

struct QualitySpec {
  QualityCode code;
  std::string_view name;      // snake_case, the word in SQL
  std::string_view severity;  // loss, suspect, note
  std::string_view meaning;
  bool excluded;  // totals leave such events out
};

// In the order of the enum.
std::span<const QualitySpec> quality_specs();
const QualitySpec& quality_spec(QualityCode code);

class QualityReport {
 public:
  struct Entry {
    int64_t count = 0;
    std::string example;  // up to three places, joined by "; "
    int examples = 0;
  };

  void add(QualityCode code, std::string_view example = {}, int64_t count = 1);
  void merge(const QualityReport& other);
  const std::map<QualityCode, Entry>& entries() const { return entries_; }
  int64_t count(QualityCode code) const;
  // Whether another example of `code` would be kept: lets hot paths compose examples only when
  // needed.
  bool wants_example(QualityCode code) const;

 private:
  std::map<QualityCode, Entry> entries_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_STORE_QUALITY_H_
