// Files about the data pipeline: minddata_pipeline_raw, minddata_pipeline_summary (CSV and JSON)
// and dataset.csv.
#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "deliverables/profiler_output.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

using Json = nlohmann::ordered_json;

// Operators of the rank's pipeline, the root first.
std::vector<const PipelineStageRow*> operators_of(OutputContext& context) {
  std::vector<const PipelineStageRow*> rows;
  for (const PipelineStageRow& row : context.run.pipeline().stages) {
    if (row.rank == context.rank.rank && row.window == context.rank.window && row.op_id != kNull)
      rows.push_back(&row);
  }
  return rows;
}

std::string list_text(const std::vector<int64_t>& values) {
  std::string text = "[";
  for (const int64_t value : values) text += (text.size() > 1 ? ", " : "") + std::to_string(value);
  return text + "]";
}

std::vector<int64_t> children_of(const std::vector<const PipelineStageRow*>& rows, int64_t id) {
  std::vector<int64_t> ids;
  for (const PipelineStageRow* row : rows) {
    if (row->parent_id == id) ids.push_back(row->op_id);
  }
  return ids;
}

// Sizes of the queues behind the operators, sample by sample.
std::map<std::string, std::vector<int64_t>, std::less<>> queue_sizes(const OutputContext& context) {
  std::map<std::string, std::vector<int64_t>, std::less<>> sizes;
  std::unordered_map<int64_t, std::vector<int64_t>*> by_id;
  for_each_row<2>(context.store(), Table::kQueues, context.rank.position, {"stage", "size"},
                  [&](const auto& row) {
                    const auto [stage, size] = row;
                    if (size == kNull) return;
                    auto [found, added] = by_id.try_emplace(stage, nullptr);
                    if (added) found->second = &sizes[std::string(context.store().string(stage))];
                    found->second->push_back(size);
                  });
  return sizes;
}

// Milliseconds between samples, as the input says; "" when it does not.
std::string sample_interval(const OutputContext& context) {
  for (const SourceTableView& table : context.store().source_tables(context.rank.position)) {
    if (table.name != "minddata_pipeline" || table.rows == 0) continue;
    for (const auto& column : table.columns) {
      if (column.name == "sampling_interval_ms" && column.type == Type::kInt64 &&
          column.values.at(0) != kNull) {
        return std::to_string(column.values.at(0));
      }
    }
  }
  return {};
}

double rounded(double value, int decimals) {
  if (std::isnan(value)) return -1;
  const double scale = std::pow(10.0, decimals);
  return std::round(value * scale) / scale;
}

std::string_view without_op(std::string_view type) {
  return type.ends_with("Op") ? type.substr(0, type.size() - 2) : type;
}

// Means over batches, the first left out: it has the start of the pipeline in it. Milliseconds, -1
// when there are none.
struct BatchMeans {
  double pipeline = -1;
  double push = -1;
  double batch = -1;
};
BatchMeans batch_means(OutputContext& context) {
  double sums[3] = {};
  int64_t count = 0;
  for (const PipelineBatchRow& row : context.run.pipeline().batches) {
    if (row.rank != context.rank.rank || row.window != context.rank.window) continue;
    if (row.batch.number == kNull || row.batch.number < 2 || row.batch.fetch_ns == kNull) continue;
    ++count;
    const auto add = [](double& sum, int64_t ns) {
      if (ns != kNull) sum += static_cast<double>(ns) / 1e6;
    };
    add(sums[0], row.batch.fetch_ns);
    add(sums[1], row.batch.push_ns);
    add(sums[2], row.batch.total_ns);
  }
  if (count == 0) return {};
  const auto mean = [&](double sum) { return rounded(sum / static_cast<double>(count), 2); };
  return {mean(sums[0]), mean(sums[1]), mean(sums[2])};
}

Json summary_of(OutputContext& context) {
  const auto rows = operators_of(context);
  Json tree = Json::object();
  if (rows.empty()) return tree;
  for (const char* key : {"op_ids", "op_names", "pipeline_ops", "num_workers", "queue_average_size",
                          "queue_utilization_pct", "queue_empty_freq_pct", "children_ids",
                          "parent_id", "avg_cpu_pct"}) {
    tree[key] = Json::array();
  }
  const BatchMeans means = batch_means(context);
  tree["per_pipeline_time"] = {means.pipeline};
  tree["per_push_queue_time"] = {means.push};
  tree["per_batch_time"] = {means.batch};
  for (const char* key :
       {"avg_cpu_pct_per_worker", "cpu_analysis_details", "queue_analysis_details"}) {
    tree[key] = Json::array();
  }
  Json warnings = Json::array();
  Json advice = Json::array();
  const auto number = [](int64_t value) { return value == kNull ? -1 : value; };
  for (const PipelineStageRow* row : rows) {
    const std::string name(without_op(row->op_type));
    const std::string title = name + "(id=" + std::to_string(row->op_id) + ")";
    tree["op_ids"].push_back(row->op_id);
    tree["op_names"].push_back(name);
    tree["pipeline_ops"].push_back(title);
    tree["num_workers"].push_back(number(row->workers));
    tree["queue_average_size"].push_back(rounded(row->mean_size, 2));
    tree["queue_utilization_pct"].push_back(rounded(100 * row->usage, 2));
    tree["queue_empty_freq_pct"].push_back(
        row->samples == 0 ? -1.0
                          : rounded(100 * static_cast<double>(row->empty_samples) /
                                        static_cast<double>(row->samples),
                                    2));
    tree["children_ids"].push_back(children_of(rows, row->op_id));
    tree["parent_id"].push_back(number(row->parent_id));
    tree["avg_cpu_pct"].push_back(rounded(100 * row->cpu, 2));
    tree["avg_cpu_pct_per_worker"].push_back(rounded(100 * row->cpu_per_worker, 2));
    if (!row->cpu_advice.empty())
      tree["cpu_analysis_details"].push_back(title + ": " + row->cpu_advice);
    if (!row->queue_advice.empty())
      tree["queue_analysis_details"].push_back(title + ": " + row->queue_advice);
    if (row->is_bottleneck) warnings.push_back(title);
    if (!row->advice.empty()) advice.push_back(row->advice);
  }
  tree["bottleneck_warning"] = std::move(warnings);
  tree["bottleneck_suggestion"] = std::move(advice);
  return tree;
}

}  // namespace

