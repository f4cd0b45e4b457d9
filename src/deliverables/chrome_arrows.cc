#include "deliverables/chrome_arrows.h"

#include <string_view>

#include "analyses/common/rank_rows.h"
#include "deliverables/recording_form.h"

namespace stepscope {
namespace {

constexpr std::string_view kOperatorToDevice = "async_npu";

// The words of all sources for an arrow from the launching call to the device.
bool is_of_launches(std::string_view category) {
  return category == "ac2g" || category == "HostToDevice" || category == "async_gpu" ||
         category == "async_cpu_to_gpu" || category == "async";
}

}  // namespace

ChromeArrows::ChromeArrows(const ChromeRank& rank, bool is_view) : rank_(rank), is_view_(is_view) {
  const RecordingForm form = recording_form(rank.store(), rank.position());
  is_npu_ = form.is_npu;
  is_mindspore_ = form.is_mindspore;
  // Other exports have the source's arrows and no more, so that they come back as they were.
  const bool may_add = is_view || rank.text(Table::kRanks, "source_format") == "native";
  draws_launches_ = may_add;
  draws_operators_ = may_add && is_npu_;
  bool has_launch_kind = false;
  for (uint64_t flow = 0; flow < rank.rows(Table::kFlows); ++flow) {
    const std::string_view kind = rank.text(Table::kFlows, "kind", flow);
    if (kind == kOperatorToDevice) draws_operators_ = false;
    if (is_of_launches(kind)) draws_launches_ = false;
    if (has_launch_kind || !is_launch(flow)) continue;
    has_launch_kind = true;
    launch_kind_ = kind;
  }
}

bool ChromeArrows::is_launch(uint64_t flow) const {
  const int64_t from = rank_.number(Table::kFlows, "from_slice", flow);
  const int64_t to = rank_.number(Table::kFlows, "to_slice", flow);
  const auto count = static_cast<int64_t>(rank_.slice_count());
  if (from < 0 || from >= count || to < 0 || to >= count) return false;
  const auto start = static_cast<uint64_t>(from);
  const auto end = static_cast<uint64_t>(to);
  return (rank_.slice(start).flags & kFlagFlowStart) != 0 &&
         (rank_.slice(end).flags & kFlagFlowEnd) != 0 &&
         rank_.correlation(start) == rank_.correlation(end);
}

Status ChromeArrows::for_each(const std::function<Status(const ChromeArrow&)>& take) const {
  const uint64_t flows = rank_.rows(Table::kFlows);
  for (uint64_t flow = 0; flow < flows; ++flow) {
    if (is_launch(flow)) continue;  // written with its slices
    const int64_t from = rank_.number(Table::kFlows, "from_slice", flow);
    const int64_t to = rank_.number(Table::kFlows, "to_slice", flow);
    if (!is_chosen(from) || !is_chosen(to)) continue;
    if (auto status = take({static_cast<uint64_t>(from), static_cast<uint64_t>(to),
                            rank_.text(Table::kFlows, "kind", flow), static_cast<int64_t>(flow)});
        !status)
      return status;
  }
  auto next_id = static_cast<int64_t>(flows);
  if (draws_launches_) {
    if (auto status = add_links("launch", is_npu_ ? kHostToDevice : launch_kind_, next_id, take);
        !status)
      return status;
    next_id += static_cast<int64_t>(rank_.rows(Table::kKernels));
  }
  return draws_operators_ ? add_links("op", kOperatorToDevice, next_id, take) : Status();
}

// From the slice that a column of kernels names to the kernel.
Status ChromeArrows::add_links(std::string_view column, std::string_view category, int64_t first_id,
                               const std::function<Status(const ChromeArrow&)>& take) const {
  const auto base = static_cast<int64_t>(rank_.store().row_base(Table::kSlices, rank_.position()));
  Status status;
  int64_t id = first_id;
  for_each_row<2>(
      rank_.store(), Table::kKernels, rank_.position(), {column, "id"}, [&](const auto& row) {
        const int64_t own_id = id++;
        if (!status || row[0] == kNull) return;
        const int64_t from = row[0] - base;
        const int64_t to = row[1] - base;
        if (!is_chosen(from) || !is_chosen(to)) return;
        status = take({static_cast<uint64_t>(from), static_cast<uint64_t>(to), category, own_id});
      });
  return status;
}

std::string ChromeArrows::name_of(std::string_view category, int64_t id) const {
  if (is_view_) {
    if (category == kHostToDevice) return std::string(category) + std::to_string(id);
    if (category == kOperatorToDevice) return is_mindspore_ ? "mindspore_to_npu" : "torch_to_npu";
    if (category == "async_mindspore") return "mindspore_to_self";
    if (category == "async_task_queue") return "enqueue_to_dequeue";
    if (category == "MsTx" && is_mindspore_) return "mindspore_to_mstx";
  }
  return std::string(category);
}

}  // namespace stepscope
