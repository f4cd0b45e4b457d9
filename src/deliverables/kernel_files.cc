// kernel_details.csv.
#include <algorithm>
#include <initializer_list>
#include <map>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "base/decimal.h"
#include "deliverables/profiler_output.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

using Json = nlohmann::ordered_json;

// The input's own table of kernels, for columns that the store has no place for.
class KernelSource {
 public:
  KernelSource(const StoreReader& store, size_t rank) : store_(store) {
    for (const SourceTableView& table : store.source_tables(rank)) {
      if (table.name == "kernel_details" || table.name == "op_summary") table_ = &table;
    }
    if (table_ == nullptr) return;
    const auto* start = column("Start Time(us)");
    if (start == nullptr) start = column("Task Start Time(us)");
    if (start == nullptr || start->type != Type::kText) return;
    for (uint64_t row = 0; row < table_->rows; ++row) {
      const auto ns = parse_us_as_ns(trimmed(store.string(start->values.at(row))));
      if (ns) rows_.emplace(*ns, row);
    }
  }

  // The row of the kernel that starts then, within the rounding of two files; -1 for none.
  int64_t row_of(int64_t start_ns, std::string_view name) const {
    const auto* names = column("Name") != nullptr ? column("Name") : column("Op Name");
    if (names == nullptr) return -1;
    for (auto at = rows_.lower_bound(start_ns - kNearNs);
         at != rows_.end() && at->first <= start_ns + kNearNs; ++at) {
      if (store_.string(names->values.at(at->second)).ends_with(name))
        return static_cast<int64_t>(at->second);
    }
    return -1;
  }
  std::string cell(int64_t row, std::string_view name) const {
    const auto* values = row < 0 ? nullptr : column(name);
    if (values == nullptr) return {};
    const int64_t value = values->values.at(static_cast<uint64_t>(row));
    if (value == kNull) return {};
    if (values->type == Type::kText) return std::string(store_.string(value));
    return std::to_string(value);
  }

 private:
  static constexpr int64_t kNearNs = 500;

  static std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.back() == '\t' || text.back() == ' ')) text.remove_suffix(1);
    return text;
  }
  const SourceTableView::ColumnInfo* column(std::string_view name) const {
    if (table_ == nullptr) return nullptr;
    for (const auto& one : table_->columns) {
      if (one.name == name) return &one;
    }
    return nullptr;
  }

  const StoreReader& store_;
  const SourceTableView* table_ = nullptr;
  std::multimap<int64_t, uint64_t> rows_;
};

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : write_json(value);
}

// Names of hardware counters in the order in which they appear. OP State and HF32 Eligible have
// columns of their own.
std::vector<std::string> counter_names(const OutputContext& context) {
  std::vector<std::string> names;
  std::unordered_map<int64_t, bool> seen;
  size_t looked_at = 0;
  for_each_row<1>(context.store(), Table::kKernels, context.rank.position, {"counters"},
                  [&](const auto& row) {
                    constexpr size_t kEnough = 20'000;
                    if (row[0] == kNull || !seen.try_emplace(row[0], true).second) return;
                    if (++looked_at > kEnough) return;
                    const Json counters = ordered_json_tree(context.store().string(row[0]));
                    if (!counters.is_object()) return;
                    for (const auto& [name, value] : counters.items()) {
                      if (name == "OP State" || name == "HF32 Eligible") continue;
                      if (std::find(names.begin(), names.end(), name) == names.end())
                        names.push_back(name);
                    }
                  });
  return names;
}

struct KernelColumns {
  KernelColumns(const StoreReader& store, size_t rank)
      : slice(store.column(Table::kKernels, "id", rank)),
        work_class(store.column(Table::kKernels, "class", rank)),
        type(store.column(Table::kKernels, "type", rank)),
        op_type(store.column(Table::kKernels, "op_type", rank)),
        stream(store.column(Table::kKernels, "stream", rank)),
        wait(store.column(Table::kKernels, "wait", rank)),
        grid(store.column(Table::kKernels, "grid", rank)),
        input_shapes(store.column(Table::kKernels, "input_shapes", rank)),
        input_types(store.column(Table::kKernels, "input_types", rank)),
        output_shapes(store.column(Table::kKernels, "output_shapes", rank)),
        counters(store.column(Table::kKernels, "counters", rank)),
        op(store.column(Table::kKernels, "op", rank)),
        dur(store.column(Table::kSlices, "dur", rank)),
        name(store.column(Table::kSlices, "name", rank)),
        step(store.column(Table::kSlices, "step", rank)) {}