Result<bool> write_minddata_raw(OutputContext& context, const Sink& sink) {
  const auto rows = operators_of(context);
  const auto sizes = queue_sizes(context);
  const std::string interval = sample_interval(context);
  CsvWriter csv(sink, {"op_id", "op_type", "num_workers", "output_queue_size",
                       "output_queue_average_size", "output_queue_length",
                       "output_queue_usage_rate", "sample_interval", "parent_id", "children_id"});
  for (const PipelineStageRow* row : rows) {
    const auto found = sizes.find(row->stage);
    csv.integer(row->op_id).text(row->op_type).integer(row->workers, "");
    csv.text(found == sizes.end() ? "" : list_text(found->second));
    if (row->samples == 0) {
      csv.text("").integer(row->capacity, "").text("0");
    } else {
      csv.number(row->mean_size).integer(row->capacity, "");
      csv.number(std::isnan(row->usage) ? 0 : row->usage);
    }
    const auto children = children_of(rows, row->op_id);
    csv.text(interval)
        .integer(row->parent_id, "")
        .text(children.empty() ? "" : list_text(children));
    if (auto status = csv.end_row(); !status) return std::move(status.error());
  }
  return csv.finish();
}

Result<bool> write_minddata_summary_json(OutputContext& context, const Sink& sink) {
  const Json tree = summary_of(context);
  if (tree.empty()) return false;
  const int indent = context.options.pretty ? 4 : -1;
  if (auto status = sink(write_json(tree, indent)); !status) return std::move(status.error());
  return true;
}

// A row for each key: its name, then its values.
Result<bool> write_minddata_summary(OutputContext& context, const Sink& sink) {
  const Json tree = summary_of(context);
  std::string text;
  for (const auto& [key, values] : tree.items()) {
    text += key;
    for (const Json& value : values) {
      std::string cell = value.is_string() ? value.get<std::string>() : write_json(value);
      text += ',';
      if (cell.find_first_of(",\"\r\n") == std::string::npos) {
        text += cell;
        continue;
      }
      text += '"';
      for (const char c : cell) text += c == '"' ? std::string("\"\"") : std::string(1, c);
      text += '"';
    }
    text += '\n';
  }
  if (text.empty()) return false;
  if (auto status = sink(text); !status) return std::move(status.error());
  return true;
}

// Events of the framework's module Dataset, Dataset::<operation>::<stage>.
Result<bool> write_dataset(OutputContext& context, const Sink& sink) {
  constexpr std::string_view kModule = "Dataset::";
  const StoreReader& store = context.store();
  struct Sum {
    int64_t count = 0;
    int64_t total_ns = 0;
  };
  std::map<std::tuple<std::string, std::string, std::string>, Sum> sums;
  std::unordered_map<int64_t, bool> is_dataset;
  uint64_t number = 0;
  Status failed;
  ArgsCache cache;
  for_each_row<4>(store, Table::kSlices, context.rank.position, {"name", "dur", "flags", "step"},
                  [&](const auto& row) {
                    const auto [name, dur_ns, flags, step] = row;
                    const uint64_t slice = number++;
                    const auto [known, added] = is_dataset.try_emplace(name, false);
                    if (added) known->second = store.string(name).starts_with(kModule);
                    if (!known->second || dur_ns <= 0 || (flags & kFlagImpossible) != 0 || !failed)
                      return;
                    if (!context.chosen_step(step)) return;
                    const std::string_view rest = store.string(name).substr(kModule.size());
                    const size_t split = rest.find("::");
                    std::string custom;
                    if (const auto args = store.args(context.rank.position, slice, &cache); args) {
                      const Json about = ordered_json_tree(*args);
                      if (about.is_object() && about.contains("custom_info") &&
                          about["custom_info"].is_string()) {
                        custom = about["custom_info"].get<std::string>();
                      }
                    } else {
                      failed = args.error();
                    }
                    Sum& sum =
                        sums[{std::string(rest.substr(0, split)),
                              std::string(split == std::string_view::npos ? std::string_view()
                                                                          : rest.substr(split + 2)),
                              custom}];
                    ++sum.count;
                    sum.total_ns += dur_ns;
                  });
  if (!failed) return std::move(failed.error());
  CsvWriter csv(sink, {"Operation", "Stage", "Occurrences", "Avg. time (us)", "Custom Info"});
  for (const auto& [key, sum] : sums) {
    csv.text(std::get<0>(key)).text(std::get<1>(key)).integer(sum.count);
    csv.rounded(static_cast<double>(sum.total_ns) / 1e3 / static_cast<double>(sum.count), 2);
    csv.text(std::get<2>(key));
    if (auto status = csv.end_row(); !status) return std::move(status.error());
  }
  return csv.finish();
}

}  // namespace stepscope
