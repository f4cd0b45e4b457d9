// Test support: a CSV file as rows of cells by column name.
#ifndef STEPSCOPE_TESTS_SUPPORT_CSV_ROWS_H_
#define STEPSCOPE_TESTS_SUPPORT_CSV_ROWS_H_

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "importers/common/csv_reader.h"

namespace stepscope::testing {

struct CsvRows {
  std::vector<std::string> header;
  std::vector<std::map<std::string, std::string>> rows;
};

inline CsvRows read_csv(const std::string& path) {
  CsvRows csv;
  auto reader = CsvReader::open(path);
  EXPECT_TRUE(reader.ok()) << path;
  if (!reader.ok()) return csv;
  for (const auto& name : reader->header()) csv.header.emplace_back(name);
  QualityReport quality;
  while (reader->next(quality)) {
    auto& row = csv.rows.emplace_back();
    for (size_t i = 0; i < csv.header.size(); ++i) row[csv.header[i]] = reader->cell(i);
  }
  return csv;
}

}  // namespace stepscope::testing

#endif  // STEPSCOPE_TESTS_SUPPORT_CSV_ROWS_H_