  const ColumnView& slice;
  const ColumnView& work_class;
  const ColumnView& type;
  const ColumnView& op_type;
  const ColumnView& stream;
  const ColumnView& wait;
  const ColumnView& grid;
  const ColumnView& input_shapes;
  const ColumnView& input_types;
  const ColumnView& output_shapes;
  const ColumnView& counters;
  const ColumnView& op;    // slice of the operator
  const ColumnView& dur;   // by slice
  const ColumnView& name;  // by slice
  const ColumnView& step;  // by slice
};

struct DetailsRow {
  int64_t ts_ns;
  uint64_t row;
};

std::vector<DetailsRow> kernels_by_start(const OutputContext& context) {
  std::vector<DetailsRow> rows;
  uint64_t number = 0;
  std::unordered_map<int64_t, bool> is_copy;
  for_each_row<4>(context.store(), Table::kKernels, context.rank.position,
                  {"ts", "class", "flags", "step"}, [&](const auto& row) {
                    const auto [ts_ns, work_class, flags, step] = row;
                    const uint64_t at = number++;
                    const auto [copy, added] = is_copy.try_emplace(work_class, false);
                    if (added) copy->second = context.store().string(work_class) == "memory";
                    if (copy->second || (flags & kFlagImpossible) != 0) return;
                    // MindSpore's by the step of the launch, which is looked up later
                    if (context.form.is_mindspore || context.chosen_step(step))
                      rows.push_back({ts_ns, at});
                  });
  std::stable_sort(rows.begin(), rows.end(),
                   [](const DetailsRow& a, const DetailsRow& b) { return a.ts_ns < b.ts_ns; });
  return rows;
}

// Shapes are quoted inside the cell, so that spreadsheets leave them alone.
std::string shapes_cell(std::string_view shapes, const std::string& in_source) {
  if (!shapes.empty()) return "\"" + std::string(shapes) + "\"";
  return in_source.empty() ? "N/A" : in_source;  // there: "" for no tensors
}

// "[32, 1, 1]" -> 32; "32" -> 32.
int64_t product(std::string_view grid) {
  int64_t result = 1;
  bool any = false;
  for (size_t at = 0; at < grid.size();) {
    const size_t end = std::min(grid.find_first_not_of("0123456789", at), grid.size());
    if (const auto number = parse_integer(grid.substr(at, end - at))) {
      any = true;
      if (__builtin_mul_overflow(result, *number, &result)) return kNull;
    }
    at = end + 1;
  }
  return any ? result : kNull;
}

std::string value_in(const Json& object, const std::string& key) {
  return object.is_object() && object.contains(key) ? text_of(object[key]) : std::string();
}

// The operator of MindSpore that launched a kernel.
struct LaunchOperator {
  std::string name;  // "" when it is not known
  int64_t step = kNull;
};
LaunchOperator launch_operator(const StoreReader& store, const KernelColumns& kernel, uint64_t row,
                               const Json& args) {
  LaunchOperator launch;
  launch.name = value_in(args, "mindspore_op");
  const int64_t op = kernel.op.at(row);
  if (op == kNull || op < 0 || static_cast<uint64_t>(op) >= kernel.name.rows()) return launch;
  const auto slice = static_cast<uint64_t>(op);
  const std::string_view name = store.string(kernel.name.at(slice));
  if (name.find("KernelLaunch") == std::string_view::npos &&
      name.find("LaunchTask") == std::string_view::npos) {
    return launch;
  }
  if (launch.name.empty()) launch.name = name;
  launch.step = kernel.step.at(slice);
  return launch;
}

// The columns that the profiler's level leaves.
struct DetailsForm {
  explicit DetailsForm(const OutputContext& context)
      : has_steps(context.form.is_mindspore
                      ? context.form.numbers_steps()
                      : context.store().rows(Table::kSteps, context.rank.position) > 0),
        // torch_npu's files of Level0 have eight columns
        has_ids(!context.form.is_level0 || context.form.is_mindspore),
        has_shapes(!context.form.is_level0) {}

  std::vector<std::string> header() const {
    std::vector<std::string> names;
    const auto add = [&](std::initializer_list<const char*> more) {
      names.insert(names.end(), more.begin(), more.end());
    };
    if (has_steps) add({"Step ID"});
    if (has_ids) add({"Model ID", "Task ID", "Stream ID"});
    add({"Name", "Type"});
    if (has_ids) add({"OP State"});
    add({"Accelerator Core", "Start Time(us)", "Duration(us)", "Wait Time(us)", "Block Dim"});
    if (has_shapes) {
      add({"Mix Block Dim", "HF32 Eligible", "Input Shapes", "Input Data Types", "Input Formats",
           "Output Shapes", "Output Data Types", "Output Formats", "Context ID"});
    }
    return names;
  }

