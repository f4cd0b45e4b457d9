#include "analyses/flops/flop_sums.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "analyses/common/all_ranks.h"
#include "analyses/common/saturated.h"

namespace stepscope {
namespace {

constexpr double kNsPerSecond = 1e9;

std::optional<double> ratio(double part, double whole) {
  return whole > 0 && std::isfinite(part) ? std::optional(part / whole) : std::nullopt;
}

bool is_low_precision(DataType type) {
  return type == DataType::kFloat16 || type == DataType::kBFloat16 || type == DataType::kFloat8 ||
         type == DataType::kInt8;
}

}  // namespace

void FlopResults::append(FlopResults&& other) {
  append_rows(operators, std::move(other.operators));
  append_rows(scopes, std::move(other.scopes));
  append_rows(steps, std::move(other.steps));
  append_rows(summaries, std::move(other.summaries));
}

std::vector<Reason> flop_reasons(const FlopResults& results) {
  std::vector<Reason> reasons;
  if (results.operators.empty()) {
    for (const char* table : {"flops", "flops_scopes", "flops_steps", "flops_summary"})
      reasons.push_back({table,
                         "nothing could be counted: record shapes (torch: record_shapes=True) or "
                         "counters (Ascend: aic_metrics ArithmeticUtilization)"});
    return reasons;
  }
  if (results.scopes.empty())
    reasons.push_back(
        {"flops_scopes", "operators have no scope: record modules (torch: with_stack=True)"});
  if (results.steps.empty()) reasons.push_back({"flops_steps", "no steps in the recording"});
  for (const FlopSummaryRow& row : results.summaries) {
    if (row.peak || row.source == kFromFile || row.source == "none") continue;
    const std::string device = row.device.empty() ? "this device" : "\"" + row.device + "\"";
    reasons.push_back({"flops_summary", "no peak rate is known for " + device +
                                            ": give it to get utilisation and MFU"});
    break;
  }
  return reasons;
}

RankPeaks rank_peaks(const StoreReader& store, size_t rank, const std::optional<PeakRates>& given) {
  RankPeaks peaks;
  const std::vector<DeviceProperties> devices = device_properties(store, rank);
  // Devices that did work; a host may describe more of them.
  std::set<int64_t> working;
  int64_t last = kNull;
  for_each_row<1>(store, Table::kKernels, rank, {"device"}, [&](const auto& row) {
    if (row[0] == last) return;
    last = row[0];
    working.insert(last);
  });
  peaks.devices = std::max<int64_t>(1, static_cast<int64_t>(working.size()));
  const DeviceProperties* device = find_device(devices, working.empty() ? 0 : *working.begin());
  if (device == nullptr) device = &devices[0];
  peaks.device = device->name;
  if (given) {
    peaks.rates = given;
    peaks.source = "option";
  } else if (!working.empty()) {
    peaks.rates = device_peaks(*device);
    if (peaks.rates) peaks.source = known_peaks(device->name) ? "table" : "clock";
  }
  return peaks;
}

uint32_t FlopSums::add_kind(FlopRow labels, const FlopCount& count) {
  labels.rank = rank_.rank;
  labels.window = rank_.window;
  labels.kind = labels.kind.empty() ? flop_kind_name(count.kind) : labels.kind;
  labels.data_type = data_type_name(count.type);
  rows_.push_back(std::move(labels));
  counts_.push_back(count);
  return static_cast<uint32_t>(rows_.size() - 1);
}

double FlopSums::peak_of(const FlopCount& count) const {
  if (!peaks_.rates) return 0;
  return is_matrix_work(count.kind) ? peaks_.rates->matrix_rate(count.type)
                                    : peaks_.rates->vector_rate(count.type);
}

void FlopSums::add_call(uint32_t kind, int64_t step, int64_t ts_ns, int64_t time_ns) {
  add_call(kind, step, ts_ns, time_ns, counts_[kind].flops);
}

void FlopSums::add_call(uint32_t kind, int64_t step, int64_t ts_ns, int64_t time_ns, double flops) {
  step = step_number_.of(step, ts_ns);
  FlopRow& row = rows_[kind];
  ++row.count;
  row.flops += flops;
  add_saturated(row.time_ns, time_ns);
  if (last_ == nullptr || step != last_step_) {
    last_step_ = step;
    last_ = &steps_[step];
  }
  last_->flops += flops;
  if (!is_matrix_work(counts_[kind].kind)) return;
  last_->matrix_flops += flops;
  const double peak = peak_of(counts_[kind]) * static_cast<double>(peaks_.devices);
  if (peak > 0) last_->ideal_ns += flops / peak * kNsPerSecond;
}

void FlopSums::finish_row(FlopRow& row, const FlopCount& count) const {
  const double seconds = static_cast<double>(row.time_ns) / kNsPerSecond;
  const double bytes = count.bytes * static_cast<double>(row.count);
  row.flops_per_second = ratio(row.flops, seconds);
  const double peak = peak_of(count);
  if (row.flops_per_second) row.utilisation = ratio(*row.flops_per_second, peak);
  if (!std::isfinite(bytes) || bytes <= 0) return;
  row.bytes = bytes;
  row.bytes_per_second = ratio(bytes, seconds);
  row.intensity = row.flops / bytes;
  if (!peaks_.rates || peaks_.rates->memory <= 0) return;
  if (row.bytes_per_second) row.memory_utilisation = *row.bytes_per_second / peaks_.rates->memory;
  // Work without arithmetic can only be bound by memory.
  const double reachable = *row.intensity * peaks_.rates->memory;
  if (row.flops == 0) {
    row.bound = "memory";
    row.roofline_share = row.memory_utilisation;
  } else if (peak > 0) {
    row.bound = reachable < peak ? "memory" : "compute";
    if (row.flops_per_second)
      row.roofline_share = *row.flops_per_second / std::min(reachable, peak);
  }
}

void FlopSums::finish_steps(FlopResults& results, FlopSummaryRow& summary, int64_t span_ns) {
  Step whole;
  int64_t steps_ns = 0;
  std::set<int64_t> seen;
  for (const StepRow& row : given_steps_) {
    const int64_t step = row.step;
    const int64_t dur = row.work_dur_ns;
    const auto found = steps_.find(step);
    if (found == steps_.end() || dur <= 0 || !seen.insert(step).second) continue;
    const Step& sums = found->second;
    FlopStepRow line;
    line.rank = rank_.rank;
    line.window = rank_.window;
    line.step = step;
    line.step_ns = dur;
    line.flops = sums.flops;
    line.matrix_flops = sums.matrix_flops;
    line.flops_per_second = sums.matrix_flops / static_cast<double>(dur) * kNsPerSecond;
    if (sums.ideal_ns > 0) line.mfu = sums.ideal_ns / static_cast<double>(dur);
    results.steps.push_back(line);
    whole.matrix_flops += sums.matrix_flops;
    whole.ideal_ns += sums.ideal_ns;
    add_saturated(steps_ns, dur);
  }
  summary.steps = static_cast<int64_t>(results.steps.size());
  if (summary.steps > 0) {
    summary.flops_per_step = whole.matrix_flops / static_cast<double>(summary.steps);
  } else {
    for (const auto& [step, sums] : steps_) {
      whole.matrix_flops += sums.matrix_flops;
      whole.ideal_ns += sums.ideal_ns;
    }
  }
  summary.span_ns = summary.steps > 0 ? steps_ns : span_ns;
  const auto span = static_cast<double>(summary.span_ns);
  summary.flops_per_second = ratio(whole.matrix_flops * kNsPerSecond, span);
  if (whole.ideal_ns > 0) summary.mfu = ratio(whole.ideal_ns, span);
}

FlopResults FlopSums::finish(std::string_view source, int64_t whole_ns, int64_t span_ns) {
  FlopResults results;
  FlopSummaryRow summary;
  summary.rank = rank_.rank;
  summary.window = rank_.window;
  summary.device = peaks_.device;
  summary.source = source;
  std::array<double, kDataTypeCount> by_type{};
  double matrix_ns = 0;
  double ideal_ns = 0;
  double low_precision = 0;
  for (size_t i = 0; i < rows_.size(); ++i) {
    FlopRow& row = rows_[i];
    if (row.count == 0) continue;
    finish_row(row, counts_[i]);
    summary.flops += row.flops;
    add_saturated(summary.time_ns, row.time_ns);
    if (is_matrix_work(counts_[i].kind)) {
      summary.matrix_flops += row.flops;
      by_type[static_cast<size_t>(counts_[i].type)] += row.flops;
      if (is_low_precision(counts_[i].type)) low_precision += row.flops;
      matrix_ns += static_cast<double>(row.time_ns);
      if (const double peak = peak_of(counts_[i]); peak > 0)
        ideal_ns += row.flops / peak * kNsPerSecond;
    }
    results.operators.push_back(std::move(row));
  }
  std::stable_sort(results.operators.begin(), results.operators.end(),
                   [](const FlopRow& a, const FlopRow& b) {
                     return std::pair(-a.flops, -a.time_ns) < std::pair(-b.flops, -b.time_ns);
                   });
  if (results.operators.empty()) summary.source = "none";
  summary.covered =
      whole_ns > 0 ? static_cast<double>(summary.time_ns) / static_cast<double>(whole_ns) : 0;
  if (ideal_ns > 0) summary.busy_utilisation = ratio(ideal_ns, matrix_ns);
  // Where the types are not known nothing can be said.
  if (summary.matrix_flops > by_type[0])
    summary.low_precision_share = low_precision / summary.matrix_flops;
  const auto most =
      static_cast<DataType>(std::max_element(by_type.begin(), by_type.end()) - by_type.begin());
  summary.peak_data_type = summary.matrix_flops > 0 ? data_type_name(most) : "";
  summary.peak_source = peaks_.source;
  if (peaks_.rates && summary.matrix_flops > 0 && peaks_.rates->matrix_rate(most) > 0)
    summary.peak = peaks_.rates->matrix_rate(most);
  finish_steps(results, summary, span_ns);
  results.scopes = scopes.rows(rank_);
  results.summaries.push_back(std::move(summary));
  return results;
}

}  // namespace stepscope
