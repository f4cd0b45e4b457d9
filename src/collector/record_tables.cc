#include "collector/record_tables.h"

#include <algorithm>
#include <cstring>

#include "collector/clock.h"

namespace stepscope {
namespace {

// Where the record behind the one at `position` is.
uint64_t behind(uint64_t kind, uint64_t position, uint64_t head) {
  const uint64_t slots = 1 + ((kind & STEPSCOPE_LONG) != 0) + ((kind & STEPSCOPE_VALUES) != 0);
  return position + std::min(slots, head - position);
}

}  // namespace

RecordSorter::RecordSorter(ChunkBuilder& chunk, LastingRows& lasting, int64_t thread,
                           uint64_t beginning, uint64_t now)
    : chunk_(chunk),
      lasting_(lasting),
      thread_(thread),
      ranges_(chunk.table(kRangesTable, thread)),
      values_(chunk.table(kValuesTable, thread)),
      beginning_(beginning),
      now_(now) {}

uint64_t RecordSorter::add(const stepscope_ring& ring, uint64_t position, uint64_t head) {
  const auto slot = [&](uint64_t at) -> const stepscope_record& {
    return ring.records[at & ring.mask];
  };
  const stepscope_record& record = slot(position);
  const uint64_t kind = record.when & 0xFFFF;
  const uint64_t next_record = behind(kind, position, head);
  uint64_t next = position + 1;
  uint64_t duration = record.duration;
  if (kind & STEPSCOPE_LONG) std::memcpy(&duration, &slot(next++), sizeof duration);
  const auto plain_kind =
      static_cast<int64_t>(kind & ~static_cast<uint64_t>(STEPSCOPE_LONG | STEPSCOPE_VALUES));
  // Of a range the end is known to be recent, whatever it took: 48 bits are some thirty hours.
  const uint64_t lasted = plain_kind < STEPSCOPE_MARK ? duration : 0;
  const uint64_t start = widen_ticks((record.when >> 16) + lasted, now_) - lasted;
  // A range that was open when an earlier recording stopped.
  if (start < beginning_) return next_record;
  ++events_;
  if (kind & STEPSCOPE_VALUES) {
    int64_t values[2];
    std::memcpy(values, &slot(next), sizeof values);
    if (plain_kind == STEPSCOPE_DEVICE_CALL) {
      add_call(static_cast<int64_t>(start), static_cast<int64_t>(duration), record.name, values);
    } else if (plain_kind == STEPSCOPE_STACK_NODE) {
      lasting_.add(kValuesTable, thread_,
                   {plain_kind, static_cast<int64_t>(start), static_cast<int64_t>(duration),
                    record.name, values[0], values[1]});
    } else {
      if (plain_kind == STEPSCOPE_STEP && steps_ != nullptr)
        steps_->push_back({start, values[0], false, thread_});
      values_.add({plain_kind, static_cast<int64_t>(start), static_cast<int64_t>(duration),
                   record.name, values[0], values[1]});
    }
  } else {
    if (plain_kind == STEPSCOPE_STEP_END && steps_ != nullptr)
      steps_->push_back({start, 0, true, thread_});
    ranges_.add(
        {plain_kind, static_cast<int64_t>(start), static_cast<int64_t>(duration), record.name});
  }
  return next_record;
}

void RecordSorter::add_call(int64_t start, int64_t duration, uint32_t name,
                            const int64_t (&values)[2]) {
  const auto low = [](int64_t value) { return value & 0xFFFFFFFF; };
  const auto high = [](int64_t value) { return value >> 32 & 0xFFFFFFFF; };
  const auto driver = static_cast<size_t>(values[1] & 1);
  if (calls_[driver] == nullptr)
    calls_[driver] = &chunk_.table(driver != 0 ? kDriverCallsTable : kRuntimeCallsTable, thread_);
  calls_[driver]->add({start, duration, name, low(values[0])});
  const int64_t waits_for = values[1] >> 8 & 0xFF;
  if (waits_for == 0) return;
  chunk_.table(kSynchronizationsTable, high(values[1]))
      .add({waits_for, start, duration, high(values[0]) - 1, low(values[0]), -1});
}

uint64_t count_records(const stepscope_ring& ring) {
  uint64_t count = 0;
  const uint64_t head = __atomic_load_n(&ring.head, __ATOMIC_ACQUIRE);
  for (uint64_t at = __atomic_load_n(&ring.tail, __ATOMIC_ACQUIRE); at < head; ++count) {
    at = behind(ring.records[at & ring.mask].when & 0xFFFF, at, head);
  }
  return count;
}

}  // namespace stepscope
