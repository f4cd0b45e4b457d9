// The tables of the GPU source: kernels, copies, calls of the runtime and the driver, memory.
#ifndef STEPSCOPE_IMPORTERS_NATIVE_DEVICE_TABLES_H_
#define STEPSCOPE_IMPORTERS_NATIVE_DEVICE_TABLES_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "importers/native/occupancy.h"
#include "importers/native/raw_run.h"

namespace stepscope {

class DeviceTables {
 public:
  explicit DeviceTables(RawRun& run) : run_(run) {}

  // The first time through the file: what rows name by number, also rows that come before it.
  void learn(const RawChunk& chunk);
  // Whether the table is one of ours; its rows are taken then.
  bool read(const RawTable& table);
  // Call after the last table.
  void finish();

  int64_t records() const { return records_; }

 private:
  // What a kernel was launched with. Made into a detail when a device first runs it.
  struct Variant {
    int64_t name = 0;
    int64_t grid[3] = {};
    int64_t block[3] = {};
    int64_t registers = 0;
    int64_t static_shared = 0;
    int64_t dynamic_shared = 0;
    int64_t detail_device = kNull;  // which device `detail` is for
    uint32_t detail = kNoDetail;
    StringId name_id = kEmptyString;
  };

  void learn_variants(const RawTable& table);
  void read_kernels(const RawTable& table);
  void read_copies(const RawTable& table);
  void read_calls(const RawTable& table, std::string_view category);
  void read_synchronizations(const RawTable& table);
  void read_memory(const RawTable& table);
  void read_overheads(const RawTable& table);
  void resolve(Variant& variant, int64_t device);
  // The columns in the order of the names; empty, and reported, when one is missing.
  std::vector<const std::vector<int64_t>*> columns(const RawTable& table,
                                                   std::initializer_list<const char*> names);
  SliceRecord slice(int64_t start_ticks, int64_t duration_ticks, StringId name,
                    std::string_view category);
  void link(SliceRecord& slice, int64_t correlation);
  TrackId stream_track(int64_t device, int64_t stream);
  TrackId sync_track(int64_t device, int64_t stream);
  MultiprocessorLimits limits_of(int64_t device) const;

  RawRun& run_;
  std::unordered_map<int64_t, Variant> variants_;
  std::unordered_map<int64_t, int64_t> device_of_context_;
  std::map<std::pair<int64_t, int64_t>, TrackId> stream_tracks_;
  std::map<std::pair<int64_t, int64_t>, TrackId> sync_tracks_;
  std::vector<MemoryRecord> memory_;
  bool has_calls_ = false;
  int64_t records_ = 0;
  int64_t without_variant_ = 0;
};

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_NATIVE_DEVICE_TABLES_H_
