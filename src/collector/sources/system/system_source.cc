#include "collector/sources/system/system_source.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <exception>
#include <utility>

#include "collector/clock.h"
#include "stepscope/record.h"

namespace stepscope {
namespace {

constexpr size_t kMostThreads = 256;
constexpr size_t kMostWorkers = 64;
// Of what the kernel counts in ticks. 100 ms, and samples that are a little early.
constexpr int64_t kShortestWindowNs = 90'000'000;

int64_t ns_of(int64_t clock_ticks) {
  static const int64_t kNsPerTick = 1'000'000'000 / ::sysconf(_SC_CLK_TCK);
  return clock_ticks * kNsPerTick;
}

}  // namespace

SystemSource::SystemSource(SystemSourceOptions options)
    : options_(std::move(options)), files_(options_.proc_root) {
  if (options_.pid == 0) options_.pid = ::getpid();
  // A kernel, or a sandbox in its place, without them has the ticks.
  has_clocks_ = options_.proc_root == "/proc" && options_.pid == ::getpid() &&
                thread_cpu_ns(::gettid()).has_value();
  if (options_.interval_ms < 1) options_.interval_ms = 1;
}

Status SystemSource::start() {
  if (!files_.machine()) {
    return Error{ErrorCode::kNotFound, "cannot sample the system", options_.proc_root + "/stat",
                 "it cannot be read", "mount /proc in the container"};
  }
  if (std::string problem = gpus_.start(options_.interval_ms, options_.most_waiting_of_gpus);
      !problem.empty())
    problems_.push_back(std::move(problem));
  thread_ = std::thread([this] { run(); });
  return {};
}

void SystemSource::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopping_, true)) return;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  gpus_.stop();
}

void SystemSource::run() try {
  ::pthread_setname_np(::pthread_self(), "stepscope-sys");
  auto next = std::chrono::steady_clock::now();
  while (true) {
    sample();
    // Late samples are not made up for: a busy machine would be made busier.
    next = std::max(next + std::chrono::milliseconds(options_.interval_ms),
                    std::chrono::steady_clock::now());
    std::unique_lock lock(mutex_);
    if (wake_.wait_until(lock, next, [this] { return stopping_; })) break;
  }
  sample(true);                    // how it was at the end
} catch (const std::exception&) {  // there is no memory
  const std::lock_guard lock(mutex_);
  has_given_up_ = true;
}

int64_t SystemSource::now_ns() const {
  return options_.now_ns ? options_.now_ns() : monotonic_ns();
}

void SystemSource::sample(bool last) {
  sample_ns_ = now_ns();
  const double seconds = last_ns_ == 0 ? 0 : static_cast<double>(sample_ns_ - last_ns_) * 1e-9;
  last_ns_ = sample_ns_;
  const uint64_t ticks = stepscope_ticks();
  ++samples_;
  is_last_ = last;
  sample_machine(ticks, seconds);
  sample_process(ticks);
  if (workers_ns_ == 0 || is_due(workers_ns_, has_workers_figure_)) sample_workers(ticks);
  // Threads come and go for as long as the program runs.
  std::erase_if(rates_, [this](const auto& rate) { return rate.second.sample != samples_; });
}

bool SystemSource::is_due(int64_t since_ns, bool has_figure) const {
  return sample_ns_ - since_ns >= kShortestWindowNs || (is_last_ && !has_figure);
}

void SystemSource::sample_machine(uint64_t ticks, double seconds) {
  const double per_second = seconds > 0 ? 1 / seconds : 0;
  if (const auto now = files_.machine()) {
    processors_ = std::max<int64_t>(now->processors, 1);
    sample_processors(ticks, *now);
    add(ticks, "machine processors", static_cast<double>(now->processors));
    add(ticks, "machine runnable processes", static_cast<double>(now->runnable));
    add_rate(ticks, "machine context switches/s", now->context_switches, per_second);
  }
  const ByteTotals disks = files_.disks();
  add_rate(ticks, "disk read bytes/s", disks.in, per_second);
  add_rate(ticks, "disk write bytes/s", disks.out, per_second);
  const ByteTotals network = files_.network();
  add_rate(ticks, "network received bytes/s", network.in, per_second);
  add_rate(ticks, "network sent bytes/s", network.out, per_second);
}

void SystemSource::sample_processors(uint64_t ticks, const MachineTotals& now) {
  const bool is_first = machine_ns_ == 0;
  if (!is_first && !is_due(machine_ns_, has_machine_figure_)) return;
  const auto elapsed = static_cast<double>(now.all - machine_.all);
  if (!is_first && elapsed > 0) {
    const auto add_share = [&](const char* series, int64_t before, int64_t after) {
      // The kernel's idle and iowait can go back by a tick.
      add(ticks, series,
          std::clamp(100.0 * static_cast<double>(after - before) / elapsed, 0.0, 100.0));
    };
    add_share("machine cpu user %", machine_.user, now.user);
    add_share("machine cpu system %", machine_.system, now.system);
    add_share("machine cpu idle %", machine_.idle, now.idle);
    add_share("machine cpu iowait %", machine_.iowait, now.iowait);
    has_machine_figure_ = true;
  }
  machine_ = now;
  machine_ns_ = sample_ns_;
}

