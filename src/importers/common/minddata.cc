#include "importers/common/minddata.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "base/decimal.h"
#include "importers/common/checked_math.h"
#include "importers/common/table_builder.h"
#include "importers/common/text_file.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

using nlohmann::json;

constexpr int64_t kNsPerMs = 1'000'000;

class Reader {
 public:
  Reader(std::optional<int64_t> offset_ns, MinddataCpu cpu, RankBuilder& rank)
      : offset_ns_(offset_ns.value_or(0)), cpu_(cpu), rank_(rank) {}

  void read(const MinddataFiles& files) {
    pipeline_ = nullptr;
    names_.clear();
    sample_ns_.clear();
    interval_ms_ = kNull;
    constexpr std::string_view kIterator = "dataset_iterator";
    constexpr std::string_view kDeviceQueue = "device_queue";
    if (!files.pipeline.empty()) learn_operators(files.pipeline);
    if (!files.cpu.empty()) read_cpu(files.cpu);
    if (!files.pipeline.empty()) {
      const std::string_view loop = !files.iterator.empty()       ? kIterator
                                    : !files.device_queue.empty() ? kDeviceQueue
                                                                  : std::string_view();
      read_pipeline(files.pipeline, loop);
    }
    if (!files.iterator.empty()) read_batches(files.iterator, kIterator);
    if (!files.device_queue.empty()) read_batches(files.device_queue, kDeviceQueue);
    is_first_ = is_first_ && !files.any();
  }

  int64_t records() const { return records_; }

 private:
  // First of all: the other files name operators by their numbers.
  void learn_operators(const std::string& path) {
    auto tree = read_json_file(path);
    if (!tree) return add_unreadable(rank_, path, tree.error());
    pipeline_ = std::move(*tree);
    const json& operators = json_member(pipeline_, "op_info");
    if (!operators.is_array()) return;
    std::string shape;
    int64_t most = -1;
    for (const json& op : operators) {
      const int64_t id = json_integer(json_member(op, "op_id"));
      most = std::max(most, id);
      shape += std::to_string(id) + std::string(json_text(json_member(op, "op_type"))) +
               write_json(json_member(op, "children")) + ";";
    }
    const auto [known, is_new] = first_ids_.try_emplace(shape, next_id_);
    first_id_ = known->second;
    is_new_ = is_new;
    if (is_new) next_id_ = plus_or_null(next_id_, plus_or_null(most, 1));
    for (const json& op : operators) names_[json_integer(json_member(op, "op_id"))] = name_of(op);
  }

  // Then this one, because the queue samples of the pipeline file were taken at its time stamps.
  void read_cpu(const std::string& path) {
    auto tree = read_json_file(path);
    if (!tree) return add_unreadable(rank_, path, tree.error());
    const json& stamps = json_member(*tree, "time_stamp");
    for (const json& stamp : stamps) {
      const int64_t ms = json_integer(stamp);
      if (ms == kNull) rank_.quality.add(QualityCode::kBadNumber, path + " time_stamp");
      sample_ns_.push_back(at_ms(ms));
    }
    const int64_t before = records_;
    if (cpu_ == MinddataCpu::kAll) read_machine_and_process(path, *tree);
    const json& operators = json_member(*tree, "op_info");
    if (operators.is_array()) {
      for (const json& op : operators) {
        const json& metrics = json_member(op, "metrics");
        if (!metrics.is_object()) continue;
        const json& id = json_member(op, "op_id");
        const auto known = names_.find(json_integer(id));
        const bool has_name = known != names_.end();
        const std::string before = has_name ? "" : "op " + json_as_text(id) + " ";
        for (const auto& [name, values] : metrics.items())
          add_series(path, has_name ? known->second : "minddata", before + name, values);
      }
    }
    TableBuilder table(rank_, "minddata_cpu", path,
                       {{"cpu_processor_num", Type::kInt64},
                        {"sampling_interval_ms", Type::kInt64},
                        {"time_stamps", Type::kInt64}});
    table.row({json_integer(json_member(*tree, "cpu_processor_num")),
               json_integer(json_member(*tree, "sampling_interval")),
               static_cast<int64_t>(sample_ns_.size())});
    add_source(rank_, path, "minddata_cpu_utilization", records_ - before);
  }

