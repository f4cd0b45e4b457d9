#include "collector/sources/mindspore/mindspore_source.h"

#include "base/json_text.h"
#include "collector/record_tables.h"

namespace stepscope {

// Folders that were handed over while nothing recorded any more.
Status MindsporeSource::start() {
  inbox_.clear();
  inbox_.turned_away();
  return {};
}

MindsporeSource::~MindsporeSource() { inbox_.clear(); }

void MindsporeSource::collect(SourceOutput& output) {
  if (!output.all && !reader_.has_thread() && inbox_.size() > 0) reader_.start_thread();
  const bool behind = !output.all && reader_.has_thread();
  reader_.read_down_to(behind ? WindowReader::kMostWaiting : 0);
  for (const ReadWindow& window : reader_.take()) add(window, output);
  turned_away_ += inbox_.turned_away();
  // Perhaps twice: the last note is the one that counts.
  if (stopping_ && windows_ + turned_away_ > 0) add_note(output);
}

void MindsporeSource::add(const ReadWindow& window, SourceOutput& output) {
  const MindsporeWindow& rows = window.rows;
  auto& ops = output.chunk.table(kMindsporeOpsTable, 0);
  for (const MindsporeOperator& op : rows.operators)
    ops.add({op.start_ns, op.duration_ns, op.name, op.input_shapes});
  auto& records = output.chunk.table(kMindsporeMemoryTable, 0);
  for (const MindsporeMemory& record : rows.memory)
    records.add(
        {record.when_ns, record.allocated_bytes, record.reserved_bytes, record.active_bytes});
  // The window's times are of the calendar clock: one more reading of it, close to them.
  output.chunk.table(kClocksTable, 0)
      .add({static_cast<int64_t>(window.clock.ticks), window.clock.monotonic_ns,
            window.clock.realtime_ns});
  output.events += static_cast<int64_t>(rows.operators.size() + rows.memory.size());
  ++windows_;
  operators_ += static_cast<int64_t>(rows.operators.size());
  memory_records_ += static_cast<int64_t>(rows.memory.size());
  if (window.shapes_asked) asked_shapes_ += static_cast<int64_t>(rows.operators.size());
  unreadable_ += rows.unreadable;
  left_out_ += rows.left_out;
  without_shapes_ += rows.without_shapes;
}

void MindsporeSource::add_note(SourceOutput& output) const {
  JsonObject json;
  json.add("windows", windows_);
  json.add("operators", operators_);
  json.add("memory_records", memory_records_);
  json.add("unreadable", unreadable_);
  json.add("left_out", left_out_);
  json.add("windows_turned_away", turned_away_);
  json.add("asked_shapes", asked_shapes_);
  json.add("without_shapes", without_shapes_);
  output.lasting.add_note("mindspore", json.text());
}

}  // namespace stepscope