  bool has_steps;
  bool has_ids;
  bool has_shapes;
};

}  // namespace

Result<bool> write_kernel_details(OutputContext& context, const Sink& sink) {
  const StoreReader& store = context.store();
  const size_t rank = context.rank.position;
  const std::vector<DetailsRow> rows = kernels_by_start(context);
  if (rows.empty()) return false;
  const DetailsForm form(context);
  const std::vector<std::string> counters = counter_names(context);
  const KernelSource source(store, rank);
  std::vector<std::string> header = form.header();
  header.insert(header.end(), counters.begin(), counters.end());
  CsvWriter csv(sink, header);
  const KernelColumns kernel(store, rank);
  ArgsCache cache;
  int64_t busy_until_ns = kNull;
  for (const DetailsRow& one : rows) {
    if (context.options.progress != nullptr && context.options.progress->cancelled())
      return Error{ErrorCode::kCancelled, "cancelled", "", "", ""};
    const auto slice = static_cast<uint64_t>(kernel.slice.at(one.row));
    const int64_t dur_ns = kernel.dur.at(slice);
    const std::string_view name = store.string(kernel.name.at(slice));
    const bool communicates = store.string(kernel.work_class.at(one.row)) == "communication";
    const auto args_text = store.args(rank, slice, &cache);
    if (!args_text) return args_text.error();
    const Json args = ordered_json_tree(*args_text);
    const Json about = ordered_json_tree(store.string(kernel.counters.at(one.row)));
    const int64_t row = source.row_of(one.ts_ns, name);
    LaunchOperator launch;
    if (context.form.is_mindspore) launch = launch_operator(store, kernel, one.row, args);
    const int64_t step = launch.step == kNull ? kernel.step.at(slice) : launch.step;
    if (!context.chosen_step(step)) continue;
    if (form.has_steps) csv.integer(step, "");
    if (form.has_ids) {
      csv.known(
          value_in(args, args.is_object() && args.contains("model id") ? "model id" : "Model Id"));
      csv.known(communicates ? "" : value_in(args, "Task Id"));
      csv.integer(communicates ? kNull : kernel.stream.at(one.row));
    }
    const std::string prefix = launch.name.empty() ? "" : launch.name + "/";
    csv.text(name.starts_with(prefix) ? std::string(name) : prefix + std::string(name));
    csv.known(store.string(kernel.op_type.at(one.row)));
    if (form.has_ids) csv.known(value_in(about, "OP State"));
    // Level0 knows the core of no kernel, only the scheduler's word for it.
    const bool has_core = form.has_shapes || communicates;
    csv.known(has_core ? store.string(kernel.type.at(one.row)) : "");
    csv.moment(one.ts_ns);
    csv.us(dur_ns);
    // The source's own gap to the task before, else the gap to what ended last.
    int64_t wait_ns = kernel.wait.at(one.row);
    if (wait_ns == kNull)
      wait_ns = busy_until_ns == kNull ? 0 : std::max<int64_t>(0, one.ts_ns - busy_until_ns);
    csv.us(wait_ns);
    busy_until_ns = std::max(busy_until_ns, one.ts_ns + std::max<int64_t>(0, dur_ns));
    const int64_t blocks = product(store.string(kernel.grid.at(one.row)));
    csv.integer(blocks == kNull ? 0 : blocks);
    if (form.has_shapes) {
      csv.known(source.cell(row, "Mix Block Dim"));
      csv.known(value_in(about, "HF32 Eligible"));
      csv.text(shapes_cell(store.string(kernel.input_shapes.at(one.row)),
                           source.cell(row, "Input Shapes")));
      csv.known(store.string(kernel.input_types.at(one.row)));
      csv.known(source.cell(row, "Input Formats"));
      csv.text(shapes_cell(store.string(kernel.output_shapes.at(one.row)),
                           source.cell(row, "Output Shapes")));
      csv.known(source.cell(row, "Output Data Types"));
      csv.known(source.cell(row, "Output Formats"));
      csv.known(source.cell(row, "Context ID"));
    }
    for (const std::string& counter : counters) csv.known(value_in(about, counter));
    if (auto status = csv.end_row(); !status) return std::move(status.error());
  }
  return csv.finish();
}

}  // namespace stepscope