  void read_machine_and_process(const std::string& path, const json& tree) {
    std::string cut;  // lists that hold half of the samples
    for (const char* group :
         {"device_info", "process_info", "process_memory_info", "system_memory_info"}) {
      const json& series = json_member(tree, group);
      if (!series.is_object()) continue;
      std::string_view word = group;
      word.remove_suffix(5);  // "_info"
      const size_t samples = sample_ns_.size();
      const bool paired =
          std::ranges::any_of(series, [&](const json& list) { return list.size() == 2 * samples; });
      for (const auto& [name, values] : series.items()) {
        const bool is_cut = paired && samples > 0 && values.size() == samples;
        if (is_cut) cut += (cut.empty() ? "" : " and ") + name;
        add_series(path, "minddata", std::string(word) + " " + name, values, is_cut ? 2 : 1);
      }
    }
    if (cut.empty()) return;
    rank_.quality.add(QualityCode::kInconsistentCounts,
                      path + ": MindSpore wrote " + cut +
                          " of the machine for the first half of the samples only",
                      static_cast<int64_t>(sample_ns_.size() / 2));
  }

  // `loop` is the queue that the training loop takes from; empty: not known.
  void read_pipeline(const std::string& path, std::string_view loop) {
    if (pipeline_.is_null()) return;  // could not be read
    const json& operators = json_member(pipeline_, "op_info");
    if (!operators.is_array()) {
      rank_.quality.add(QualityCode::kUnparsableEvent, path + ": no list op_info");
      return add_source(rank_, path, "ignored", 0);
    }
    interval_ms_ = json_integer(json_member(pipeline_, "sampling_interval"));
    TableBuilder table(rank_, "minddata_pipeline", path,
                       {{"op_id", Type::kInt64},
                        {"op_type", Type::kText},
                        {"num_workers", Type::kInt64},
                        {"parent_id", Type::kInt64},
                        {"children", Type::kText},
                        {"queue_length", Type::kInt64},
                        {"samples", Type::kInt64},
                        {"sampling_interval_ms", Type::kInt64}});
    const auto parents = parents_of(operators);
    const int64_t before = records_;
    for (const json& op : operators) {
      const json& queue = json_member(json_member(op, "metrics"), "output_queue");
      const json& sizes = json_member(queue, "size");
      const int64_t length = json_integer(json_member(queue, "length"));
      if (is_new_) {
        const int64_t id = json_integer(json_member(op, "op_id"));
        const std::string_view type = json_text(json_member(op, "op_type"));
        const int64_t workers = json_integer(json_member(op, "num_workers"));
        const auto parent = parents.find(id);
        const bool has_parent = parent != parents.end();
        table.row({own_id(id), table.text(type), workers,
                   has_parent ? own_id(parent->second) : kNull, table.text(own_children(op)),
                   length, sizes.is_array() ? static_cast<int64_t>(sizes.size()) : kNull,
                   interval_ms_});
        ++records_;
        StageRecord stage;
        stage.stage = rank_.strings.intern(name_of(op));
        stage.kind = rank_.strings.intern(type);
        stage.workers = workers;
        stage.capacity = length;
        const auto taker = has_parent ? names_.find(parent->second) : names_.end();
        if (taker != names_.end()) {
          stage.consumer = rank_.strings.intern(taker->second);
        } else if (!loop.empty()) {
          stage.consumer = rank_.strings.intern(loop);
        }
        rank_.stages.push_back(stage);
      }
      if (sizes.is_array()) add_queue(path, name_of(op), length, sizes);
    }
    add_source(rank_, path, "pipeline_profiling", records_ - before);
  }