void SystemSource::sample_process(uint64_t ticks) {
  if (const auto bytes = files_.resident_bytes(options_.pid))
    add(ticks, "process resident bytes", static_cast<double>(*bytes));
  for (const TaskTotals& thread : files_.threads(options_.pid, kMostThreads)) {
    CpuTime now{ns_of(thread.cpu), now_ns()};
    if (has_clocks_) {
      const auto exact_ns = thread_cpu_ns(thread.id);
      if (!exact_ns) continue;  // it ended meanwhile
      now.total_ns = *exact_ns;
      now.waits = false;
    }
    add_cpu(ticks, rates_, "thread cpu % " + std::to_string(thread.id) + " " + thread.name, now);
  }
  const auto process = files_.process(options_.pid);
  if (!process) return;
  const bool has_all_threads = process->threads <= static_cast<int64_t>(kMostThreads);
  add(ticks, "process threads", static_cast<double>(process->threads));
  if (!has_all_threads) {
    say_once(said_threads_, "the process has " + std::to_string(process->threads) +
                                " threads: only " + std::to_string(kMostThreads) +
                                " have figures of their own");
  }
  CpuTime now{ns_of(process->cpu), now_ns(), processors_};
  if (has_clocks_) {
    now.total_ns = process_cpu_ns();
    now.waits = !has_all_threads;  // exact if each of them was asked just now
  }
  add_cpu(ticks, rates_, "process cpu %", now);
}

void SystemSource::sample_workers(uint64_t ticks) {
  has_workers_figure_ = workers_ns_ != 0;
  workers_ns_ = sample_ns_;
  const Descendants workers = files_.descendants(options_.pid, kMostWorkers);
  if (!workers.complete) {
    say_once(said_workers_,
             "the process has more workers, or threads that may have started them, "
             "than are looked at: only " +
                 std::to_string(workers.found.size()) + " workers have figures");
  }
  for (const int64_t worker : workers.found) {
    const auto process = files_.process(worker);
    if (!process) continue;  // it ended meanwhile
    const std::string label = std::to_string(worker) + " " + process->name;
    add_cpu(ticks, worker_rates_, "worker cpu % " + label,
            {ns_of(process->cpu), now_ns(), processors_, false});
    if (const auto bytes = files_.resident_bytes(worker))
      add(ticks, "worker resident bytes " + label, static_cast<double>(*bytes));
  }
  std::erase_if(worker_rates_, [this](const auto& rate) { return rate.second.sample != samples_; });
}

void SystemSource::add_cpu(uint64_t ticks, Rates& rates, const std::string& series,
                           const CpuTime& now) {
  Rate& rate = rates[series];
  rate.sample = samples_;
  if (!std::exchange(rate.known, true) || now.total_ns < rate.last) {
    rate.last = now.total_ns;
    rate.last_ns = now.when_ns;
    return;
  }
  const int64_t elapsed_ns = now.when_ns - rate.last_ns;
  if (elapsed_ns <= 0 || (now.waits && !is_due(rate.last_ns, rate.has_figure))) return;
  // The kernel may count a tick, or we read, a little late. What cannot have been done in this time
  // goes to the next figure: none is impossible, and their sum is right.
  const int64_t added_ns = std::min(now.total_ns - rate.last, elapsed_ns * now.most);
  rate.last += added_ns;
  rate.last_ns = now.when_ns;
  rate.has_figure = true;
  add(ticks, series, 100.0 * static_cast<double>(added_ns) / static_cast<double>(elapsed_ns));
}

double SystemSource::Rate::added(int64_t total) {
  const int64_t added = known && total >= last ? total - last : 0;
  last = total;
  known = true;
  return static_cast<double>(added);
}

void SystemSource::add_rate(uint64_t ticks, const std::string& series, int64_t total,
                            double scale) {
  Rate& rate = rates_[series];
  rate.sample = samples_;
  const bool first = !rate.known;
  const double added = rate.added(total);
  if (!first && scale > 0) add(ticks, series, added * scale);
}

void SystemSource::add(uint64_t ticks, std::string series, double value) {
  const std::lock_guard lock(mutex_);
  waiting_.add({ticks, std::move(series), value}, options_.most_waiting);
}

void SystemSource::say_once(bool& said, std::string sentence) {
  if (std::exchange(said, true)) return;
  const std::lock_guard lock(mutex_);
  problems_.push_back(std::move(sentence));
}

void SystemSource::collect(SourceOutput& output) {
  WaitingValues waiting;
  {
    const std::lock_guard lock(mutex_);
    waiting = std::exchange(waiting_, {});
    if (std::exchange(has_given_up_, false))
      output.report(name(), "there was no memory: there are no further samples");
    for (const std::string& problem : std::exchange(problems_, {})) output.report(name(), problem);
  }
  hand_over(waiting, output);
  hand_over(gpus_.take(), output);
}

void SystemSource::hand_over(const WaitingValues& waiting, SourceOutput& output) {
  for (const SystemValue& value : waiting.values) {
    output.chunk.table(kSamplesTable, output.names.intern(value.series))
        .add({static_cast<int64_t>(value.ticks), std::bit_cast<int64_t>(value.value)});
  }
  output.not_recorded += waiting.not_kept;
  if (waiting.not_kept > 0 && !std::exchange(said_not_kept_, true))
    output.report(name(), "samples are missing: more of them waited for the disk than are kept");
}

}  // namespace stepscope
