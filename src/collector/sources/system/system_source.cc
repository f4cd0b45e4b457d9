#include "collector/sources/system/system_source.h"

#include <pthread.h>
#include <unistd.h>

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
constexpr size_t kMostValues = 1 << 20;  // waiting for the writer: far more than it ever leaves

}  // namespace

SystemSource::SystemSource(SystemSourceOptions options)
    : options_(std::move(options)), files_(options_.proc_root) {
  if (options_.pid == 0) options_.pid = ::getpid();
  if (options_.interval_ms < 1) options_.interval_ms = 1;
}

Status SystemSource::start() {
  if (!files_.machine()) {
    return Error{ErrorCode::kNotFound, "cannot sample the system", options_.proc_root + "/stat",
                 "it cannot be read", "mount /proc in the container"};
  }
  if (std::string problem = gpus_.start(options_.interval_ms); !problem.empty())
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
  sample();                        // how it was at the end
} catch (const std::exception&) {  // there is no memory
  const std::lock_guard lock(mutex_);
  has_given_up_ = true;
}

void SystemSource::sample() {
  const int64_t now_ns = monotonic_ns();
  const double seconds = last_ns_ == 0 ? 0 : static_cast<double>(now_ns - last_ns_) * 1e-9;
  last_ns_ = now_ns;
  const uint64_t ticks = stepscope_ticks();
  ++samples_;
  sample_machine(ticks, seconds);
  sample_tasks(ticks, seconds);
  // Threads and workers come and go for as long as the program runs.
  std::erase_if(rates_, [this](const auto& rate) { return rate.second.sample != samples_; });
}

void SystemSource::sample_machine(uint64_t ticks, double seconds) {
  const double per_second = seconds > 0 ? 1 / seconds : 0;
  if (const auto now = files_.machine()) {
    const auto elapsed = static_cast<double>(now->all - machine_.all);
    if (machine_.all != 0 && elapsed > 0) {
      const auto percent = [&](int64_t before, int64_t after) {
        return 100.0 * static_cast<double>(after - before) / elapsed;
      };
      add(ticks, "machine cpu user %", percent(machine_.user, now->user));
      add(ticks, "machine cpu system %", percent(machine_.system, now->system));
      add(ticks, "machine cpu idle %", percent(machine_.idle, now->idle));
      add(ticks, "machine cpu iowait %", percent(machine_.iowait, now->iowait));
    }
    add(ticks, "machine processors", static_cast<double>(now->processors));
    add(ticks, "machine runnable processes", static_cast<double>(now->runnable));
    machine_ = *now;
    add_rate(ticks, "machine context switches/s", now->context_switches, per_second);
  }
  const ByteTotals disks = files_.disks();
  add_rate(ticks, "disk read bytes/s", disks.in, per_second);
  add_rate(ticks, "disk write bytes/s", disks.out, per_second);
  const ByteTotals network = files_.network();
  add_rate(ticks, "network received bytes/s", network.in, per_second);
  add_rate(ticks, "network sent bytes/s", network.out, per_second);
}

void SystemSource::sample_tasks(uint64_t ticks, double seconds) {
  // 100 % is one processor, for processes and threads.
  const double percent =
      seconds > 0 ? 100.0 / (seconds * static_cast<double>(::sysconf(_SC_CLK_TCK))) : 0;
  if (const auto process = files_.process(options_.pid)) {
    add_rate(ticks, "process cpu %", process->cpu, percent);
    add(ticks, "process threads", static_cast<double>(process->threads));
    if (process->threads > static_cast<int64_t>(kMostThreads)) {
      say_once(said_threads_, "the process has " + std::to_string(process->threads) +
                                  " threads: only " + std::to_string(kMostThreads) +
                                  " have figures of their own");
    }
  }
  if (const auto bytes = files_.resident_bytes(options_.pid))
    add(ticks, "process resident bytes", static_cast<double>(*bytes));
  for (const TaskTotals& thread : files_.threads(options_.pid, kMostThreads)) {
    add_rate(ticks, "thread cpu % " + std::to_string(thread.id) + " " + thread.name, thread.cpu,
             percent);
  }
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
    add_rate(ticks, "worker cpu % " + label, process->cpu, percent);
    if (const auto bytes = files_.resident_bytes(worker))
      add(ticks, "worker resident bytes " + label, static_cast<double>(*bytes));
  }
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
  if (values_.size() < kMostValues) values_.push_back({ticks, std::move(series), value});
}

void SystemSource::say_once(bool& said, std::string sentence) {
  if (std::exchange(said, true)) return;
  const std::lock_guard lock(mutex_);
  problems_.push_back(std::move(sentence));
}

void SystemSource::collect(SourceOutput& output) {
  std::vector<SystemValue> values;
  {
    const std::lock_guard lock(mutex_);
    values.swap(values_);
    if (std::exchange(has_given_up_, false))
      output.report(name(), "there was no memory: there are no further samples");
    for (const std::string& problem : std::exchange(problems_, {})) output.report(name(), problem);
  }
  for (SystemValue& value : gpus_.take()) values.push_back(std::move(value));
  for (const SystemValue& value : values) {
    output.chunk.table(kSamplesTable, output.names.intern(value.series))
        .add({static_cast<int64_t>(value.ticks), std::bit_cast<int64_t>(value.value)});
  }
}

}  // namespace stepscope
