#include "importers/mindinsight/hccl_trace.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>

#include <nlohmann/json.hpp>

#include "base/decimal.h"
#include "base/file.h"
#include "importers/common/ascend_words.h"
#include "importers/common/table_builder.h"
#include "importers/common/text_file.h"
#include "json/json_tree.h"

namespace stepscope::mindinsight {
namespace {

using nlohmann::json;

constexpr uint64_t kMostBytes = 256ull << 20;
constexpr size_t kMostFiles = 200'000;
constexpr int64_t kSelf = 0xFFFFFFFF;  // the rank itself, as source or destination

struct Event {
  std::map<std::string, std::string> fields;  // numbers as they are written, text without quotes
  json args = json::object();
};

// Collects the events of {"device id": .., "traceEvents": [{.., "args": {..}}, ..]}. Deeper values
// are skipped; the parser underneath does not recurse.
class EventCollector final : public json::json_sax_t {
 public:
  std::string device;
  std::vector<Event> events;
  size_t failed_at = 0;
  std::string failure;

  bool null() override { return scalar(json(), ""); }
  bool boolean(bool value) override { return scalar(value, value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override {
    return scalar(value, std::to_string(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return scalar(value, std::to_string(value));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    return scalar(value, text);
  }
  bool string(string_t& value) override { return scalar(value, value); }
  bool binary(binary_t&) override { return true; }
  bool key(string_t& name) override {
    key_ = name;
    return true;
  }
  bool start_object(size_t) override {
    ++depth_;
    if (in_events_ && depth_ == 3) events.emplace_back();
    if (in_events_ && depth_ == 4) in_args_ = key_ == "args";
    return true;
  }
  bool end_object() override {
    if (depth_ == 4) in_args_ = false;
    --depth_;
    return true;
  }
  bool start_array(size_t) override {
    ++depth_;
    if (depth_ == 2) in_events_ = key_ == "traceEvents";
    return true;
  }
  bool end_array() override {
    if (depth_ == 2) in_events_ = false;
    --depth_;
    return true;
  }
  bool parse_error(size_t position, const std::string&, const json::exception& error) override {
    failed_at = position;
    failure = error.what();
    return false;
  }

 private:
  bool scalar(json value, const std::string& text) {
    if (depth_ == 1 && key_ == "device id") device = text;
    if (!in_events_ || events.empty()) return true;
    if (depth_ == 3 && !text.empty()) events.back().fields[key_] = text;
    if (depth_ == 4 && in_args_) events.back().args[key_] = std::move(value);
    return true;
  }

  int depth_ = 0;
  bool in_events_ = false;
  bool in_args_ = false;
  std::string key_;
};

// Bytes as a number, or as text in hexadecimal.
int64_t size_of(const json& value) {
  const std::string_view text = json_text(value);
  if (!text.starts_with("0x")) return json_integer(value);
  int64_t bytes = 0;
  const auto result = std::from_chars(text.data() + 2, text.data() + text.size(), bytes, 16);
  return result.ec == std::errc() && result.ptr == text.data() + text.size() ? bytes : kNull;
}

std::string lower(std::string_view text) {
  std::string low(text);
  std::ranges::transform(low, low.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return low;
}

// "stream_24_0_AllReduce-op3143" and ".../AllReduce-op3" -> "allreduce"
std::string collective_in(std::string_view reduce_name) {
  reduce_name = reduce_name.substr(reduce_name.rfind('/') + 1);
  reduce_name = reduce_name.substr(0, reduce_name.find('-'));
  return lower(reduce_name.substr(reduce_name.rfind('_') + 1));
}

std::vector<std::string> names_in(const std::string& folder, bool folders) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code ignored;
    const auto status = at->symlink_status(ignored);
    const bool wanted =
        folders ? std::filesystem::is_directory(status) : std::filesystem::is_regular_file(status);
    if (wanted) names.push_back(at->path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

class HcclReader {
 public:
  HcclReader(const HcclScope& scope, RankBuilder& rank) : scope_(scope), rank_(rank) {
    for (const StepTraceRow& row : scope.steps) {
      for (const ReduceEvent& event : row.reduces) {
        reduces_[collective_in(event.name)].push_back(&event);
      }
    }
    for (auto& [word, events] : reduces_) std::ranges::stable_sort(events, {}, &ReduceEvent::start);
  }

  int64_t read_operation(const std::string& folder) {
    std::vector<std::pair<int64_t, std::string>> files;
    for (const std::string& name : names_in(folder, false)) {
      const std::string path = folder + "/" + name;
      const auto iteration = number_in_name(name, "iter", ".trace");
      if (iteration) {
        files.emplace_back(*iteration, path);
      } else {
        rank_.quality.add(QualityCode::kIgnoredFile, path);
      }
    }
    std::ranges::sort(files);
    int64_t transfers = 0;
    for (const auto& [iteration, path] : files) {
      if (++files_ > kMostFiles) {
        rank_.quality.add(QualityCode::kLimitReached, path + ": too many files of transfers");
        break;
      }
      transfers += read_file_of(path, std::string(file_name_of(folder)));
    }
    return transfers;
  }

 private:
  int64_t read_file_of(const std::string& path, const std::string& operation) {
    const auto text = read_file(path, kMostBytes);
    if (!text) {
      add_unreadable(rank_, path, text.error());
      return 0;
    }
    EventCollector collector;
    const bool complete = json::sax_parse(*text, &collector);
    const auto device = parse_integer(collector.device);
    // Names hold the rank, files the device; with one device in the folder there is no question.
    if (device && scope_.devices.size() > 1 && *device != scope_.device) {
      if (!scope_.devices.contains(*device)) {
        rank_.quality.add(QualityCode::kIgnoredFile,
                          path + ": of device " + collector.device + ", which has no other files");
      }
      return 0;
    }
    if (!complete && collector.events.empty()) {
      rank_.quality.add(QualityCode::kUnreadableFile, path + ": " + collector.failure);
      return 0;
    }
    if (!complete) {
      rank_.quality.add(QualityCode::kTruncatedInput,
                        path + " byte " + std::to_string(collector.failed_at));
      collector.events.pop_back();  // the one that was being read
    }
    const int64_t transfers = add_events(collector.events, path, operation);
    add_source(rank_, path, "hccl_trace", transfers);
    return transfers;
  }

  int64_t add_events(const std::vector<Event>& events, const std::string& path,
                     const std::string& operation) {
    int64_t first_ns = INT64_MAX;
    int64_t last_ns = INT64_MIN;
    std::vector<std::pair<TrackId, SliceRecord>> added;
    for (const Event& event : events) {
      const auto field = [&](const char* name) {
        const auto found = event.fields.find(name);
        return found == event.fields.end() ? std::string_view() : std::string_view(found->second);
      };
      if (const std::string_view phase = field("ph"); !phase.empty() && phase != "X") {
        rank_.quality.add(QualityCode::kUnknownPhase, path + ": " + std::string(phase));
        continue;
      }
      const auto ts_ns = parse_us_as_ns(field("ts"));
      const auto dur_ns = parse_us_as_ns(field("dur"));
      if (!ts_ns || !dur_ns || !is_usable_time(*ts_ns) || !is_usable_time(*dur_ns)) {
        rank_.quality.add(QualityCode::kUnparsableEvent, path + ": an event without a time");
        continue;
      }
      SliceRecord slice;
      slice.ts_ns = *ts_ns;
      slice.dur_ns = *dur_ns;
      const std::string_view task = json_text(json_member(event.args, "task type"));
      slice.name = rank_.strings.intern(field("name").empty() ? task : field("name"));
      slice.cat = rank_.strings.intern(task);
      slice.kind = SliceKind::kCommunication;
      slice.detail = rank_.add_communication(transfer_of(event, task, slice));
      slice.args = rank_.add_args(write_json(event.args));
      added.emplace_back(lane("Thread " + std::string(field("tid"))), slice);
      first_ns = std::min(first_ns, slice.ts_ns);
      last_ns = std::max(last_ns, bounded_sum(slice.ts_ns, std::max<int64_t>(0, slice.dur_ns)));
    }
    if (added.empty()) return 0;
    const StringId whole = whole_of(operation, first_ns, last_ns);
    for (auto& [track, slice] : added) {
      rank_.communication(slice.detail).of_name = whole;
      rank_.add_slice(track, slice);
    }
    return static_cast<int64_t>(added.size());
  }

  CommunicationDetail transfer_of(const Event& event, std::string_view task,
                                  const SliceRecord& slice) {
    const auto text = [&](const char* name) {
      const std::string_view word = json_text(json_member(event.args, name));
      return word.empty() ? kNoString : rank_.strings.intern(word);
    };
    CommunicationDetail detail;
    detail.level = rank_.strings.intern("task");
    detail.op = slice.cat;
    detail.transport = text("transport type");
    detail.bytes = size_of(json_member(event.args, "size"));
    detail.src_rank = json_integer(json_member(event.args, "src rank"));
    detail.dst_rank = json_integer(json_member(event.args, "dst rank"));
    if (detail.src_rank == kSelf) detail.src_rank = detail.dst_rank;
    if (detail.dst_rank == kSelf) detail.dst_rank = detail.src_rank;
    if (detail.src_rank == kSelf) detail.src_rank = detail.dst_rank = kNull;
    const json& bandwidth = json_member(event.args, "bandwidth");
    if (bandwidth.is_number()) detail.bandwidth = bandwidth.get<double>();  // GB/s
    if (task == "Notify Wait") {
      detail.wait_ns = slice.dur_ns;
    } else if (task != "Notify Record" && detail.src_rank != detail.dst_rank) {
      detail.transit_ns = slice.dur_ns;
    }
    return detail;
  }

  // The step trace's name for the operation at that time; else a slice is added under its own.
  StringId whole_of(const std::string& operation, int64_t first_ns, int64_t last_ns) {
    const std::string word = operation.substr(0, operation.find('_'));
    const auto candidates = reduces_.find(lower(word));
    if (candidates != reduces_.end()) {
      const int64_t first = first_ns / kNsPerCount;
      const auto& events = candidates->second;
      auto event = std::ranges::upper_bound(events, first, {}, &ReduceEvent::start);
      // Operations of several streams may overlap, but only few at a time.
      for (int back = 0; back < 8 && event != events.begin(); ++back) {
        --event;
        if (first < (*event)->end) return rank_.strings.intern((*event)->name);
      }
    }
    CommunicationDetail detail;
    detail.level = rank_.strings.intern("op");
    detail.op = rank_.strings.intern(word);
    SliceRecord slice;
    slice.ts_ns = first_ns;
    slice.dur_ns = last_ns - first_ns;
    slice.name = rank_.strings.intern(operation);
    slice.cat = rank_.strings.intern("communication");
    slice.kind = SliceKind::kCommunication;
    slice.detail = rank_.add_communication(detail);
    rank_.add_slice(lane("Operations"), slice);
    return slice.name;
  }

  TrackId lane(const std::string& thread) {
    const auto [found, is_new] = lanes_.try_emplace(thread, TrackId{0});
    if (is_new) {
      TrackInfo info;
      info.process = rank_.strings.intern("HCCL");
      info.thread = rank_.strings.intern(thread);
      info.kind = TrackKind::kCommunication;
      info.device = scope_.device;
      found->second = rank_.add_track(info);
    }
    return found->second;
  }

  const HcclScope& scope_;
  RankBuilder& rank_;
  std::map<std::string, std::vector<const ReduceEvent*>> reduces_;  // by collective
  std::map<std::string, TrackId> lanes_;
  size_t files_ = 0;
};

bool is_hccl_name(std::string_view name) {
  return name == "hccl_info" || number_in_name(name, "hccl_info_", "");
}

}  // namespace

std::vector<std::string> find_hccl_folders(const std::string& folder) {
  std::vector<std::string> found;
  for (const std::string& name : names_in(folder, true)) {
    if (is_hccl_name(name)) found.push_back(folder + "/" + name);
  }
  return found;
}

bool is_in_hccl_folder(std::string_view path, std::string_view folder) {
  if (!path.starts_with(folder) || path.size() <= folder.size() + 1 || path[folder.size()] != '/') {
    return false;
  }
  path.remove_prefix(folder.size() + 1);
  const size_t slash = path.find('/');
  return slash != std::string_view::npos && is_hccl_name(path.substr(0, slash));
}

int64_t read_hccl_traces(const std::string& profiler_folder, const HcclScope& scope,
                         RankBuilder& rank) {
  HcclReader reader(scope, rank);
  int64_t transfers = 0;
  for (const std::string& folder : find_hccl_folders(profiler_folder)) {
    // A folder of one device's own.
    const auto device = number_in_name(file_name_of(folder), "hccl_info_", "");
    if (device && scope.devices.contains(*device) && *device != scope.device) continue;
    for (const std::string& operation : names_in(folder, true)) {
      transfers += reader.read_operation(folder + "/" + operation);
    }
    for (const std::string& name : names_in(folder, false)) {
      rank.quality.add(QualityCode::kIgnoredFile, folder + "/" + name);
    }
  }
  return transfers;
}

}  // namespace stepscope::mindinsight
