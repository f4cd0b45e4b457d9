#include "deliverables/profiler_output.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "deliverables/trace_view.h"
#include "json/json_indenter.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

using Write = Result<bool> (*)(OutputContext&, const Sink&);

struct FileRule {
  std::string name;      // "*" is the rank
  std::string_view why;  // what is missing when there is nothing to write
  Write write;           // nullptr: the input's table of that name
};

Result<bool> write_timeline(OutputContext& context, const Sink& sink) {
  ChromeTraceOptions options;
  options.steps = context.options.steps;
  options.progress = context.options.progress;
  JsonIndenter indenter;
  const Sink indented = [&](std::string_view piece) { return sink(indenter.indent(piece)); };
  auto status = write_trace_view(context.store(), context.rank.position,
                                 context.run.timeline(context.rank.position), options,
                                 context.options.pretty ? indented : sink);
  if (!status) return std::move(status.error());
  return true;
}

constexpr std::string_view kNeedsDevice = "no work of a device: record with activity NPU or GPU";
constexpr std::string_view kNeedsMemory = "no memory events: record with profile_memory";

constexpr std::string_view kNeedsPipeline =
    "no operators of a MindSpore data pipeline: record with data_process";

const std::vector<FileRule>& rules() {
  static const std::vector<FileRule> kRules = {
      {"trace_view.json", "", write_timeline},
      {"kernel_details.csv", kNeedsDevice, write_kernel_details},
      {"step_trace_time.csv", "neither operators nor device work were recorded",
       write_step_trace_time},
      {"op_statistic.csv", "no operators: record with activity CPU, NPU or GPU",
       write_op_statistic},
      {"api_statistic.csv", "no calls of a device's library: record with activity NPU or GPU",
       write_api_statistic},
      {"communication.json",
       "no transfers of communication operators: record several ranks with profiler_level Level1",
       write_communication},
      {"communication_matrix.json",
       "no transfers of communication operators: record several ranks with profiler_level Level1",
       write_communication_matrix},
      {"cpu_op_execute_timestamp_*.txt", "no operators of MindSpore on the processor were recorded",
       write_cpu_operators},
      {"memory_record.csv", kNeedsMemory, write_memory_record},
      {"operator_memory.csv", kNeedsMemory, write_operator_memory},
      {"dataset.csv", "no events of MindSpore's module Dataset: record with data_process",
       write_dataset},
      {"minddata_pipeline_raw_*.csv", kNeedsPipeline, write_minddata_raw},
      {"minddata_pipeline_summary_*.csv", kNeedsPipeline, write_minddata_summary},
      {"minddata_pipeline_summary_*.json", kNeedsPipeline, write_minddata_summary_json},
      {"npu_module_mem.csv", "only Ascend recordings with profile_memory have it", nullptr},
      {"static_op_mem.csv", "only Ascend recordings of static graphs have it", nullptr},
      {"operator_details.csv",
       "only MindSpore's runs, our own and torch_npu's text form have it, with record_shapes",
       write_operator_details},
      {"l2_cache.csv", "record with l2_cache", nullptr},
      {"hbm.csv", "record with hbm_ddr", nullptr},
      {"pcie.csv", "record with pcie or sys_interconnection", nullptr},
      {"hccs.csv", "record with sys_interconnection", nullptr},
      {"nic.csv", "record with sys_io", nullptr},
      {"roce.csv", "record with sys_io", nullptr},
      {"data_preprocess.csv", "record AI CPU operators with profiler_level Level2",
       write_data_preprocess},
      {"ascend_mindspore_profiler_*.db", "only NPU recordings with export_type db have it",
       write_cann_database},
      {"communication_analyzer.db", "only NPU recordings with export_type db have it",
       write_communication_database},
  };
  return kRules;
}

// A file that appears under its name when it is committed, and is made when something is written.
struct PendingFile {
  std::string name;
  std::string path;
  std::unique_ptr<OutputFile> file;

  Status append(std::string_view text) {
    if (file == nullptr) {
      auto created = OutputFile::create(path);
      if (!created) return std::move(created.error());
      file = std::make_unique<OutputFile>(std::move(*created));
    }
    return file->append(text);
  }
};

