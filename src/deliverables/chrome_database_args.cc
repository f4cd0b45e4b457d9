#include "deliverables/chrome_database_args.h"

#include <span>
#include <string_view>

#include "base/json_text.h"
#include "deliverables/number_text.h"

namespace stepscope {
namespace {

struct Member {
  std::string_view key;
  std::string_view column;
  bool is_text;
};
constexpr Member kOfOperator[] = {
    {"Sequence number", "sequence", false}, {"Fwd thread id", "forward_thread", false},
    {"Input Dims", "input_shapes", true},   {"Input type", "input_types", true},
    {"Call stack", "stack", true},
};
constexpr Member kOfCollective[] = {
    {"data_type", "data_type", true},
    {"alg_type", "algorithm", true},
    {"count", "elements", false},
};
constexpr Member kOfTransfer[] = {
    {"task type", "op", true},       {"src rank", "src_rank", false},
    {"dst rank", "dst_rank", false}, {"transport type", "transport", true},
    {"size(Byte)", "bytes", false},  {"data type", "data_type", true},
    {"link type", "link", true},
};

void append_key(std::string& out, std::string_view key) {
  if (out.size() > 1) out += ',';
  append_json_text(out, key);
  out += ':';
}

// The scheduler's own type of a task: the collective's takes its place.
void drop_task_type(std::string& args) {
  constexpr std::string_view kBegin = R"({"Task Type":")";
  if (!args.starts_with(kBegin)) return;
  const size_t end = args.find('"', kBegin.size());
  if (end == std::string::npos) return;
  args.erase(1, end + (args[end + 1] == ',' ? 1 : 0));
}

}  // namespace

ChromeDatabaseArgs::ChromeDatabaseArgs(const ChromeRank& rank) : rank_(rank) {
  if (rank.text(Table::kRanks, "source_format") != "ascend_db") return;
  for (const Table table : {Table::kOps, Table::kCommunications}) {
    const ColumnView& slices = rank.store().column(table, "id", rank.position());
    for (uint64_t row = 0; row < slices.rows(); ++row)
      places_.insert_or_assign(static_cast<uint64_t>(slices.at(row)), Place{table, row});
  }
}

void ChromeDatabaseArgs::complete(uint64_t slice, std::string& args) const {
  const auto found = places_.find(slice);
  if (found == places_.end()) return;
  const auto [table, row] = found->second;
  std::span<const Member> members = kOfOperator;
  if (table == Table::kCommunications) {
    const bool is_task = rank_.text(table, "level", row) == "task";
    if (is_task) drop_task_type(args);
    members = is_task ? std::span<const Member>(kOfTransfer) : kOfCollective;
  }
  std::string added = "{";
  for (const Member& member : members) {
    const int64_t value = rank_.number(table, member.column, row);
    if (value == kNull || (member.is_text && rank_.store().string(value).empty())) continue;
    append_key(added, member.key);
    if (member.is_text) {
      append_json_text(added, rank_.store().string(value));
    } else {
      append_integer(added, value);
    }
  }
  const std::string_view rest = args.size() > 2 ? std::string_view(args).substr(1) : "}";
  if (rest != "}" && added.size() > 1) added += ',';
  args = added.append(rest);
}

}  // namespace stepscope
