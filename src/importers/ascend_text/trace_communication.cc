// Collectives and their transfers in the timeline: the HCCL (later Communication) process.
#include <algorithm>
#include <map>

#include "base/decimal.h"
#include "importers/ascend_text/trace_view.h"
#include "importers/common/ascend_words.h"

namespace stepscope {
namespace {

constexpr int64_t kInvalid32 = 0xFFFFFFFF;

}  // namespace

void TraceView::finish_operation(SliceRecord& slice, StringId group) {
  KernelDetail kernel;
  if (slice.detail != kNoDetail) kernel = rank_.kernel(slice.detail);
  if (kernel.communication == kNoDetail) kernel.communication = rank_.add_communication({});
  if (kernel.type == kNoString) kernel.type = rank_.strings.intern("COMMUNICATION");
  if (const KernelRow* row =
          kernels_.take(slice.ts_ns, rank_.strings.view(slice.name), rank_.strings)) {
    use_row(*row, kernel);
  }
  kernel.work_class = WorkClass::kCommunication;
  CommunicationDetail& detail = rank_.communication(kernel.communication);
  detail.level = rank_.strings.intern("op");
  detail.group = group;
  detail.data_type = valid_type(detail.data_type, rank_);
  describe_collective(slice.name, detail, rank_);
  slice.kind = SliceKind::kKernel;
  slice.detail = rank_.add_kernel(kernel);
  if (slice.cat == kEmptyString) slice.cat = rank_.strings.intern("communication");
}

void TraceView::finish_transfer(SliceRecord& slice, StringId group, StringId whole) {
  uint32_t index = kNoDetail;
  StringId type = kNoString;
  if (slice.detail != kNoDetail) {
    index = rank_.kernel(slice.detail).communication;
    type = rank_.kernel(slice.detail).type;
  }
  if (index == kNoDetail) index = rank_.add_communication({});
  CommunicationDetail& detail = rank_.communication(index);
  detail.level = rank_.strings.intern("task");
  detail.op = type == kNoString ? slice.name : type;
  detail.group = group;
  detail.of_name = whole;
  if (detail.dst_rank == kInvalid32) detail.dst_rank = detail.src_rank;
  if (detail.src_rank == kInvalid32) detail.src_rank = kNull;
  detail.data_type = valid_type(detail.data_type, rank_);
  detail.link = valid_type(detail.link, rank_);
  time_transfer(slice.dur_ns, rank_, detail);
  slice.kind = SliceKind::kCommunication;
  slice.detail = index;
  if (slice.cat == kEmptyString && type != kNoString) slice.cat = type;
}

// A group has one lane of whole operations and, from level 1 on, lanes of its planes with the
// numbers that follow. A plane's task belongs to the operation of its group that runs at its start.
void TraceView::finish_communication() {
  struct Group {
    int64_t tid;
    TrackId track;
    StringId name = kNoString;
  };
  std::map<StringId, std::vector<Group>> groups;  // by process id
  const auto tid_of = [&](TrackId id) {
    return parse_integer(rank_.strings.view(rank_.track(id).tid)).value_or(0);
  };
  const auto is_plane = [&](TrackId id) {
    const std::string_view thread = rank_.strings.view(rank_.track(id).thread);
    return thread.starts_with("Plane") || thread.find(" Plane ") != std::string_view::npos;
  };
  for (TrackId id = 0; id < rank_.track_count(); ++id) {
    if (layers_[id] != Layer::kCommunication || is_plane(id)) continue;
    const std::string_view thread = rank_.strings.view(rank_.track(id).thread);
    const StringId name = rank_.strings.intern(std::string(thread.substr(0, thread.find(" Comm"))));
    groups[rank_.track(id).pid].push_back({tid_of(id), id, name});
    for (SliceRecord& slice : rank_.slices(id)) {
      if (slice.kind == SliceKind::kOther) finish_operation(slice, name);
    }
    auto& slices = rank_.slices(id);
    std::stable_sort(slices.begin(), slices.end(),
                     [](const SliceRecord& a, const SliceRecord& b) { return a.ts_ns < b.ts_ns; });
  }
  for (auto& [pid, list] : groups) {
    std::sort(list.begin(), list.end(),
              [](const Group& a, const Group& b) { return a.tid < b.tid; });
  }
  for (TrackId id = 0; id < rank_.track_count(); ++id) {
    if (layers_[id] != Layer::kCommunication || !is_plane(id)) continue;
    const Group* group = nullptr;
    for (const Group& one : groups[rank_.track(id).pid]) {
      if (one.tid < tid_of(id)) group = &one;
    }
    for (SliceRecord& slice : rank_.slices(id)) {
      if (slice.kind != SliceKind::kOther) continue;
      StringId whole = kNoString;
      if (group != nullptr) {
        const auto& wholes = rank_.slices(group->track);
        const auto* after = std::upper_bound(
            wholes.begin(), wholes.end(), slice.ts_ns,
            [](int64_t ts_ns, const SliceRecord& other) { return ts_ns < other.ts_ns; });
        if (after != wholes.begin() &&
            slice.ts_ns <= bounded_sum((after - 1)->ts_ns, (after - 1)->dur_ns)) {
          whole = (after - 1)->name;
        }
      }
      finish_transfer(slice, group == nullptr ? kNoString : group->name, whole);
    }
  }
}

}  // namespace stepscope
