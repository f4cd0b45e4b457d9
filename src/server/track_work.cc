#include "server/track_work.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <string>
#include <unordered_map>

#include "analyses/common/merging.h"
#include "analyses/common/rank_rows.h"

namespace stepscope {
namespace {

// Ascend's EVENT_WAIT_SQE and Notify Wait, Kineto's gpu_user_annotation.
bool is_work(std::string_view category) {
  std::string word(category);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return word.find("wait") == std::string::npos && word.find("annotation") == std::string::npos;
}

class DeviceWork {
 public:
  DeviceWork(const StoreReader& store, size_t rank, const Interval& within)
      : store_(store), rank_(rank), within_(within) {}

  std::vector<int64_t> take() {
    const uint64_t tracks = store_.rows(Table::kTracks, rank_);
    is_device_.resize(tracks);
    has_kernels_.resize(tracks);
    work_.resize(tracks);
    for (uint64_t track = 0; track < tracks; ++track)
      is_device_[track] = text_at(store_, Table::kTracks, "kind", rank_, track) == "device";
    add_kernels();
    for (const Lane& lane : store_.lanes(rank_)) {
      if (lane.track < tracks && is_device_[lane.track] && !has_kernels_[lane.track])
        add_slices(lane);
    }
    std::vector<int64_t> found(tracks, kNull);
    for (uint64_t track = 0; track < tracks; ++track) {
      if (is_device_[track]) found[track] = total_length_ns(work_[track].take());
    }
    return found;
  }

 private:
  void add(uint64_t track, int64_t start_ns, int64_t dur_ns) {
    if (dur_ns == kNull || dur_ns <= 0) return;
    work_[track].add(std::max(start_ns, within_.start_ns),
                     std::min(start_ns + dur_ns, within_.end_ns));
  }

  void add_kernels() {
    const auto base = static_cast<int64_t>(store_.row_base(Table::kTracks, rank_));
    for_each_row<4>(store_, Table::kKernels, rank_, {"track", "ts", "dur", "flags"},
                    [&](const auto& row) {
                      const auto [track, ts_ns, dur_ns, flags] = row;
                      const auto at = static_cast<uint64_t>(track - base);
                      if (track < base || at >= work_.size() || !is_device_[at]) return;
                      has_kernels_[at] = true;
                      if ((flags & kFlagImpossible) == 0) add(at, ts_ns, dur_ns);
                    });
  }

  void add_slices(const Lane& lane) {
    const ColumnView& starts = store_.column(Table::kSlices, "ts", rank_);
    const ColumnView& durations = store_.column(Table::kSlices, "dur", rank_);
    const ColumnView& categories = store_.column(Table::kSlices, "cat", rank_);
    for (uint64_t row = lane.first_row; row < lane.first_row + lane.rows; ++row) {
      const int64_t start_ns = starts.at(row);
      if (start_ns >= within_.end_ns) break;
      const auto [known, added] = is_work_.try_emplace(categories.at(row), false);
      if (added) known->second = is_work(store_.string(known->first));
      if (known->second) add(lane.track, start_ns, durations.at(row));
    }
  }

  const StoreReader& store_;
  const size_t rank_;
  const Interval within_;
  std::vector<bool> is_device_, has_kernels_;
  std::vector<Merging> work_;
  std::unordered_map<int64_t, bool> is_work_;  // by string id of the category
};

}  // namespace

std::vector<int64_t> device_work_ns(const StoreReader& store, size_t rank, const Interval& within) {
  return DeviceWork(store, rank, within).take();
}

std::vector<int64_t> busy_of_tracks(const StoreReader& store, size_t rank) {
  std::vector<int64_t> busy = device_work_ns(
      store, rank, {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()});
  const ColumnView& durations = store.column(Table::kSlices, "dur", rank);
  std::vector<bool> is_outermost(busy.size());
  for (size_t track = 0; track < busy.size(); ++track) {
    is_outermost[track] = busy[track] == kNull;
    if (is_outermost[track]) busy[track] = 0;
  }
  std::vector<int64_t> values(kBlockRows);
  for (const Lane& lane : store.lanes(rank)) {
    if (lane.depth != 0 || lane.track >= busy.size() || !is_outermost[lane.track]) continue;
    const uint64_t end = lane.first_row + lane.rows;
    for (uint64_t row = lane.first_row; row < end;) {
      const size_t block = row / kBlockRows;
      const size_t rows = durations.decode(block, values.data());
      const uint64_t stop = std::min<uint64_t>(end, block * kBlockRows + rows);
      if (stop <= row) break;
      for (; row < stop; ++row)
        busy[lane.track] += std::max<int64_t>(values[row - block * kBlockRows], 0);
    }
  }
  return busy;
}

}  // namespace stepscope
