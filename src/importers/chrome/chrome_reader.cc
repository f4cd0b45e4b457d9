#include "importers/chrome/chrome_reader.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <zstd.h>

#include "importers/chrome/chunk_feed.h"
#include "importers/chrome/event_scanner.h"
#include "importers/chrome/json_text.h"
#include "importers/chrome/trace_assembler.h"
#include "packed/text_source.h"

namespace stepscope {
namespace {

constexpr size_t kLongestTail = 16 << 20;  // of properties behind the events
constexpr size_t kPiecesAhead =
    6;  // a fast worker waits rather than run further ahead of a slow one
constexpr int kMirrorLevel = 1;

struct Job {
  TextPiece piece;
  StagedChunk staged;
  std::string mirror;  // the piece, compressed, when the file cannot be read anywhere
  size_t worker = 0;
  // What the worker met for the first time in this piece. The views stay valid: a pool never moves
  // its text.
  std::vector<std::string_view> new_strings;
  std::vector<LocalTrack> new_tracks;
};

// Everything the workers share, under one lock. Reading the source happens under it too: for plain
// files that is a copy from the page cache, for packed ones it makes inflating the only serial
// part.
class ParallelRead {
 public:
  ParallelRead(TextSource& source, ChunkFeed& feed, const MapperOptions& options, unsigned workers,
               const ImportContext& context, RankBuilder& rank)
      : source_(source),
        feed_(feed),
        context_(context),
        rank_(rank),
        assembler_(rank, workers + 1) {
    for (unsigned i = 0; i < workers + 1; ++i) workers_.emplace_back(options);
    // Args of the others are read from the input itself.
    if (!source.packed() || source.fork() != nullptr) return;
    mirror_ = rank.mirrors.size() + 1;
    rank.mirrors.push_back({options.source, {}});
  }

  Status run() {
    std::vector<std::thread> helpers;
    for (size_t number = 1; number + 1 < workers_.size(); ++number) {
      helpers.emplace_back([this, number] { work(number); });
    }
    work(0);
    for (auto& helper : helpers) helper.join();
    if (!status_.ok()) return status_;
    if (!unread_.empty())
      rank_.quality.add(QualityCode::kTruncatedInput, "the last event has no end");
    assembler_.finish();
    return {};
  }

  bool array_ended() const { return array_ended_; }
  const std::string& tail() const { return tail_; }
  uint64_t events() const { return assembler_.events(); }

 private:
  struct Worker {
    explicit Worker(const MapperOptions& options) : scanner(options) {}

    void scan(Job& job) {
      scanner.scan(job.piece.text.data(), job.piece.size, job.piece.offset, job.piece.is_last,
                   job.staged);
      job.new_strings.clear();
      const StringPool& strings = scanner.mapper.strings;
      while (known_strings < strings.size())
        job.new_strings.push_back(strings.view(known_strings++));
      const auto& tracks = scanner.mapper.tracks;
      job.new_tracks.assign(tracks.begin() + static_cast<std::ptrdiff_t>(known_tracks),
                            tracks.end());
      known_tracks = tracks.size();
    }

    EventScanner scanner;
    StringId known_strings = 0;
    size_t known_tracks = 0;
  };

  void work(size_t number) {
    while (std::unique_ptr<Job> job = take_job()) {
      job->worker = number;
      workers_[number].scan(*job);
      if (mirror_ != 0) compress(*job);
      hand_in(std::move(job));
    }
  }

  std::unique_ptr<Job> take_job() {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [&] { return stopped_ || taken_ < next_in_order_ + kPiecesAhead; });
    if (context_.progress.cancelled()) stop(Error{ErrorCode::kCancelled, "cancelled", "", "", ""});
    if (stopped_) return nullptr;
    auto job = spare_.empty() ? std::make_unique<Job>() : std::move(spare_.back());
    if (!spare_.empty()) spare_.pop_back();
    auto more = feed_.next(job->piece);
    context_.progress.add_done_bytes(source_.file_position() - reported_bytes_);
    reported_bytes_ = source_.file_position();
    if (!more) stop(std::move(more.error()));
    if (!more || !*more) {
      stopped_ = true;
      ready_.notify_all();
      return nullptr;
    }
    ++taken_;
    return job;
  }

