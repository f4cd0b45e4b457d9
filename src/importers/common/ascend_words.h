// Words that the text and database forms of Ascend recordings share, and what they mean.
#ifndef STEPSCOPE_IMPORTERS_COMMON_ASCEND_WORDS_H_
#define STEPSCOPE_IMPORTERS_COMMON_ASCEND_WORDS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "store/rank_builder.h"

namespace stepscope {

// Appends text as the inside of a JSON string.
void append_json_text(std::string_view text, std::string& into);

// Copies and sets that a stream runs by itself: MEMCPY_ASYNC and its relatives.
bool is_copy_task(std::string_view name);
// Scheduler words for work of a compute core; used where no table of kernels exists.
bool is_compute_task_type(std::string_view type);

// Operation, number in its group and bytes of a collective, from its name
// (hcom_allReduce__586_0_1), element count and type.
void describe_collective(StringId name, CommunicationDetail& detail, RankBuilder& rank);
// Bytes of one element of an HCCL data type; 0 when unknown.
int64_t element_bytes(std::string_view type);
// kNoString for INVALID_TYPE and RESERVED.
StringId valid_type(StringId type, const RankBuilder& rank);
// Puts the length of a plane task into wait (for a peer) or transit (to another device).
void time_transfer(int64_t dur_ns, const RankBuilder& rank, CommunicationDetail& detail);

// The number of a ProfilerStep#<n> mark, also with a module in front.
std::optional<int64_t> profiler_step_number(std::string_view name);

// Sums of times and sizes from files, which may be anything: stop at the ends of the range.
inline int64_t bounded_sum(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min() + 1;
}

// Times that can be added and subtracted safely, 146 years around 1970; not kNull.
inline bool is_usable_time(int64_t ns) {
  constexpr int64_t kLimit = int64_t{1} << 62;
  return ns > -kLimit && ns < kLimit;
}

// "NPU:3" -> 3.
int32_t device_of(std::string_view cell);

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_COMMON_ASCEND_WORDS_H_
