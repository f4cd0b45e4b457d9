#include "analyses/critical_path/step_events.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "analyses/common/names.h"

namespace stepscope {
namespace {

enum NameBit : uint8_t { kStepMark = 1, kFetch = 2, kBlocks = 4, kStreamWait = 8 };
enum CategoryBit : uint8_t { kRuntime = 1, kSync = 2 };

struct Columns {
  Columns(const StoreReader& store, size_t rank)
      : ts(store.column(Table::kSlices, "ts", rank)),
        dur(store.column(Table::kSlices, "dur", rank)),
        name(store.column(Table::kSlices, "name", rank)),
        category(store.column(Table::kSlices, "cat", rank)),
        correlation(store.column(Table::kSlices, "correlation", rank)),
        flags(store.column(Table::kSlices, "flags", rank)),
        operators(store.column(Table::kOps, "id", rank)) {}
  const ColumnView& ts;
  const ColumnView& dur;
  const ColumnView& name;
  const ColumnView& category;
  const ColumnView& correlation;
  const ColumnView& flags;
  const ColumnView& operators;  // their rows, rising
};

// First row of a lane that starts at or after a moment.
uint64_t first_row_at(const ColumnView& starts, const Lane& lane, int64_t ns) {
  uint64_t low = lane.first_row;
  uint64_t high = lane.first_row + lane.rows;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (starts.at(middle) < ns) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// First row of a typed table whose slice is not before `row`; slices rise.
uint64_t first_at_row(const ColumnView& slices, uint64_t row) {
  uint64_t low = 0;
  uint64_t high = slices.rows();
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (static_cast<uint64_t>(slices.at(middle)) < row) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// A number in the args of a slice; they are short, and a parser would not be faster.
std::optional<int64_t> number_in(std::string_view json, std::string_view key) {
  const std::string quoted = "\"" + std::string(key) + "\":";
  const size_t found = json.find(quoted);
  if (found == std::string_view::npos) return std::nullopt;
  size_t at = found + quoted.size();
  while (at < json.size() && json[at] == ' ') ++at;
  int64_t value = 0;
  const auto end = std::from_chars(json.data() + at, json.data() + json.size(), value);
  return end.ec == std::errc() ? std::optional(value) : std::nullopt;
}

class Loader {
 public:
  Loader(const StoreReader& store, size_t rank, const StepRow& step)
      : store_(store), rank_(rank), step_(step), columns_(store, rank) {
    names_ = classify_strings(store, is_step_mark_name, is_data_fetch_name, is_blocking_call_name,
                              [](std::string_view name) { return name == "Stream Wait Event"; });
    categories_ = classify_strings(store, is_runtime_category,
                                   [](std::string_view word) { return word == "cuda_sync"; });
    events_.start_ns = step.work_start_ns;
    events_.end_ns = step.work_end_ns();
    events_.host_start_ns = std::min(step.start_ns, step.work_start_ns);
    events_.host_end_ns = step.end_ns();
  }

  StepEvents take() {
    prepare_work();
    for (const Lane& lane : store_.lanes(rank_)) {
      if (lane.rows == 0) continue;
      const std::string_view kind = text_at(store_, Table::kTracks, "kind", rank_, lane.track);
      if (kind == "host") add_host_lane(lane);
      if (kind == "device") add_waits(lane);
      if (kind != "host") add_work(lane);
    }
    for (HostThread& thread : events_.threads) finish(thread);
    std::stable_sort(events_.work.begin(), events_.work.end(),
                     [](const DeviceWork& a, const DeviceWork& b) {
                       return a.track != b.track ? a.track < b.track : a.start_ns < b.start_ns;
                     });
    choose_main_thread();
    return std::move(events_);
  }

 private:
  // Ascend's recordings have the runtime's calls of a thread in a process of their own.
  HostThread& thread_of(uint32_t track) {
    const std::string_view id = text_at(store_, Table::kTracks, "tid", rank_, track);
    thread_is_runtime_ = text_at(store_, Table::kTracks, "process", rank_, track) == "CANN";
    for (size_t i = 0; i < events_.threads.size(); ++i) {
      const bool same_thread = thread_ids_[i].id == id && !id.empty() &&
                               (thread_is_runtime_ || thread_ids_[i].is_runtime);
      if (events_.threads[i].track != track && !same_thread) continue;
      // The operators' track names the thread.
      if (thread_ids_[i].is_runtime && !thread_is_runtime_) {
        events_.threads[i].track = track;
        thread_ids_[i].is_runtime = false;
      }
      return events_.threads[i];
    }
    HostThread thread;
    thread.track = track;
    events_.threads.push_back(std::move(thread));
    thread_ids_.push_back({id, thread_is_runtime_});
    return events_.threads.back();
  }

  void add_host_lane(const Lane& lane) {
    HostThread& thread = thread_of(lane.track);
    uint64_t row = first_row_at(columns_.ts, lane, events_.host_start_ns);
    if (row > lane.first_row) --row;  // may reach into the step
    const uint64_t end = lane.first_row + lane.rows;
    uint64_t op = first_at_row(columns_.operators, row);
    for (; row < end; ++row) {
      while (op < columns_.operators.rows() &&
             static_cast<uint64_t>(columns_.operators.at(op)) < row) {
        ++op;
      }
      const bool is_operator =
          op < columns_.operators.rows() && static_cast<uint64_t>(columns_.operators.at(op)) == row;
      const int64_t start_ns = columns_.ts.at(row);
      if (start_ns >= events_.end_ns) break;
      const int64_t dur_ns = columns_.dur.at(row);
      if (dur_ns == kNull || start_ns + dur_ns <= events_.host_start_ns) continue;
      if (columns_.flags.at(row) & (kFlagImpossible | kFlagInstant)) continue;
      const uint8_t name = class_of(names_, columns_.name.at(row));
      const uint8_t category = class_of(categories_, columns_.category.at(row));
      if (name & kStepMark) continue;
      const bool is_call = thread_is_runtime_ || (category & kRuntime);
      const bool fetches = (name & kFetch) != 0;
      if (!is_call && !fetches && !is_operator) continue;
      const auto slice = static_cast<uint32_t>(row);
      thread.labels.push_back({start_ns, start_ns + dur_ns, slice, fetches});
      if (!is_call) continue;
      thread.calls.push_back({start_ns, start_ns + dur_ns, slice, columns_.name.at(row),
                              columns_.correlation.at(row), (name & kBlocks) != 0});
    }
  }

  // Keeps the outermost labels.
  static void finish(HostThread& thread) {
    std::sort(thread.labels.begin(), thread.labels.end(),
              [](const HostLabel& a, const HostLabel& b) {
                return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
              });
    std::vector<HostLabel> outermost;
    for (const HostLabel& label : thread.labels) {
      if (outermost.empty() || label.start_ns >= outermost.back().end_ns) {
        outermost.push_back(label);
      } else if (label.end_ns > outermost.back().end_ns) {  // ends later by a rounding
        outermost.back().end_ns = label.end_ns;
      }
    }
    thread.labels = std::move(outermost);
    std::sort(thread.calls.begin(), thread.calls.end(),
              [](const HostCall& a, const HostCall& b) { return a.start_ns < b.start_ns; });
  }

  void add_waits(const Lane& lane) {
    for (uint64_t row = first_row_at(columns_.ts, lane, events_.host_start_ns);
         row < lane.first_row + lane.rows && columns_.ts.at(row) < events_.end_ns; ++row) {
      if (!(class_of(names_, columns_.name.at(row)) & kStreamWait)) continue;
      if (!(class_of(categories_, columns_.category.at(row)) & kSync)) continue;
      const auto args = store_.args(rank_, row, &args_cache_);
      if (!args.ok()) continue;  // the input is gone: the path does without
      StreamWait wait;
      wait.waiting_stream = number_in(*args, "stream").value_or(kNull);
      wait.source_stream = number_in(*args, "wait_on_stream").value_or(kNull);
      wait.wait_correlation = columns_.correlation.at(row);
      wait.record_correlation =
          number_in(*args, "wait_on_cuda_event_record_corr_id").value_or(kNull);
      if (wait.source_stream >= 0 && wait.record_correlation >= 0) events_.waits.push_back(wait);
    }
  }

  void prepare_work() {
    words_ = classify_strings(
        store_, [](std::string_view word) { return word == "communication"; },
        [](std::string_view word) { return word == "memory"; });
  }

  // Device work of a lane: its kernels are consecutive rows of their table too.
  void add_work(const Lane& lane) {
    const ColumnView& ids = store_.column(Table::kKernels, "id", rank_);
    const ColumnView& classes = store_.column(Table::kKernels, "class", rank_);
    const ColumnView& launches = store_.column(Table::kKernels, "launch", rank_);
    const ColumnView& delays = store_.column(Table::kKernels, "queue_delay", rank_);
    const ColumnView& streams = store_.column(Table::kKernels, "stream", rank_);
    const ColumnView& types = store_.column(Table::kKernels, "op_type", rank_);
    uint64_t row = first_row_at(columns_.ts, lane, events_.host_start_ns);
    if (row > lane.first_row) --row;  // may reach into the step
    for (uint64_t kernel = first_at_row(ids, row); kernel < ids.rows(); ++kernel) {
      const auto slice = static_cast<uint64_t>(ids.at(kernel));
      if (slice >= lane.first_row + lane.rows || slice < lane.first_row) break;
      DeviceWork work;
      work.start_ns = columns_.ts.at(slice);
      if (work.start_ns >= events_.end_ns) break;
      const int64_t dur_ns = columns_.dur.at(slice);
      if (dur_ns == kNull || dur_ns < 0 || (columns_.flags.at(slice) & kFlagImpossible)) continue;
      work.end_ns = work.start_ns + dur_ns;
      if (work.end_ns <= events_.host_start_ns) continue;
      const int64_t delay_ns = delays.at(kernel);
      if (delay_ns != kNull) work.launch_ns = work.start_ns - delay_ns;
      // Work of the next step that another stream has begun already.
      if (work.launch_ns != kNull && work.launch_ns >= events_.host_end_ns) continue;
      if (work.end_ns > events_.end_ns) continue;
      work.slice = static_cast<uint32_t>(slice);
      const int64_t launch = launches.at(kernel);
      if (launch != kNull) work.launch = static_cast<uint32_t>(launch);
      work.track = lane.track;
      work.name = columns_.name.at(slice);
      work.op_type = types.at(kernel);
      work.stream = streams.at(kernel);
      const uint8_t which = class_of(words_, classes.at(kernel));
      work.work_class = (which & 1u) != 0   ? DeviceWork::Class::kCommunication
                        : (which & 2u) != 0 ? DeviceWork::Class::kMemory
                                            : DeviceWork::Class::kCompute;
      (work.end_ns <= events_.start_ns ? events_.earlier_work : events_.work).push_back(work);
    }
  }

  // Where the step's mark is, else the thread with most operators.
  void choose_main_thread() {
    std::erase_if(events_.threads, [](const HostThread& thread) { return thread.labels.empty(); });
    int64_t wanted = kNull;
    for (uint64_t row = 0; row < store_.rows(Table::kSteps, rank_); ++row) {
      if (number_at(store_, Table::kSteps, "ts", rank_, row) != step_.start_ns) continue;
      const int64_t slice = number_at(store_, Table::kSteps, "slice", rank_, row);
      if (slice == kNull || static_cast<uint64_t>(slice) >= columns_.ts.rows()) continue;
      wanted = number_at(store_, Table::kSlices, "track", rank_, static_cast<uint64_t>(slice));
      break;
    }
    size_t most = 0;
    for (uint32_t i = 0; i < events_.threads.size(); ++i) {
      const HostThread& thread = events_.threads[i];
      if (static_cast<int64_t>(thread.track) == wanted) {
        events_.main_thread = i;
        return;
      }
      if (thread.labels.size() <= most) continue;
      most = thread.labels.size();
      events_.main_thread = i;
    }
  }

  const StoreReader& store_;
  size_t rank_;
  const StepRow& step_;
  Columns columns_;
  std::vector<uint8_t> names_;
  std::vector<uint8_t> categories_;
  std::vector<uint8_t> words_;  // of kernels.class
  struct ThreadId {
    std::string_view id;
    bool is_runtime;
  };
  std::vector<ThreadId> thread_ids_;  // of events_.threads
  bool thread_is_runtime_ = false;
  ArgsCache args_cache_;
  StepEvents events_;
};

}  // namespace

StepEvents load_step_events(const StoreReader& store, size_t rank, const StepRow& step) {
  return Loader(store, rank, step).take();
}

}  // namespace stepscope
