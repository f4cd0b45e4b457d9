// raw_summary FILE: what is in a raw file, as one JSON object: rows of each table, and the notes
// `gpu`, `device`, `end`, `not_honoured` and `source_left_out`. For measurements on machines that
// have the collector alone.
#include <cstdio>
#include <map>
#include <string>

#include "format/chunk_reader.h"

int main(int count, char** words) {
  if (count != 2) {
    std::fputs("usage: raw_summary FILE\n", stderr);
    return 2;
  }
  auto reader = stepscope::ChunkReader::open(words[1]);
  if (!reader) {
    std::fprintf(stderr, "%s\n", reader.error().message().c_str());
    return 1;
  }
  std::map<std::string, size_t> rows;
  std::map<std::string, std::string> notes;
  stepscope::RawChunk chunk;
  size_t chunks = 0;
  while (true) {
    auto more = reader->next(chunk);
    if (!more || !*more) break;
    ++chunks;
    for (const auto& table : chunk.tables) rows[std::string(table.name)] += table.rows;
    for (const auto& note : chunk.notes) {
      if (note.name == "recording") continue;
      std::string& list = notes[std::string(note.name)];
      list.append(list.empty() ? "" : ",").append(note.json);
    }
  }
  std::printf("{\"chunks\":%zu,\"bytes\":%llu,\"rows\":{", chunks,
              static_cast<unsigned long long>(reader->file().size()));
  const char* separator = "";
  for (const auto& [table, count_of_rows] : rows) {
    std::printf("%s\"%s\":%zu", separator, table.c_str(), count_of_rows);
    separator = ",";
  }
  std::printf("}");
  for (const auto& [name, list] : notes) std::printf(",\"%s\":[%s]", name.c_str(), list.c_str());
  std::printf("}\n");
}
