// api_statistic.csv: calls of the device's libraries on the host.
#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "deliverables/profiler_output.h"

namespace stepscope {
namespace {

// Layers of CANN as the timeline writes them (AscendCL@aclrtMemcpyAsync), and Kineto's categories.
constexpr std::pair<std::string_view, std::string_view> kLevels[] = {
    {"AscendCL", "acl"}, {"Model", "model"},     {"Node", "node"},
    {"Hccl", "hccl"},    {"Runtime", "runtime"}, {"Communication", "communication"},
};
constexpr std::pair<std::string_view, std::string_view> kCategories[] = {
    {"cuda_runtime", "runtime"},
    {"cuda_driver", "driver"},
    {"hip_runtime", "runtime"},
    {"mtia_runtime", "runtime"},
    {"xpu_runtime", "runtime"},
    {"acl", "acl"},
    {"model", "model"},
    {"node", "node"},
    {"hccl", "hccl"},
    {"communication", "communication"},
    {"runtime", "runtime"},
};

struct Call {
  std::string_view level;
  std::string_view name;
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t min_ns = std::numeric_limits<int64_t>::max();
  int64_t max_ns = 0;
  // Welford: the variance of long sums of large numbers, without cancellation.
  double mean_us = 0;
  double square_us = 0;

  void add(int64_t dur_ns) {
    ++count;
    total_ns += dur_ns;
    min_ns = std::min(min_ns, dur_ns);
    max_ns = std::max(max_ns, dur_ns);
    const double us = static_cast<double>(dur_ns) / 1e3;
    const double delta = us - mean_us;
    mean_us += delta / static_cast<double>(count);
    square_us += delta * (us - mean_us);
  }
};

std::string_view level_of(std::string_view& name, std::string_view cat) {
  if (const size_t at = name.find('@'); at != std::string_view::npos) {
    for (const auto& [layer, level] : kLevels) {
      if (name.substr(0, at) != layer) continue;
      name.remove_prefix(at + 1);
      return level;
    }
  }
  for (const auto& [category, level] : kCategories) {
    if (cat == category) return level;
  }
  return {};
}

}  // namespace

Result<bool> write_api_statistic(OutputContext& context, const Sink& sink) {
  const StoreReader& store = context.store();
  const size_t rank = context.rank.position;
  // Only lanes of the host have calls.
  std::vector<bool> is_host;
  for (uint64_t track = 0; track < store.rows(Table::kTracks, rank); ++track)
    is_host.push_back(text_at(store, Table::kTracks, "kind", rank, track) == "host");
  const auto first_track = static_cast<int64_t>(store.row_base(Table::kTracks, rank));
  std::unordered_map<uint64_t, Call> calls;  // by name and category
  for_each_row<6>(store, Table::kSlices, rank, {"track", "dur", "name", "cat", "flags", "step"},
                  [&](const auto& row) {
                    const auto [track, dur_ns, name, cat, flags, step] = row;
                    const auto lane = static_cast<size_t>(track - first_track);
                    if (lane >= is_host.size() || !is_host[lane] || dur_ns < 0) return;
                    if ((flags & (kFlagImpossible | kFlagInstant)) != 0) return;
                    if (!context.chosen_step(step)) return;
                    const uint64_t key =
                        static_cast<uint64_t>(name) << 32 ^ static_cast<uint64_t>(cat);
                    const auto [call, added] = calls.try_emplace(key);
                    if (added) {
                      call->second.name = store.string(name);
                      call->second.level = level_of(call->second.name, store.string(cat));
                    }
                    if (!call->second.level.empty()) call->second.add(dur_ns);
                  });
  std::vector<const Call*> rows;
  for (const auto& [key, call] : calls) {
    if (call.count > 0) rows.push_back(&call);
  }
  std::sort(rows.begin(), rows.end(), [](const Call* a, const Call* b) {
    return std::tie(b->total_ns, a->level, a->name) < std::tie(a->total_ns, b->level, b->name);
  });
  CsvWriter csv(sink, {"Device_id", "Level", "API Name", "Time(us)", "Count", "Avg(us)", "Min(us)",
                       "Max(us)", "Variance"});
  for (const Call* call : rows) {
    csv.text("host").text(call->level).text(call->name).us(call->total_ns).integer(call->count);
    csv.rounded(static_cast<double>(call->total_ns) / 1e3 / static_cast<double>(call->count), 3);
    csv.us(call->min_ns).us(call->max_ns);
    csv.rounded(call->square_us / static_cast<double>(call->count), 3);
    if (auto status = csv.end_row(); !status) return std::move(status.error());
  }
  return csv.finish();
}

}  // namespace stepscope