  void hand_in(std::unique_ptr<Job> job) {
    const std::lock_guard lock(mutex_);
    const uint64_t number = job->piece.number;
    waiting_[number] = std::move(job);
    for (auto next = waiting_.find(next_in_order_); next != waiting_.end();
         next = waiting_.find(next_in_order_)) {
      std::unique_ptr<Job> current = std::move(next->second);
      waiting_.erase(next);
      ++next_in_order_;
      take_over(*current);
      current->staged.clear();
      spare_.push_back(std::move(current));
    }
    ready_.notify_all();
  }

  void take_over(Job& job) {
    if (mirror_ != 0) {
      rank_.mirrors[mirror_ - 1].frames.push_back(
          {job.piece.offset, static_cast<uint32_t>(job.piece.size), std::move(job.mirror)});
      job.mirror.clear();
    }
    assembler_.learn(job.worker, job.new_strings, job.new_tracks);
    if (array_ended_) {
      keep_tail({job.piece.text.data(), job.piece.size});
      return;
    }
    if (!unread_.empty()) join(job);
    assembler_.take_over(job.worker, job.staged);
    const std::string_view text(job.piece.text.data(), job.piece.size);
    if (job.staged.end == ChunkEnd::kArrayEnd) {
      array_ended_ = true;
      keep_tail(text.substr(job.staged.used_bytes + 1));
    } else if (job.staged.end == ChunkEnd::kIncomplete) {
      unread_ = text.substr(job.staged.used_bytes);
    }
  }

  // The piece before ended inside an event: this one is read again with what was left over in
  // front, by the worker that is kept for this (the others may be busy).
  void join(Job& job) {
    PodVector<char> text;
    text.append(unread_.data(), unread_.size());
    text.append(job.piece.text.data(), job.piece.text.size());  // padding included
    job.piece.text.swap(text);
    job.piece.size += unread_.size();
    job.piece.offset -= unread_.size();
    unread_.clear();
    job.staged.clear();
    job.worker = workers_.size() - 1;
    workers_[job.worker].scan(job);
    assembler_.learn(job.worker, job.new_strings, job.new_tracks);
  }

  void keep_tail(std::string_view text) {
    if (tail_.size() + text.size() <= kLongestTail)
      tail_ += text;
    else if (!tail_too_long_)
      rank_.quality.add(QualityCode::kLimitReached, "properties behind the events over 16 MiB");
    tail_too_long_ = tail_.size() + text.size() > kLongestTail;
  }

  static void compress(Job& job) {
    job.mirror.resize(ZSTD_compressBound(job.piece.size));
    const size_t bytes = ZSTD_compress(job.mirror.data(), job.mirror.size(), job.piece.text.data(),
                                       job.piece.size, kMirrorLevel);
    job.mirror.resize(ZSTD_isError(bytes) ? 0 : bytes);
    job.mirror.shrink_to_fit();
  }

  void stop(Error error) {
    stopped_ = true;
    if (status_.ok()) status_ = std::move(error);
    ready_.notify_all();
  }

  TextSource& source_;
  ChunkFeed& feed_;
  const ImportContext& context_;
  RankBuilder& rank_;
  TraceAssembler assembler_;
  std::deque<Worker> workers_;  // the last one reads joined pieces
  size_t mirror_ = 0;           // position + 1 in rank_.mirrors; 0: none

  std::mutex mutex_;
  std::condition_variable ready_;
  std::map<uint64_t, std::unique_ptr<Job>> waiting_;
  std::vector<std::unique_ptr<Job>> spare_;
  uint64_t reported_bytes_ = 0;
  uint64_t taken_ = 0;
  uint64_t next_in_order_ = 0;
  bool stopped_ = false;
  bool array_ended_ = false;
  bool tail_too_long_ = false;
  std::string unread_;
  std::string tail_;
  Status status_;
};

// What stands at the top level around the events, as one object.
std::string join_properties(std::string head, std::string_view tail) {
  if (head.empty()) return {};
  while (!head.empty() && (head.back() == ',' || static_cast<unsigned char>(head.back()) <= ' '))
    head.pop_back();
  if (head.empty()) head = "{";
  size_t at = 0;
  while (at < tail.size() && (tail[at] == ',' || static_cast<unsigned char>(tail[at]) <= ' ')) ++at;
  const std::string_view rest = tail.substr(at);
  if (head.back() != '{' && !rest.empty() && rest[0] != '}') head += ',';
  head += rest;
  while (!head.empty() && static_cast<unsigned char>(head.back()) <= ' ') head.pop_back();
  if (head.back() == ',') head.pop_back();
  if (head.back() != '}' || rest.empty()) head += '}';
  return head;
}

}  // namespace

