#include "analyses/cpu/cpu.h"

#include <algorithm>
#include <cmath>

namespace stepscope {
namespace {

class Mean {
 public:
  void add(double value) {
    if (std::isnan(value)) return;
    sum_ += value;
    most_ = count_ == 0 ? value : std::max(most_, value);
    ++count_;
  }
  double mean() const {
    return count_ == 0 ? CpuSample::kNone : sum_ / static_cast<double>(count_);
  }
  double sum() const { return count_ == 0 ? CpuSample::kNone : sum_; }
  double most() const { return count_ == 0 ? CpuSample::kNone : most_; }

 private:
  double sum_ = 0;
  double most_ = 0;
  int64_t count_ = 0;
};

CpuRow summarise(const CpuSeries& series, const StepRange& steps) {
  CpuRow row;
  row.scope = cpu_scope_name(series.scope);
  row.name = series.name;
  row.id = series.id;
  Mean user;
  Mean system;
  Mean io_wait;
  Mean idle;
  Mean busy;
  Mean runnable;
  Mean switches;
  const CpuSample* first = nullptr;
  const CpuSample* last = nullptr;
  for (const CpuSample& sample : series.samples) {
    if (!steps.holds(sample.step)) continue;
    if (first == nullptr) first = &sample;
    last = &sample;
    ++row.samples;
    user.add(sample.user);
    system.add(sample.system);
    io_wait.add(sample.io_wait);
    idle.add(sample.idle);
    busy.add(sample.busy);
    runnable.add(sample.runnable);
    switches.add(sample.context_switches);
  }
  if (first == nullptr) return row;
  row.first_step = first->step;
  row.last_step = last->step;
  row.user = user.mean();
  row.system = system.mean();
  row.io_wait = io_wait.mean();
  row.idle = idle.mean();
  row.busy = busy.mean();
  row.most_busy = busy.most();
  row.runnable = runnable.mean();
  row.context_switches = switches.mean();
  if (row.samples > 1 && last->ts_ns > first->ts_ns) {
    row.interval_ns = (last->ts_ns - first->ts_ns) / (row.samples - 1);
    row.context_switches_per_second =
        switches.mean() * 1e9 / static_cast<double>(row.interval_ns == 0 ? 1 : row.interval_ns);
  }
  return row;
}

void judge_machine(CpuRow& row, double process_busy) {
  if (row.processors != kNull && row.processors > 0 && !std::isnan(process_busy)) {
    row.others = std::max(0.0, row.busy - process_busy / static_cast<double>(row.processors));
  }
  const bool crowded =
      row.processors != kNull && row.runnable > static_cast<double>(row.processors);
  if (row.system > kHighSystem && crowded) {
    row.verdict = "lower_threads";
    row.advice =
        "much system time and more runnable processes than processors: lower the number of threads "
        "(num_parallel_workers, DataLoader workers)";
  } else if (row.others > kOthersBusy) {
    row.verdict = "others";
    row.advice = "other processes use most of the machine: move them, or expect slow data";
  } else if (1 - row.idle > kMachineBusy) {
    row.verdict = "busy";
    row.advice = "the whole machine is busy, which may slow data processing down";
  } else if (row.user < kLowUser) {
    row.verdict = "raise_threads";
    row.advice =
        "processors are free: if data preparation is slow, raise the number of threads "
        "(num_parallel_workers, DataLoader workers)";
  }
}

void judge_operator(CpuRow& row) {
  if (row.workers == kNull || row.workers < 1) return;
  row.per_worker = row.busy / static_cast<double>(row.workers);
  if (row.per_worker > kWorkerBusy) {
    row.verdict = "raise_threads";
    row.advice = "its threads are busy: raise num_parallel_workers, or make its code cheaper";
  } else if (row.per_worker < kWorkerIdle && row.workers > 1) {
    row.verdict = "lower_threads";
    row.advice = "its threads are mostly idle: more of them will not help, fewer would do";
  }
}

}  // namespace

std::vector<CpuRow> cpu_rows(const RankId& rank, const std::vector<CpuSeries>& series,
                             const std::vector<CpuOperator>& operators, int64_t processors,
                             const StepRange& steps) {
  std::vector<CpuRow> rows;
  double process_busy = CpuSample::kNone;
  for (const CpuSeries& one : series) {
    CpuRow row = summarise(one, steps);
    if (row.samples == 0) continue;
    row.rank = rank.rank;
    row.window = rank.window;
    row.processors = processors;
    if (one.scope == CpuScope::kProcess) process_busy = row.busy;
    if (one.scope == CpuScope::kOperator) {
      const auto known = std::ranges::find(operators, one.id, &CpuOperator::id);
      if (known != operators.end()) {
        row.name = known->name;
        row.workers = known->workers;
      }
      judge_operator(row);
    }
    rows.push_back(std::move(row));
  }
  for (CpuRow& row : rows) {
    if (row.scope == cpu_scope_name(CpuScope::kMachine)) judge_machine(row, process_busy);
  }
  return rows;
}

std::vector<CpuSampleRow> cpu_sample_rows(const RankId& rank,
                                          const std::vector<CpuSeries>& series) {
  std::vector<CpuSampleRow> rows;
  size_t samples = 0;
  for (const CpuSeries& one : series) samples += one.samples.size();
  rows.reserve(samples);
  for (const CpuSeries& one : series) {
    for (const CpuSample& sample : one.samples)
      rows.push_back({rank.rank, rank.window, cpu_scope_name(one.scope), one.id, sample});
  }
  return rows;
}

}  // namespace stepscope