// Names in the marker of an earlier call; nothing that leads out of the folder.
std::vector<std::string> files_written_before(const std::string& folder) {
  const auto text = read_file(folder + "/" + std::string(kOutputMarker), 1 << 20);
  if (!text) return {};
  const auto marker = json_tree(*text);
  std::vector<std::string> names;
  if (!marker.is_object() || !marker.contains("files") || !marker["files"].is_array()) return names;
  for (const auto& name : marker["files"]) {
    if (!name.is_string()) continue;
    const auto& file = name.get_ref<const std::string&>();
    if (file.find('/') == std::string::npos && file != "." && file != "..") names.push_back(file);
  }
  return names;
}

std::string marker_text(const std::vector<std::string>& files) {
  nlohmann::ordered_json marker;
  marker["about"] = "these files were made from the recording and can be made again";
  marker["files"] = files;
  return write_json(marker, 1) + "\n";
}

Error cancelled() { return {ErrorCode::kCancelled, "cancelled", "", "nothing was written", ""}; }

}  // namespace

bool OutputContext::chosen_moment(int64_t ns) const {
  if (options.steps.empty()) return true;
  const auto after =
      std::upper_bound(chosen_time.begin(), chosen_time.end(), ns,
                       [](int64_t at, const Interval& one) { return at < one.start_ns; });
  return after != chosen_time.begin() && ns <= (after - 1)->end_ns;
}

const SourceTableView* OutputContext::source_table(std::string_view name) const {
  for (const SourceTableView& table : store().source_tables(rank.position)) {
    if (table.name == name) return &table;
  }
  return nullptr;
}

Result<ProfilerOutput> write_profiler_output(RunAnalyses& run, const RankId& rank,
                                             const std::string& folder,
                                             const ProfilerOutputOptions& options) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return system_error("cannot make the folder", folder, error.value());
  OutputContext context{run, rank, options, {}, recording_form(run.store(), rank.position)};
  for_each_row<3>(run.store(), Table::kSteps, rank.position, {"step", "ts", "dur"},
                  [&](const auto& row) {
                    const auto [step, ts_ns, dur_ns] = row;
                    if (dur_ns == kNull || !context.chosen_step(step)) return;
                    context.chosen_time.push_back({ts_ns, ts_ns + dur_ns});
                  });
  context.chosen_time = merge_intervals(std::move(context.chosen_time));
  ProfilerOutput output;
  std::vector<PendingFile> pending;
  for (const FileRule& rule : rules()) {
    if (options.progress != nullptr && options.progress->cancelled()) return cancelled();
    std::string name = rule.name;
    if (const size_t star = name.find('*'); star != std::string::npos)
      name.replace(star, 1, std::to_string(rank.rank));
    PendingFile file{name, folder + "/" + name, nullptr};
    const Sink sink = [&](std::string_view text) { return file.append(text); };
    const std::string_view table = std::string_view(rule.name).substr(0, rule.name.find('.'));
    const auto written = rule.write == nullptr ? write_source_table(context, table, sink)
                                               : rule.write(context, sink);
    if (!written && written.error().code == ErrorCode::kCancelled) return cancelled();
    if (!written || !*written) {
      // One file that fails does not cost the others.
      output.omitted.push_back({name, written ? std::string(rule.why) : written.error().message()});
      continue;
    }
    output.files.push_back(name);
    pending.push_back(std::move(file));
  }
  std::vector<std::string> before = files_written_before(folder);
  PendingFile marker{std::string(kOutputMarker), folder + "/" + std::string(kOutputMarker),
                     nullptr};
  if (auto status = marker.append(marker_text(output.files)); !status)
    return std::move(status.error());
  pending.insert(pending.begin(), std::move(marker));
  for (PendingFile& file : pending) {
    if (auto status = file.file->commit(); !status) return std::move(status.error());
  }
  for (const std::string& name : before) {
    if (std::find(output.files.begin(), output.files.end(), name) == output.files.end())
      fs::remove(folder + "/" + name, error);
  }
  return output;
}

}  // namespace stepscope
