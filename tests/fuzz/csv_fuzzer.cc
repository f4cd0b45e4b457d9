// Any bytes as CSV: every row has the header's columns, and a kept table is as long as its rows.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "importers/common/csv_reader.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stepscope;
  auto reader =
      CsvReader::from_text(std::string(reinterpret_cast<const char*>(data), size), "fuzz.csv");
  if (!reader) return 0;
  QualityReport quality;
  uint64_t rows = 0;
  uint64_t line = 0;
  while (reader->next(quality)) {
    ++rows;
    if (reader->line() <= line) std::abort();
    line = reader->line();
    for (size_t column = 0; column <= reader->header().size(); ++column) {
      const std::string_view cell = reader->cell(column);
      if (cell.size() > size) std::abort();
      reader->us_as_ns(column, quality);
      reader->times(column, 1024, quality);
    }
  }
  if (reader->rows_read() != rows) std::abort();

  const testing::MemoryFile file(data, size);
  RankBuilder rank;
  if (!keep_csv(file.path(), "kept", rank)) std::abort();
  for (const SourceTable& table : rank.source_tables) {
    for (const SourceColumn& column : table.columns) {
      if (column.values.size() != rows) std::abort();
    }
  }
  return 0;
}
