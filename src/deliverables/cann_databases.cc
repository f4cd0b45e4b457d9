// ascend_mindspore_profiler_<rank>.db and communication_analyzer.db: what msprof --type=db leaves
// in a PROF_ folder, under the names that MindSpore gives them. Copied and not moved, as MindSpore
// does: the run is read from there.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "deliverables/profiler_output.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

// CANN's folders that files of the rank lie in.
std::set<fs::path> cann_folders(const OutputContext& context) {
  const StoreReader& store = context.store();
  std::set<fs::path> folders;
  const auto add = [&](fs::path path) {
    for (; path.has_relative_path(); path = path.parent_path()) {
      if (!path.filename().string().starts_with("PROF_")) continue;
      folders.insert(path);
      return;
    }
  };
  add(fs::path(text_at(store, Table::kRanks, "source_path", context.rank.position)));
  for_each_row<1>(store, Table::kSources, context.rank.position, {"path"},
                  [&](const auto& row) { add(fs::path(store.string(row[0]))); });
  return folders;
}

Result<bool> copy_file(const OutputContext& context, const fs::path& path, const Sink& sink) {
  std::ifstream file(path, std::ios::binary);
  std::string block(size_t{1} << 20, '\0');
  bool any = false;
  while (file) {
    if (context.options.progress != nullptr && context.options.progress->cancelled())
      return Error{ErrorCode::kCancelled, "cancelled", "", "", ""};
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    const auto bytes = static_cast<size_t>(file.gcount());
    if (bytes == 0) break;
    any = true;
    if (auto status = sink(std::string_view(block).substr(0, bytes)); !status)
      return std::move(status.error());
  }
  if (!file.eof()) {
    return Error{ErrorCode::kIo, "cannot copy the database", path.string(),
                 "it could not be read to its end",
                 "check that nobody is writing it and that its disk is there, then analyse again"};
  }
  return any;
}

bool is_event_database(const std::string& name) {
  return name.starts_with("msprof") && name.ends_with(".db");
}

}  // namespace

Result<bool> write_cann_database(OutputContext& context, const Sink& sink) {
  if (!context.form.is_mindspore) return false;
  for (const fs::path& folder : cann_folders(context)) {
    std::error_code error;
    std::vector<fs::path> found;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      if (is_event_database(at->path().filename().string()) && at->is_regular_file(error))
        found.push_back(at->path());
    }
    std::sort(found.begin(), found.end());
    if (!found.empty()) return copy_file(context, found.front(), sink);
  }
  return false;
}

Result<bool> write_communication_database(OutputContext& context, const Sink& sink) {
  if (!context.form.is_mindspore) return false;
  for (const fs::path& folder : cann_folders(context)) {
    std::error_code error;
    const fs::path path = folder / "analyze" / "communication_analyzer.db";
    if (fs::is_regular_file(path, error)) return copy_file(context, path, sink);
  }
  return false;
}

}  // namespace stepscope
