#include "analyses/operators/kernels.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analyses/common/duration_groups.h"
#include "analyses/common/key_index.h"
#include "analyses/common/saturated.h"
#include "analyses/operators/device_properties.h"
#include "analyses/operators/kernel_names.h"

namespace stepscope {
namespace {

// A mean over time: of the kernels that give a value.
struct Weighted {
  double sum = 0;
  double weight_ns = 0;

  void add(double value, int64_t dur_ns) {
    if (std::isnan(value)) return;
    sum += value * static_cast<double>(dur_ns);
    weight_ns += static_cast<double>(dur_ns);
  }
  void add(const Weighted& other) {
    sum += other.sum;
    weight_ns += other.weight_ns;
  }
  std::optional<double> mean() const {
    return weight_ns > 0 ? std::optional(sum / weight_ns) : std::nullopt;
  }
};

struct Group {
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t min_ns = 0;
  int64_t max_ns = 0;
  Weighted occupancy;
  Weighted blocks;
  Weighted filled;  // multiprocessors
  Weighted cube;

  void add(int64_t dur_ns) {
    min_ns = count == 0 ? dur_ns : std::min(min_ns, dur_ns);
    max_ns = count == 0 ? dur_ns : std::max(max_ns, dur_ns);
    ++count;
    add_saturated(total_ns, dur_ns);
  }
};

// Share of a task's time in which the cube unit works.
double cube_utilisation(std::string_view counters) {
  const double utilisation = number_in_json(counters, "cube_utilization(%)");
  if (!std::isnan(utilisation)) return utilisation / 100;
  for (const std::string_view name : {"aic_mac_ratio", "mac_ratio", "aic_cube_ratio"}) {
    const double ratio = number_in_json(counters, name);
    if (!std::isnan(ratio)) return ratio;
  }
  return std::nan("");
}

std::optional<std::string_view> text_or_null(const StoreReader& store, int64_t id) {
  return id == kNull ? std::nullopt : std::optional(store.string(id));
}

class KernelReader {
 public:
  KernelReader(const StoreReader& store, const RankId& rank)
      : store_(store), rank_(rank), devices_(device_properties(store, rank.position)) {
    add_undescribed_gpus(store, rank.position, devices_);
    operators_ = &store.column(Table::kSlices, "name", rank.position);
  }

  KernelTables read() {
    read_rows();
    KernelTables tables;
    tables.left_out = left_out_;
    make_kernels(tables);
    make_variants(tables);
    make_devices(tables);
    return tables;
  }

 private:
  enum NamePart : uint8_t { kDevice, kName, kClass, kType, kOpType };
  enum VariantPart : uint8_t { kOfName, kOp, kGrid, kBlock, kRegisters, kShared };

  double blocks_per_sm(int64_t device, int64_t grid) {
    if (grid == kNull) return std::nan("");
    auto [found, is_new] = blocks_.try_emplace(grid, 0.0);
    if (is_new) found->second = blocks_in_grid(store_.string(grid));
    if (device != last_device_) {
      last_device_ = device;
      const DeviceProperties* properties = find_device(devices_, device);
      multiprocessors_ = properties == nullptr ? 0 : properties->multiprocessors;
    }
    return multiprocessors_ > 0 ? found->second / static_cast<double>(multiprocessors_)
                                : std::nan("");
  }

  // Names of operators are looked up through the slice; runs of kernels share one.
  int64_t op_name(int64_t op) {
    if (op == kNull) return kNull;
    if (op == last_op_) return last_op_name_;
    const auto base = static_cast<int64_t>(store_.row_base(Table::kSlices, rank_.position));
    const auto row = static_cast<uint64_t>(op - base);
    last_op_ = op;
    last_op_name_ = row < operators_->rows() ? operators_->at(row) : kNull;
    return last_op_name_;
  }