  // Lines `0 0|1|2 batch ms time`: time of the pipeline, of the push, of the whole batch;
  // `1 capacity batch size time`: the queue. One row of `queues` per batch.
  void read_batches(const std::string& path, std::string_view stage) {
    auto file = TextFile::open(path);
    if (!file) return add_unreadable(rank_, path, file.error());
    TableBuilder table(rank_, "minddata_batches", path,
                       {{"stage", Type::kText},
                        {"type", Type::kInt64},
                        {"extra", Type::kInt64},
                        {"batch", Type::kInt64},
                        {"value", Type::kInt64},
                        {"time_stamp_ms", Type::kInt64}});
    std::map<int64_t, QueueRecord> batches;
    Iterator& known = iterators_[stage];
    int64_t lines = 0;
    int64_t numbers_before = kNull;  // what an earlier pipeline's batches had
    std::string_view line;
    while (file->next(line)) {
      const auto words = split_words(line);
      if (words.empty()) continue;
      std::array<int64_t, 5> fields{};
      fields.fill(kNull);
      bool readable = words.size() == 4 || words.size() == 5;  // old files have no time
      for (size_t i = 0; readable && i < words.size(); ++i) {
        const auto number = parse_integer(words[i]);
        readable = number.has_value();
        if (number) fields[i] = *number;
      }
      if (!readable || fields[0] < 0 || fields[0] > 1) {
        rank_.quality.add(QualityCode::kUnparsableEvent, file->place());
        continue;
      }
      const auto [type, extra, number, value, time_ms] = fields;
      if (numbers_before == kNull)
        numbers_before = number > known.last_number ? 0 : known.last_number;
      const int64_t batch = plus_or_null(number, numbers_before);
      table.row({table.text(stage), type, extra, batch, value, time_ms});
      ++lines;
      auto [place, is_new] = batches.try_emplace(batch);
      QueueRecord& record = place->second;
      record.batch = batch;
      if (is_new) record.ts_ns = kNull;
      if (type == 1) {
        record.capacity = extra;
        record.size = value;
        record.ts_ns = at_ms(time_ms);
      } else {
        if (record.ts_ns == kNull) record.ts_ns = at_ms(time_ms);
        if (extra == 0) record.fetch_ns = times_or_null(value, kNsPerMs);
        if (extra == 1) record.push_ns = times_or_null(value, kNsPerMs);
      }
    }
    StageRecord queue;
    queue.stage = rank_.strings.intern(stage);
    queue.kind = rank_.strings.intern("iterator");
    for (auto& [number, record] : batches) {
      record.stage = queue.stage;
      if (record.capacity != kNull) queue.capacity = record.capacity;
      if (record.ts_ns == kNull) record.ts_ns = 0;  // old files have no times
      known.last_number = std::max(known.last_number, number);
      rank_.queues.push_back(record);
    }
    if (!std::exchange(known.is_described, true)) rank_.stages.push_back(queue);
    records_ += lines;
    add_source(rank_, path, stage, lines);
  }

  int64_t at_ms(int64_t ms) const { return plus_or_null(times_or_null(ms, kNsPerMs), offset_ns_); }

  // As it is called in queues, stages and tracks.
  std::string name_of(const json& op) const {
    return std::string(json_text(json_member(op, "op_type"))) + "_" +
           std::to_string(own_id(json_integer(json_member(op, "op_id"))));
  }

  int64_t own_id(int64_t id) const { return plus_or_null(id, first_id_); }

  std::string own_children(const json& op) const {
    json own = json::array();
    const json& children = json_member(op, "children");
    if (!children.is_array()) return "[]";
    if (first_id_ == 0) return write_json(children);
    for (const json& child : children) own.push_back(own_id(json_integer(child)));
    return write_json(own);
  }

  static std::map<int64_t, int64_t> parents_of(const json& operators) {
    std::map<int64_t, int64_t> parents;
    for (const json& op : operators) {
      const json& children = json_member(op, "children");
      if (!children.is_array()) continue;
      for (const json& child : children) {
        parents[json_integer(child)] = json_integer(json_member(op, "op_id"));
      }
    }
    return parents;
  }

