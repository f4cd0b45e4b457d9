// Test support: a raw file read back without the importer.
#ifndef STEPSCOPE_COLLECTOR_RECORDING_TEST_H_
#define STEPSCOPE_COLLECTOR_RECORDING_TEST_H_

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/chunk_reader.h"

namespace stepscope::testing {

struct ReadRange {
  int64_t thread = 0;
  int64_t kind = 0;
  int64_t start = 0;
  int64_t duration = 0;
  std::string name;
  int64_t value1 = 0;
  int64_t value2 = 0;
};

struct ReadBack {
  std::vector<ReadRange> ranges;  // records without values
  std::vector<ReadRange> values;  // records with values
  std::map<std::string, std::string> notes;
  bool ended = false;
  uint64_t torn_bytes = 0;
  int64_t damaged_chunks = 0;

  // A figure of the `end` note.
  int64_t statistic(const std::string& name) const {
    const std::string& end = notes.at("end");
    const size_t at = end.find("\"" + name + "\":");
    return at == std::string::npos ? -1 : std::atoll(end.c_str() + at + name.size() + 3);
  }
};

inline ReadBack read_back(const std::string& path) {
  ReadBack run;
  auto reader = ChunkReader::open(path);
  if (!reader) {
    ADD_FAILURE() << reader.error().message();
    return run;
  }
  RawChunk chunk;
  std::map<int64_t, std::string> names;
  while (true) {
    auto more = reader->next(chunk);
    if (!more || !*more) break;
    for (const RawString& string : chunk.strings) names[string.id] = string.text;
    for (const RawNote& note : chunk.notes) run.notes[std::string(note.name)] = note.json;
    for (const RawTable& table : chunk.tables) {
      if (table.name != "ranges" && table.name != "values") continue;
      const bool with_values = table.name == "values";
      for (size_t row = 0; row < table.rows; ++row) {
        const auto value = [&](const char* column) { return (*table.column(column))[row]; };
        ReadRange range{table.key, value("kind"), value("start_ticks"), value("duration_ticks"),
                        names[value("name")]};
        if (with_values) range.value1 = value("value1");
        if (with_values) range.value2 = value("value2");
        (with_values ? run.values : run.ranges).push_back(range);
      }
    }
  }
  run.ended = run.notes.contains("end");
  run.torn_bytes = reader->torn_bytes();
  run.damaged_chunks = reader->damaged_chunks();
  return run;
}

inline int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t size = 0;
  int64_t resident = 0;
  statm >> size >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

}  // namespace stepscope::testing

#endif  // STEPSCOPE_COLLECTOR_RECORDING_TEST_H_
