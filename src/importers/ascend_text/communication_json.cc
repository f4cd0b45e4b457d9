// communication.json and communication_matrix.json as flat tables.
//
//   {"step50": {"p2p": {}, "collective": {"<op>@<group>": {"Communication Time Info": {...},
//     "Communication Bandwidth Info": {"SDMA": {...}}}, "Total Op Info": {...}}}}
//   {"step50": {"collective": {"allreduce-top1@<group>": {"0-1": {"Transport Type": ...}}}}}

#include "base/decimal.h"
#include "base/file.h"
#include "importers/ascend_text/side_tables.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

using nlohmann::json;

// Rows of loose cells; columns appear as they are met, and get the narrowest type that holds them.
class LooseTable {
 public:
  void new_row() { ++rows_; }
  void set(std::string_view column, json value) {
    auto at = columns_.begin();
    while (at != columns_.end() && at->first != column) ++at;
    if (at == columns_.end()) at = columns_.insert(at, {std::string(column), {}});
    at->second.resize(rows_ - 1);
    at->second.push_back(std::move(value));
  }

  SourceTable finish(std::string name, std::string doc, RankBuilder& rank) {
    SourceTable table;
    table.name = std::move(name);
    table.doc = std::move(doc);
    for (auto& [title, cells] : columns_) {
      cells.resize(rows_);
      bool integers = true;
      bool numbers = true;
      for (const json& cell : cells) {
        integers &= cell.is_null() || cell.is_number_integer();
        numbers &= cell.is_null() || cell.is_number();
      }
      SourceColumn column{title, integers ? Type::kInt64 : Type::kFloat64, {}};
      if (!numbers) column.type = Type::kText;
      for (const json& cell : cells) column.values.push_back(value_of(cell, column.type, rank));
      table.columns.push_back(std::move(column));
    }
    return table;
  }
  size_t rows() const { return rows_; }

 private:
  static int64_t value_of(const json& cell, Type type, RankBuilder& rank) {
    if (cell.is_null()) return kNull;
    if (type == Type::kInt64) return cell.get<int64_t>();
    if (type == Type::kFloat64) return float_bits(cell.get<double>());
    if (cell.is_string()) return rank.strings.intern(cell.get_ref<const std::string&>());
    return rank.strings.intern(write_json(cell));
  }

  std::vector<std::pair<std::string, std::vector<json>>> columns_;
  size_t rows_ = 0;
};

void set_members(const json& object, LooseTable& table) {
  if (!object.is_object()) return;
  for (const auto& [key, value] : object.items()) table.set(key, value);
}

// "hcom_allReduce__586_0_1@17522688603477080586" -> name and group.
void set_name(const std::string& key, LooseTable& table) {
  const size_t at = key.rfind('@');
  table.set("Op", key.substr(0, at));
  table.set("Group", at == std::string::npos ? json() : json(key.substr(at + 1)));
}

// Calls visit(step, kind, key, value) for every entry of the two upper levels.
template <typename Visit>
Status walk(const std::string& path, Visit visit) {
  const auto tree = read_json_file(path);
  if (!tree.ok()) return tree.error();
  if (!tree->is_object()) {
    return Error{ErrorCode::kBadInput, "cannot read", path, "it is not an object of steps", ""};
  }
  for (const auto& [step, kinds] : tree->items()) {
    if (!kinds.is_object()) continue;
    json number;
    if (step.starts_with("step")) {
      if (const auto value = parse_integer(std::string_view(step).substr(4))) number = *value;
    }
    for (const auto& [kind, entries] : kinds.items()) {
      if (!entries.is_object()) continue;
      for (const auto& [key, value] : entries.items()) visit(number, kind, key, value);
    }
  }
  return {};
}

void add_file(const std::string& path, std::string_view role, size_t rows, RankBuilder& rank) {
  const auto stamp = stamp_file(path);
  rank.sources.push_back(
      {path, stamp.ok() ? *stamp : FileStamp{}, std::string(role), static_cast<int64_t>(rows)});
}

}  // namespace

Status keep_communication_json(const std::string& path, RankBuilder& rank) {
  LooseTable times;
  LooseTable bandwidths;
  const auto status = walk(path, [&](const json& step, const std::string& kind,
                                     const std::string& key, const json& entry) {
    if (!entry.is_object()) return;
    const auto start_row = [&](LooseTable& table) {
      table.new_row();
      table.set("Step", step);
      table.set("Type", kind);
      set_name(key, table);
    };
    start_row(times);
    set_members(entry.value("Communication Time Info", json::object()), times);
    const json transports = entry.value("Communication Bandwidth Info", json::object());
    if (!transports.is_object()) return;
    for (const auto& [transport, info] : transports.items()) {
      start_row(bandwidths);
      bandwidths.set("Transport", transport);
      set_members(info, bandwidths);
    }
  });
  if (!status.ok()) return status;
  add_file(path, "communication", times.rows(), rank);
  add_source_table(times.finish("communication", path, rank), rank);
  add_source_table(bandwidths.finish("communication_bandwidth", path, rank), rank);
  return {};
}

Status keep_communication_matrix_json(const std::string& path, RankBuilder& rank) {
  LooseTable links;
  const auto status = walk(path, [&](const json& step, const std::string& kind,
                                     const std::string& key, const json& entry) {
    if (!entry.is_object()) return;
    for (const auto& [link, info] : entry.items()) {
      links.new_row();
      links.set("Step", step);
      links.set("Type", kind);
      set_name(key, links);
      const size_t dash = link.find('-');
      const auto source = parse_integer(link.substr(0, dash));
      const auto target = parse_integer(
          dash == std::string::npos ? std::string_view() : std::string_view(link).substr(dash + 1));
      links.set("Link", link);
      links.set("Src Rank", source ? json(*source) : json());
      links.set("Dst Rank", target ? json(*target) : json());
      set_members(info, links);
    }
  });
  if (!status.ok()) return status;
  add_file(path, "communication_matrix", links.rows(), rank);
  add_source_table(links.finish("communication_matrix", path, rank), rank);
  return {};
}

}  // namespace stepscope
