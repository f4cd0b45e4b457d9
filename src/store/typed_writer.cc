#include "store/typed_writer.h"

#include <unordered_map>

#include "store/slice_writer.h"

namespace stepscope {
namespace {

int64_t or_null(int32_t value) { return value < 0 ? kNull : value; }

}  // namespace

TypedWriter::TypedWriter(StoreWriter& store, uint32_t position, const LaidOutRank& laid_out,
                         const RankLinks& links, const StringRemap& strings)
    : store_(store),
      position_(position),
      laid_out_(laid_out),
      rank_(*laid_out.rank),
      links_(links),
      strings_(strings),
      kernels_(store, Table::kKernels, position),
      ops_(store, Table::kOps, position) {
  class_names_[static_cast<size_t>(WorkClass::kCompute)] = text(rank_.strings.find("compute"));
  class_names_[static_cast<size_t>(WorkClass::kCommunication)] =
      text(rank_.strings.find("communication"));
  class_names_[static_cast<size_t>(WorkClass::kMemory)] = text(rank_.strings.find("memory"));
}

Status TypedWriter::write() {
  const auto visit = [&](TrackId track, uint32_t index, uint32_t row, uint32_t) {
    const SliceRecord& slice = rank_.slices(track)[index];
    if (slice.kind == SliceKind::kKernel)
      write_kernel(track, index, row);
    else if (slice.kind == SliceKind::kOp)
      write_op(slice, row);
    else if (slice.kind == SliceKind::kCommunication)
      note_communication(slice, row, slice.detail);
  };
  for_each_row(laid_out_, visit, [](TrackId, uint32_t, uint32_t, uint32_t) {});
  if (auto status = kernels_.finish(); !status) return status;
  if (auto status = ops_.finish(); !status) return status;
  return write_communications();
}

void TypedWriter::note_communication(const SliceRecord& slice, uint32_t row, uint32_t detail) {
  if (detail == kNoDetail) return;
  communications_.push_back({row, detail, slice.ts_ns, slice.ts_ns + slice.dur_ns, slice.name});
}

void TypedWriter::write_kernel(TrackId track, uint32_t index, uint32_t row) {
  const SliceRecord& slice = rank_.slices(track)[index];
  const SlicePlace launch = laid_out_.place(laid_out_.launches[track][index]);
  static const KernelDetail kNothing;
  const KernelDetail& detail = slice.detail == kNoDetail ? kNothing : rank_.kernel(slice.detail);
  const TrackInfo& lane = rank_.track(track);
  const SlicePlace op = operator_of(slice, launch);
  size_t column = 0;
  const auto push = [&](int64_t value) { kernels_.column(column++).push(value); };
  push(row);
  push(lane.device);
  push(lane.stream);
  push(class_names_[static_cast<size_t>(detail.work_class)]);
  push(text(detail.type));
  push(text(detail.op_type));
  push(launch.found() ? static_cast<int64_t>(laid_out_.row(launch.track, launch.index)) : kNull);
  push(op.found() ? static_cast<int64_t>(laid_out_.row(op.track, op.index)) : kNull);
  push(launch.found() ? slice.ts_ns - rank_.slices(launch.track)[launch.index].ts_ns : kNull);
  push(detail.wait_ns);
  push(text(detail.input_shapes));
  push(text(detail.input_types));
  push(text(detail.output_shapes));
  push(text(detail.grid));
  push(text(detail.block));
  push(or_null(detail.registers));
  push(or_null(detail.shared_memory));
  push(or_null(detail.occupancy));
  push(detail.bytes);
  push(text(detail.counters));
  note_communication(slice, row, detail.communication);
}

// By external id, unless the launching call lies in an operator and the one with that id does not
// run at that time: some writers put the correlation there, which is another operator's id by
// chance.
SlicePlace TypedWriter::operator_of(const SliceRecord& kernel, const SlicePlace& launch) const {
  const SlicePlace named = laid_out_.place(links_.operators.find(kernel.external_id));
  if (!launch.found()) return named;
  const auto& host = rank_.slices(launch.track);
  if (named.found()) {
    const SliceRecord& op = rank_.slices(named.track)[named.index];
    const int64_t launched_ns = host[launch.index].ts_ns;
    if (op.ts_ns <= launched_ns && launched_ns <= op.ts_ns + op.dur_ns) return named;
  }
  uint32_t at = laid_out_.layouts[launch.track].parent[launch.index];
  while (at != kNoSlice && host[at].kind != SliceKind::kOp)
    at = laid_out_.layouts[launch.track].parent[at];
  const SlicePlace around = {launch.track, at};
  return around.found() ? around : named;
}

void TypedWriter::write_op(const SliceRecord& slice, uint32_t row) {
  static const OpDetail kNothing;
  const OpDetail& detail = slice.detail == kNoDetail ? kNothing : rank_.op(slice.detail);
  ops_.row({row, text(detail.type), text(detail.input_shapes), text(detail.input_types),
            detail.sequence, detail.forward_thread, text(detail.stack), text(detail.module)});
  note_communication(slice, row, detail.communication);
}

Status TypedWriter::write_communications() {
  std::unordered_map<StringId, std::vector<const PendingCommunication*>> wholes;
  for (const auto& pending : communications_) wholes[pending.name].push_back(&pending);
  TableWriter table(store_, Table::kCommunications, position_);
  for (const auto& pending : communications_) {
    const CommunicationDetail& detail = rank_.communication(pending.detail);
    int64_t of = kNull;
    if (detail.of_name != kNoString) {
      if (const auto found = wholes.find(detail.of_name); found != wholes.end()) {
        for (const auto* whole : found->second) {
          if (whole->ts_ns <= pending.ts_ns && pending.ts_ns <= whole->end_ns) of = whole->row;
        }
      }
    }
    table.row({pending.row, text(detail.level), text(detail.op), text(detail.group),
               detail.group_size, detail.sequence, detail.bytes, detail.elements,
               text(detail.data_type), text(detail.algorithm), detail.src_rank, detail.dst_rank,
               text(detail.transport), text(detail.link),
               detail.bandwidth < 0 ? kNull : float_bits(detail.bandwidth), detail.wait_ns,
               detail.transit_ns, of});
  }
  return table.finish();
}

}  // namespace stepscope
