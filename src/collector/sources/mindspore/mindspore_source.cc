#include "collector/sources/mindspore/mindspore_source.h"

#include <dirent.h>
#include <unistd.h>

#include <utility>

#include "base/json_text.h"
#include "collector/record_tables.h"

namespace stepscope {
namespace {

// The names end in a rank that only MindSpore knows: they are told by how they begin.
constexpr std::string_view kOperators = "cpu_op_execute_timestamp_";
constexpr std::string_view kLaunches = "cpu_framework_";
constexpr std::string_view kMemory = "cpu_ms_memory_record_";
constexpr std::string_view kWritten[] = {kOperators, kLaunches, kMemory, "cpu_op_detail_info_",
                                         "cpu_op_type_info_"};

constexpr std::string_view kScratch = "stepscope-mindspore-";  // the Python side's word

template <typename Visit>
void visit_files(const std::string& folder, const Visit& visit) {
  DIR* const entries = ::opendir(folder.c_str());
  if (entries == nullptr) return;
  while (const dirent* const entry = ::readdir(entries)) {
    for (const std::string_view beginning : kWritten) {
      if (std::string_view(entry->d_name).starts_with(beginning)) {
        visit(beginning, folder + "/" + entry->d_name);
      }
    }
  }
  ::closedir(entries);
}

}  // namespace

void remove_mindspore_folder(const std::string& path) {
  std::vector<std::string> files;
  visit_files(path, [&](std::string_view, const std::string& file) { files.push_back(file); });
  for (const std::string& file : files) ::unlink(file.c_str());
  ::rmdir(path.c_str());
  // The folder of the windows goes with the last of them.
  const std::string parent = path.substr(0, path.rfind('/'));
  if (parent.substr(parent.rfind('/') + 1).starts_with(kScratch)) ::rmdir(parent.c_str());
}

bool MindsporeInbox::put(MindsporeFolder folder) {
  {
    const std::lock_guard lock(mutex_);
    if (folders_.size() < kMostFolders) {
      folders_.push_back(std::move(folder));
      return true;
    }
    ++turned_away_;
  }
  remove_mindspore_folder(folder.path);
  return false;
}

std::vector<MindsporeFolder> MindsporeInbox::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(folders_, {});
}

int64_t MindsporeInbox::turned_away() {
  const std::lock_guard lock(mutex_);
  return std::exchange(turned_away_, 0);
}

// Folders that were handed over while nothing recorded any more.
Status MindsporeSource::start() {
  for (const MindsporeFolder& folder : inbox_.take()) remove_mindspore_folder(folder.path);
  inbox_.turned_away();
  return {};
}

MindsporeSource::~MindsporeSource() {
  for (const MindsporeFolder& folder : inbox_.take()) remove_mindspore_folder(folder.path);
}

void MindsporeSource::collect(SourceOutput& output) {
  for (const MindsporeFolder& folder : inbox_.take()) {
    read(folder, output);
    remove_mindspore_folder(folder.path);
  }
  turned_away_ += inbox_.turned_away();
  // Perhaps twice: the last note is the one that counts.
  if (stopping_ && windows_ + turned_away_ > 0) add_note(output);
}

void MindsporeSource::read(const MindsporeFolder& folder, SourceOutput& output) {
  std::string operators;
  std::string launches;
  std::string memory;
  visit_files(folder.path, [&](std::string_view beginning, const std::string& file) {
    if (beginning == kOperators) operators = file;
    if (beginning == kLaunches) launches = file;
    if (beginning == kMemory) memory = file;
  });
  MindsporeWindow window;
  StringPool short_names;
  if (!operators.empty()) read_mindspore_operators(operators, output.names, short_names, window);
  if (folder.shapes && !launches.empty()) {
    read_mindspore_shapes(launches, output.names, short_names, window);
    asked_shapes_ += static_cast<int64_t>(window.operators.size());
  }
  if (folder.memory && !memory.empty())
    read_mindspore_memory(memory, folder.from_ns, folder.to_ns, memory_bytes_read_, window);

  auto& ops = output.chunk.table(kMindsporeOpsTable, 0);
  for (const MindsporeOperator& op : window.operators)
    ops.add({op.start_ns, op.duration_ns, op.name, op.input_shapes});
  auto& records = output.chunk.table(kMindsporeMemoryTable, 0);
  for (const MindsporeMemory& record : window.memory)
    records.add(
        {record.when_ns, record.allocated_bytes, record.reserved_bytes, record.active_bytes});
  // The window's times are of the calendar clock: one more reading of it, close to them.
  output.chunk.table(kClocksTable, 0)
      .add({static_cast<int64_t>(folder.clock.ticks), folder.clock.monotonic_ns,
            folder.clock.realtime_ns});
  output.events += static_cast<int64_t>(window.operators.size() + window.memory.size());
  ++windows_;
  operators_ += static_cast<int64_t>(window.operators.size());
  memory_records_ += static_cast<int64_t>(window.memory.size());
  unreadable_ += window.unreadable;
  left_out_ += window.left_out;
  without_shapes_ += window.without_shapes;
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
