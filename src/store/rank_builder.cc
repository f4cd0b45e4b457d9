#include "store/rank_builder.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "base/hash.h"

namespace stepscope {

std::string_view track_kind_name(TrackKind kind) {
  switch (kind) {
    case TrackKind::kHost:
      return "host";
    case TrackKind::kDevice:
      return "device";
    case TrackKind::kCommunication:
      return "communication";
    case TrackKind::kPython:
      return "python";
    case TrackKind::kCounter:
      return "counter";
    case TrackKind::kAsync:
      return "async";
    case TrackKind::kAnalysis:
      return "analysis";
    case TrackKind::kOther:
      break;
  }
  return "other";
}

TrackId RankBuilder::add_track(const TrackInfo& track) {
  tracks_.push_back({track, {}});
  return static_cast<TrackId>(tracks_.size() - 1);
}

namespace {

constexpr size_t kRecentDetails = 1 << 14;  // direct-mapped: 64 KiB a table

// The number of an equal detail that was added recently, or of a new one.
template <typename Detail>
uint32_t add_once(const Detail& detail, PodVector<Detail>& all, std::vector<uint32_t>& recent) {
  const std::string_view bytes(reinterpret_cast<const char*>(&detail), sizeof detail);
  if (recent.empty()) recent.assign(kRecentDetails, kNoDetail);
  uint32_t& slot = recent[hash_bytes(bytes) % kRecentDetails];
  if (slot != kNoDetail && std::memcmp(&all[slot], &detail, sizeof detail) == 0) return slot;
  all.push_back(detail);
  slot = static_cast<uint32_t>(all.size() - 1);
  return slot;
}

}  // namespace

uint32_t RankBuilder::add_kernel(const KernelDetail& detail) {
  return add_once(detail, kernels_, recent_kernels_);
}

uint32_t RankBuilder::add_op(const OpDetail& detail) { return add_once(detail, ops_, recent_ops_); }

uint32_t RankBuilder::add_communication(const CommunicationDetail& detail) {
  communications_.push_back(detail);
  return static_cast<uint32_t>(communications_.size() - 1);
}

uint64_t RankBuilder::add_args(std::string_view json) {
  const uint64_t offset = own_args_.size() + 1;  // offset 0 of source 0 would look like "no args"
  own_args_ += json;
  return ArgsRef::pack(0, offset, json.size());
}

PackedId RankBuilder::pack_id(int64_t id) {
  if (id >= 0 && id < kNoId) return static_cast<PackedId>(id);
  if (id == kNull) return kNoId;
  // One number per id, not per use: links compare packed ids.
  const auto [known, added] = wide_index_.try_emplace(id, static_cast<uint32_t>(wide_ids_.size()));
  if (added) wide_ids_.push_back(id);
  return 0x80000000u | known->second;
}

int64_t RankBuilder::unpack_id(PackedId id) const {
  if (id == kNoId) return kNull;
  return (id & 0x80000000u) ? wide_ids_[id & 0x7FFFFFFFu] : static_cast<int64_t>(id);
}

void number_stages(std::vector<StageRecord>& stages) {
  std::unordered_map<StringId, size_t> places;
  for (size_t at = 0; at < stages.size(); ++at) places.try_emplace(stages[at].stage, at);
  std::vector<bool> seen(stages.size());
  for (size_t first = 0; first < stages.size(); ++first) {
    std::vector<size_t> path;
    size_t at = first;
    int64_t position = -1;  // of what the last of the path hands its items to
    while (true) {
      if (seen[at]) {
        // Known by now; or on this very path, a circle.
        position = stages[at].position;
        break;
      }
      seen[at] = true;
      path.push_back(at);
      const auto next = places.find(stages[at].consumer);
      if (stages[at].consumer == kNoString || next == places.end()) break;
      at = next->second;
    }
    for (; !path.empty(); path.pop_back()) {
      if (position != kNull) ++position;
      stages[path.back()].position = position;
    }
  }
  std::stable_sort(stages.begin(), stages.end(), [](const StageRecord& a, const StageRecord& b) {
    return a.position > b.position;
  });
}

}  // namespace stepscope