  void read_rows() {
    group_of_.reserve(store_.rows(Table::kKernels, rank_.position));
    for_each_row<14>(store_, Table::kKernels, rank_.position,
                     {"device", "name", "class", "type", "op_type", "dur", "flags", "op", "grid",
                      "block", "registers", "shared_memory", "occupancy", "counters"},
                     [&](const auto& row) {
                       const auto [device, name, work_class, type, op_type, dur, flags, op, grid,
                                   block, registers, shared, occupancy, counters] = row;
                       if (dur < 0 || (flags & kFlagImpossible) != 0) {
                         ++left_out_;
                         group_of_.push_back(kNoGroup);
                         return;
                       }
                       const uint32_t at = names_.group(
                           {device == kNull ? 0 : device, name, work_class, type, op_type});
                       if (at == groups_.size()) groups_.emplace_back();
                       const uint32_t variant =
                           variants_.group({at, op_name(op), grid, block, registers, shared});
                       if (variant == variant_groups_.size()) variant_groups_.emplace_back();
                       group_of_.push_back(at);
                       const double share =
                           occupancy == kNull ? std::nan("") : static_cast<double>(occupancy) / 100;
                       const double blocks = blocks_per_sm(device == kNull ? 0 : device, grid);
                       groups_[at].add(dur);
                       Group& group = variant_groups_[variant];
                       group.add(dur);
                       group.occupancy.add(share, dur);
                       group.blocks.add(blocks, dur);
                       group.filled.add(blocks > 1 ? 1 : blocks, dur);  // NaN stays
                       if (counters != kNull)
                         groups_[at].cube.add(cube_utilisation(store_.string(counters)), dur);
                     });
    // Means over time of the variants add up to those of the names; the operator with most time.
    ops_.resize(groups_.size(), {kNull, -1});
    std::map<std::pair<uint32_t, int64_t>, int64_t> by_op;
    for (uint32_t variant = 0; variant < variants_.size(); ++variant) {
      const auto& key = variants_.key(variant);
      Group& group = groups_[static_cast<size_t>(key[kOfName])];
      group.occupancy.add(variant_groups_[variant].occupancy);
      group.blocks.add(variant_groups_[variant].blocks);
      group.filled.add(variant_groups_[variant].filled);
      if (key[kOp] != kNull)
        add_saturated(by_op[{static_cast<uint32_t>(key[kOfName]), key[kOp]}],
                      variant_groups_[variant].total_ns);
    }
    for (const auto& [key, total_ns] : by_op) {
      auto& [op, most_ns] = ops_[key.first];
      if (total_ns > most_ns) std::tie(op, most_ns) = std::tuple(key.second, total_ns);
    }
  }

  void make_kernels(KernelTables& tables) {
    std::vector<int64_t> counts;
    for (const Group& group : groups_) counts.push_back(group.count);
    DurationGroups durations(counts);
    size_t at = 0;
    for_each_row<1>(store_, Table::kKernels, rank_.position, {"dur"}, [&](const auto& row) {
      const uint32_t group = group_of_[at++];
      if (group != kNoGroup) durations.add(group, row[0]);
    });
    std::map<std::pair<int64_t, std::string_view>, int64_t> totals;
    for (uint32_t i = 0; i < groups_.size(); ++i) {
      const auto& key = names_.key(i);
      const DurationSpread spread = durations.spread(i, i + 1);
      KernelTotalRow row;
      row.rank = rank_.rank;
      row.window = rank_.window;
      row.device = key[kDevice];
      row.name = store_.string(key[kName]);
      row.work_class = store_.string(key[kClass]);
      row.type = store_.string(key[kType]);
      row.kind = key[kOpType] == kNull ? kernel_kind(row.name) : store_.string(key[kOpType]);
      row.op = text_or_null(store_, ops_[i].first);
      row.count = spread.count;
      row.total_ns = spread.total_ns;
      row.mean_ns = spread.mean_ns;
      row.min_ns = spread.min_ns;
      row.max_ns = spread.max_ns;
      row.stddev_ns = spread.stddev_ns;
      row.median_ns = spread.median_ns;
      row.p90_ns = spread.p90_ns;
      row.p99_ns = spread.p99_ns;
      if (row.type == "CUDA") row.tensor_cores = uses_tensor_cores(row.name);
      row.cube_utilisation = groups_[i].cube.mean();
      row.occupancy = groups_[i].occupancy.mean();
      row.blocks_per_sm = groups_[i].blocks.mean();
      add_saturated(totals[{row.device, row.work_class}], row.total_ns);
      tables.kernels.push_back(row);
    }
    for (KernelTotalRow& row : tables.kernels) {
      const int64_t total = totals[{row.device, row.work_class}];
      row.share = total > 0 ? static_cast<double>(row.total_ns) / static_cast<double>(total) : 0;
    }
    std::stable_sort(tables.kernels.begin(), tables.kernels.end(),
                     [](const KernelTotalRow& a, const KernelTotalRow& b) {
                       return std::tuple(a.device, -a.total_ns) < std::tuple(b.device, -b.total_ns);
                     });
  }