Result<ChromeTrace> read_chrome_trace(const std::string& path, const ChromeOptions& options,
                                      const ImportContext& context, RankBuilder& rank) {
  auto source = TextSource::open(path);
  if (!source) return std::move(source.error());
  ChunkFeed feed(**source, options.piece_bytes);
  auto head = feed.read_head();
  if (!head) return std::move(head.error());
  rank.sources.push_back({path, (*source)->file().stamp(), "events", 0});
  const size_t own_source = rank.sources.size() - 1;

  MapperOptions mapper;
  mapper.ascend_args = options.ascend_args;
  mapper.source = static_cast<uint32_t>(rank.sources.size());
  ParallelRead read(**source, feed, mapper, std::max(1u, context.threads), context, rank);
  if (auto status = read.run(); !status) return std::move(status.error());
  if (auto status = (*source)->file().check_unchanged(); !status) return std::move(status.error());

  ChromeTrace trace;
  trace.is_array = feed.is_array();
  trace.truncated = !read.array_ended();
  trace.properties = join_properties(std::move(*head), read.tail());
  trace.text_bytes = feed.text_bytes();
  trace.events = read.events();
  rank.sources[own_source].rows = static_cast<int64_t>(trace.events);
  if (trace.truncated && rank.quality.count(QualityCode::kTruncatedInput) == 0) {
    rank.quality.add(
        QualityCode::kTruncatedInput,
        path + (trace.is_array ? ", the list is not closed" : ", ends inside the list of events"));
  }
  std::string flaw = (*source)->flaw();
  if ((*source)->truncated() && !trace.truncated) flaw = "it ends early, behind the last event";
  if (!flaw.empty()) rank.quality.add(QualityCode::kDamagedPacking, path + ": " + flaw);
  return trace;
}

void mark_cut_step(RankBuilder& rank) {
  const auto last =
      std::max_element(rank.steps.begin(), rank.steps.end(),
                       [](const StepRecord& a, const StepRecord& b) { return a.ts_ns < b.ts_ns; });
  if (last == rank.steps.end() || !last->complete) return;
  last->complete = false;
  rank.quality.add(QualityCode::kWindowCut,
                   "step " + std::to_string(last->step) + ", the input ends early");
}

void shift_times(RankBuilder& rank, int64_t offset_ns) {
  if (offset_ns == 0) return;
  const auto shift = [&](int64_t& ts_ns) {
    int64_t moved;
    if (!__builtin_add_overflow(ts_ns, offset_ns, &moved) && moved >= -kLatestNs &&
        moved <= kLatestNs) {
      ts_ns = moved;
    }
  };
  for (TrackId track = 0; track < rank.track_count(); ++track) {
    for (SliceRecord& slice : rank.slices(track)) shift(slice.ts_ns);
  }
  for (FlowRecord& flow : rank.flows) shift(flow.ts_ns);
  for (CounterRecord& counter : rank.counters) shift(counter.ts_ns);
  for (MemoryRecord& memory : rank.memory) shift(memory.ts_ns);
  for (QueueRecord& queue : rank.queues) shift(queue.ts_ns);
  for (StepRecord& step : rank.steps) shift(step.ts_ns);
}

bool looks_like_chrome_trace(std::string_view head) {
  size_t key = 0;
  size_t begin = 0;
  switch (find_events(head, key, begin)) {
    case HeadState::kObject:
      return true;
    case HeadState::kArray: {
      while (begin < head.size() && static_cast<unsigned char>(head[begin]) <= ' ') ++begin;
      return begin < head.size() && head[begin] == '{' && looks_like_event(head, begin);
    }
    case HeadState::kNeedMore:
      // The events begin later than the head that was looked at: known properties are enough.
      return head.find("\"schemaVersion\"") != std::string_view::npos ||
             head.find("\"deviceProperties\"") != std::string_view::npos ||
             head.find("\"displayTimeUnit\"") != std::string_view::npos;
    case HeadState::kNotThere:
      return false;
  }
  return false;
}

}  // namespace stepscope
