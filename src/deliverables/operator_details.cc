// operator_details.csv: the shapes of operators' inputs. An input's own table is passed on; of
// recordings of MindSpore and of ours it is MindSpore's: a row for each call, tensors separated by
// ";" and their dimensions by ",".
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "deliverables/profiler_output.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

using Json = nlohmann::json;

// A list of dimensions is a tensor; a list of lists, an input of several tensors. An input that is
// no tensor has no dimensions.
void add_input(const Json& input, std::string& text, size_t& tensors) {
  constexpr size_t kMostTensors = 10'000;
  if (tensors >= kMostTensors) return;
  if (input.is_array() && !input.empty() && input.front().is_array()) {
    for (const Json& one : input) add_input(one, text, tensors);
    return;
  }
  if (tensors++ > 0) text += ';';
  if (!input.is_array()) return;
  bool first = true;
  for (const Json& dimension : input) {
    if (!first) text += ',';
    first = false;
    text += write_json(dimension);
  }
}

// "[[2, 3], [], [4]]" -> "2,3;;4". Text in another form stays as it is.
std::string shapes_text(std::string_view shapes) {
  if (!shapes.starts_with('[')) return std::string(shapes);
  const Json inputs = json_tree(shapes);
  if (!inputs.is_array()) return std::string(shapes);
  std::string text;
  size_t tensors = 0;
  for (const Json& input : inputs) add_input(input, text, tensors);
  return text;
}

}  // namespace

Result<bool> write_operator_details(OutputContext& context, const Sink& sink) {
  if (context.source_table("operator_details") != nullptr)
    return write_source_table(context, "operator_details", sink);
  const StoreReader& store = context.store();
  const size_t rank = context.rank.position;
  if (!context.form.is_mindspore &&
      text_at(store, Table::kRanks, "source_format", rank) != "native") {
    return false;
  }
  CsvWriter csv(sink, {"Name", "Input Shapes"});
  std::unordered_map<int64_t, std::string> texts;
  Status failed;
  for_each_row<4>(store, Table::kOps, rank, {"name", "ts", "step", "input_shapes"},
                  [&](const auto& row) {
                    const auto [name, ts_ns, step, shapes] = row;
                    if (shapes == kNull || !failed) return;
                    if (step == kNull ? !context.chosen_moment(ts_ns) : !context.chosen_step(step))
                      return;
                    const auto [text, added] = texts.try_emplace(shapes);
                    if (added) text->second = shapes_text(store.string(shapes));
                    csv.text(store.string(name)).text(text->second);
                    failed = csv.end_row();
                  });
  if (!failed) return std::move(failed.error());
  return csv.finish();
}

}  // namespace stepscope