  void make_variants(KernelTables& tables) const {
    for (uint32_t i = 0; i < variants_.size(); ++i) {
      const auto& key = variants_.key(i);
      const auto& name = names_.key(static_cast<uint32_t>(key[kOfName]));
      const Group& group = variant_groups_[i];
      KernelVariantRow row;
      row.rank = rank_.rank;
      row.window = rank_.window;
      row.device = name[kDevice];
      row.name = store_.string(name[kName]);
      row.op = text_or_null(store_, key[kOp]);
      row.grid = text_or_null(store_, key[kGrid]);
      row.block = text_or_null(store_, key[kBlock]);
      row.registers = key[kRegisters];
      row.shared_memory_bytes = key[kShared];
      row.count = group.count;
      row.total_ns = group.total_ns;
      row.mean_ns = static_cast<double>(group.total_ns) / static_cast<double>(group.count);
      row.min_ns = group.min_ns;
      row.max_ns = group.max_ns;
      row.occupancy = group.occupancy.mean();
      row.blocks_per_sm = group.blocks.mean();
      tables.variants.push_back(row);
    }
    std::stable_sort(tables.variants.begin(), tables.variants.end(),
                     [](const KernelVariantRow& a, const KernelVariantRow& b) {
                       return std::tuple(a.device, -a.total_ns) < std::tuple(b.device, -b.total_ns);
                     });
  }

  void make_devices(KernelTables& tables) const {
    struct Use {
      Group sums;
      int64_t tensor_core_ns = 0;
      bool cuda = false;
    };
    std::map<int64_t, Use> devices;
    for (uint32_t i = 0; i < groups_.size(); ++i) {
      const auto& key = names_.key(i);
      if (store_.string(key[kClass]) != "compute") continue;
      Use& use = devices[key[kDevice]];
      use.sums.count += groups_[i].count;
      add_saturated(use.sums.total_ns, groups_[i].total_ns);
      use.sums.occupancy.add(groups_[i].occupancy);
      use.sums.blocks.add(groups_[i].blocks);
      use.sums.filled.add(groups_[i].filled);
      use.sums.cube.add(groups_[i].cube);
      if (store_.string(key[kType]) != "CUDA") continue;
      use.cuda = true;
      if (uses_tensor_cores(store_.string(key[kName])))
        add_saturated(use.tensor_core_ns, groups_[i].total_ns);
    }
    for (const auto& [device, use] : devices) {
      DeviceUseRow row;
      row.rank = rank_.rank;
      row.window = rank_.window;
      row.device = device;
      row.kernels = use.sums.count;
      row.kernel_ns = use.sums.total_ns;
      if (use.cuda && row.kernel_ns > 0)
        row.tensor_core_share =
            static_cast<double>(use.tensor_core_ns) / static_cast<double>(row.kernel_ns);
      row.cube_utilisation = use.sums.cube.mean();
      row.occupancy = use.sums.occupancy.mean();
      row.blocks_per_sm = use.sums.blocks.mean();
      row.sm_efficiency = use.sums.filled.mean();
      tables.devices.push_back(row);
    }
  }

  const StoreReader& store_;
  const RankId rank_;
  std::vector<DeviceProperties> devices_;
  const ColumnView* operators_ = nullptr;  // names of slices

  KeyIndex<5> names_;
  std::vector<Group> groups_;
  std::vector<std::pair<int64_t, int64_t>> ops_;  // name and time of the operator with most time
  KeyIndex<6> variants_;
  std::vector<Group> variant_groups_;
  std::vector<uint32_t> group_of_;  // by kernel
  int64_t left_out_ = 0;

  std::unordered_map<int64_t, double> blocks_;  // by grid
  int64_t last_device_ = kNull;
  int64_t multiprocessors_ = 0;
  int64_t last_op_ = kNull;
  int64_t last_op_name_ = kNull;
};

}  // namespace

KernelTables kernel_tables(const StoreReader& store, const RankId& rank) {
  return KernelReader(store, rank).read();
}

}  // namespace stepscope
