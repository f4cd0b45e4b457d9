// EventMapper: turns the fields of one event into records of the model. One per worker thread; it
// owns the worker's strings and tracks and fills the StagedChunk it is pointed at.
//
// This is the hot path of an import. It allocates only
// when it meets a new string, track or category.
#ifndef STEPSCOPE_IMPORTERS_CHROME_EVENT_MAPPER_H_
#define STEPSCOPE_IMPORTERS_CHROME_EVENT_MAPPER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/string_pool.h"
#include "importers/chrome/categories.h"
#include "importers/chrome/object_walker.h"
#include "importers/chrome/staged_chunk.h"

namespace stepscope {

// The raw fields of an event; strings without quotes, still escaped.
struct ChromeEvent {
  std::string_view phase;
  std::string_view name;
  std::string_view cat;
  std::string_view pid;
  std::string_view tid;
  std::string_view ts;
  std::string_view dur;
  std::string_view id;
  std::string_view args;     // whole text of the value
  ObjectWalker args_walker;  // valid when args is an object
  uint64_t offset = 0;       // of the event in the file's text
  bool repaired = false;     // its text is not the file's: args cannot be kept by place
};

// A lane as a worker sees it.
struct LocalTrack {
  StringId pid = kEmptyString;
  StringId tid = kEmptyString;
  StringId counter = kNoString;  // name of the counter for counter lanes
  bool on_device = false;
  bool is_async = false;

  bool operator==(const LocalTrack&) const = default;
};

struct LocalTrackHash {
  size_t operator()(const LocalTrack& track) const {
    const uint64_t ids = static_cast<uint64_t>(track.pid) << 32 | track.tid;
    const uint64_t rest = static_cast<uint64_t>(track.counter) << 2 |
                          static_cast<uint64_t>(track.on_device) << 1 |
                          static_cast<uint64_t>(track.is_async);
    return mix64(ids ^ 0x9E3779B97F4A7C15ull, rest ^ 0xD6E8FEB86659FD93ull);
  }
};

struct MapperOptions {
  bool ascend_args = false;  // read the args that Ascend's tools write
  uint32_t source = 1;       // number of the file among the rank's sources
};

class EventMapper {
 public:
  explicit EventMapper(MapperOptions options) : options_(options) {}

  void start_chunk(StagedChunk& chunk, uint64_t text_offset, const char* text);
  void map(const ChromeEvent& event);

  StringPool strings;
  std::vector<LocalTrack> tracks;

 private:
  struct Category {
    StringId id = kEmptyString;
    const CategoryRule* rule = nullptr;  // nullptr: unknown word
    bool is_launch_flow = false;
    StringId kernel_type = kNoString;
  };
  struct Links {
    int64_t correlation = kNull;
    int64_t external_id = kNull;
  };

  void map_slice(const ChromeEvent& event, const Category& category);
  void map_instant(const ChromeEvent& event, const Category& category);
  void map_memory(const ChromeEvent& event, uint32_t track, int64_t ts_ns);
  void map_counter(const ChromeEvent& event);
  void map_flow(const ChromeEvent& event, const Category& category, FlowPhase phase);
  void map_edge(const ChromeEvent& event, const Category& category, char phase);
  void map_metadata(const ChromeEvent& event);
  // Name, category, kind, links and details of a range or of its begin.
  void describe(const ChromeEvent& event, const Category& category, SliceRecord& slice);
  void count_unknown(const ChromeEvent& event, const Category& category);

  void read_links(ObjectWalker args, SliceRecord& slice);
  void read_op(ObjectWalker args, SliceRecord& slice);
  void read_device(ObjectWalker args, SliceRecord& slice, const Category& category);
  void read_ascend(ObjectWalker args, SliceRecord& slice);
  bool read_collective(int key, std::string_view value, CommunicationDetail& detail);
  // Completes a collective of the level "op" or "host" and keeps it; returns its number.
  uint32_t add_collective(CommunicationDetail& collective, std::string_view level);

  const Category& category(std::string_view word);
  uint32_t track(std::string_view pid, std::string_view tid, bool on_device);
  uint32_t find_track(const LocalTrack& track);
  StringId text(std::string_view raw);        // unescapes when needed
  StringId text_value(std::string_view raw);  // without quotes
  PackedId pack(int64_t id);
  bool time(std::string_view text, const ChromeEvent& event, int64_t& ns);
  // Where the args are; kNone when there are none, or not in the file as they are.
  uint64_t args_place(const ChromeEvent& event) const;
  void keep_repaired_args(const ChromeEvent& event);
  void count(const Category& category, char phase);
  std::string where(const ChromeEvent& event) const;

  MapperOptions options_;
  StagedChunk* chunk_ = nullptr;
  uint64_t text_offset_ = 0;
  const char* text_ = nullptr;

  std::vector<Category> categories_;
  std::vector<uint32_t> category_of_string_;  // by string id
  std::string last_category_word_;
  size_t last_category_ = 0;

  std::string last_pid_;
  std::string last_tid_;
  bool last_on_device_ = false;
  uint32_t last_track_ = kNoDetail;
  std::unordered_map<LocalTrack, uint32_t, LocalTrackHash> track_index_;
  std::unordered_map<uint64_t, uint32_t> count_index_;  // of the chunk, when it has many kinds

  enum NameClass : uint8_t { kUnknownClass, kComputeName, kCommunicationName, kMemoryName };
  std::vector<NameClass> name_classes_;  // by string id
};

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_CHROME_EVENT_MAPPER_H_