  // Samples have no times of their own. The sampler thread takes them together with the CPU
  // values, so equal counts mean equal times; otherwise the nominal interval must do.
  void add_queue(const std::string& path, const std::string& stage, int64_t length,
                 const json& sizes) {
    const bool timed = sizes.size() == sample_ns_.size();
    if (!timed) {
      rank_.quality.add(QualityCode::kClockCoarse,
                        path + ": " + stage + ": samples at the nominal interval");
    }
    const StringId stage_id = rank_.strings.intern(stage);
    const int64_t first_ns = sample_ns_.empty() ? offset_ns_ : sample_ns_[0];
    const int64_t step_ns = times_or_null(interval_ms_ == kNull ? 1000 : interval_ms_, kNsPerMs);
    for (size_t i = 0; i < sizes.size(); ++i) {
      const auto index = static_cast<int64_t>(i);
      QueueRecord record;
      record.stage = stage_id;
      record.size = json_integer(sizes[i]);
      record.capacity = length;
      record.ts_ns = timed ? sample_ns_[i] : plus_or_null(first_ns, times_or_null(step_ns, index));
      if (record.ts_ns == kNull) record.ts_ns = 0;
      if (record.size == kNull) rank_.quality.add(QualityCode::kBadNumber, path + ": " + stage);
      rank_.queues.push_back(record);
      ++records_;
    }
  }

  // Known defects of MindSpore 2.10: lists of device_info hold two entries per sample, of which the
  // second repeats the first or is 0, and two of them are cut to as many entries as there are
  // samples (`entries_a_sample` is 2 then); process_info, made of differences, lacks the first.
  void add_series(const std::string& path, std::string_view process, const std::string& name,
                  const json& values, size_t entries_a_sample = 1) {
    if (!values.is_array() || values.empty()) return;
    const size_t samples = sample_ns_.size();
    size_t first_sample = 0;
    if (values.size() == 2 * samples) {
      entries_a_sample = 2;
    } else if (values.size() + 1 == samples) {
      first_sample = 1;
    } else if (values.size() != samples) {
      rank_.quality.add(QualityCode::kInconsistentCounts,
                        path + ": " + name + ": " + std::to_string(values.size()) + " values for " +
                            std::to_string(samples) + " time stamps");
    }
    const TrackId track = track_of(process, name);
    for (size_t i = 0; i * entries_a_sample < values.size() && first_sample + i < samples; ++i) {
      // Use is a difference: the first sample means nothing. That of the first pipeline is kept, as
      // it was written; analyses leave it out.
      if (i == 0 && !is_first_) continue;
      const json& value = values[i * entries_a_sample];
      if (!value.is_number() || sample_ns_[first_sample + i] == kNull) {
        rank_.quality.add(QualityCode::kBadNumber, path + ": " + name);
        continue;
      }
      rank_.counters.push_back({sample_ns_[first_sample + i], value.get<double>(), track});
      ++records_;
    }
  }

  TrackId track_of(std::string_view process, std::string_view name) {
    TrackInfo info;
    info.process = rank_.strings.intern(process);
    info.thread = rank_.strings.intern(name);
    info.kind = TrackKind::kCounter;
    const auto [known, is_new] = tracks_.try_emplace({info.process, info.thread});
    if (is_new) known->second = rank_.add_track(info);
    return known->second;
  }

  struct Iterator {
    int64_t last_number = 0;
    bool is_described = false;
  };

  int64_t offset_ns_;
  MinddataCpu cpu_;
  RankBuilder& rank_;
  std::map<std::pair<StringId, StringId>, TrackId> tracks_;
  std::map<std::string_view, Iterator> iterators_;
  std::map<std::string, int64_t> first_ids_;  // by the shape of the tree
  int64_t next_id_ = 0;
  int64_t records_ = 0;
  bool is_first_ = true;

  // Of the pipeline that is read.
  json pipeline_;
  bool is_new_ = true;
  int64_t first_id_ = 0;
  std::map<int64_t, std::string> names_;  // of operators, by their numbers in the file
  std::vector<int64_t> sample_ns_;
  int64_t interval_ms_ = kNull;
};

}  // namespace

int64_t read_minddata(std::span<const MinddataFiles> pipelines, std::optional<int64_t> offset_ns,
                      MinddataCpu cpu, RankBuilder& rank) {
  Reader reader(offset_ns, cpu, rank);
  for (const MinddataFiles& files : pipelines) reader.read(files);
  if (!offset_ns && reader.records() > 0) {
    rank.quality.add(QualityCode::kClockCoarse,
                     "minddata times are monotonic milliseconds; no clock.json joins them to the "
                     "wall clock");
  }
  return reader.records();
}

}  // namespace stepscope
