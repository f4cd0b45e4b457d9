// A CSV file, row by row. Nothing is written before the first row, so that a table without rows
// makes no file.
#ifndef STEPSCOPE_DELIVERABLES_CSV_WRITER_H_
#define STEPSCOPE_DELIVERABLES_CSV_WRITER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_text.h"
#include "base/result.h"
#include "deliverables/number_text.h"
#include "store/schema.h"

namespace stepscope {

using Sink = std::function<Status(std::string_view)>;

class CsvWriter {
 public:
  CsvWriter(const Sink& sink, const std::vector<std::string>& header) : sink_(sink) {
    for (const std::string& name : header) text(name);
    end_line();
  }

  CsvWriter& text(std::string_view value) {
    begin_cell();
    if (value.find_first_of(",\"\r\n") == std::string_view::npos) {
      out_ += value;
      return *this;
    }
    out_ += '"';
    for (const char c : value) {
      if (c == '"') out_ += '"';
      out_ += c;
    }
    out_ += '"';
    return *this;
  }
  // N/A for what is not known.
  CsvWriter& known(std::string_view value) { return text(value.empty() ? "N/A" : value); }
  CsvWriter& integer(int64_t value, std::string_view missing = "N/A") {
    begin_cell();
    if (value == kNull) {
      out_ += missing;
    } else {
      append_integer(out_, value);
    }
    return *this;
  }
  CsvWriter& us(int64_t ns, std::string_view missing = "N/A") {
    begin_cell();
    if (ns == kNull) {
      out_ += missing;
    } else {
      append_us(out_, ns);
    }
    return *this;
  }
  // A moment: the tabulator keeps spreadsheets from rounding its digits.
  CsvWriter& moment(int64_t ns, std::string_view missing = "N/A") {
    us(ns, missing);
    if (ns != kNull) out_ += '\t';
    return *this;
  }
  CsvWriter& rounded(double value, int decimals) {
    begin_cell();
    append_rounded(out_, value, decimals);
    return *this;
  }
  CsvWriter& number(double value) {
    begin_cell();
    append_json_number(out_, value);
    return *this;
  }

  Status end_row() {
    ++rows_;
    end_line();
    if (out_.size() < kFlushBytes) return {};
    return flush();
  }
  // Whether there were rows.
  Result<bool> finish() {
    if (rows_ == 0) return false;
    if (auto status = flush(); !status) return std::move(status.error());
    return true;
  }

 private:
  static constexpr size_t kFlushBytes = 1 << 20;

  void begin_cell() {
    if (!first_cell_) out_ += ',';
    first_cell_ = false;
  }
  void end_line() {
    out_ += '\n';
    first_cell_ = true;
  }
  Status flush() {
    const Status status = sink_(out_);
    out_.clear();
    return status;
  }

  const Sink& sink_;
  std::string out_;
  bool first_cell_ = true;
  int64_t rows_ = 0;
};

}  // namespace stepscope

#endif  // STEPSCOPE_DELIVERABLES_CSV_WRITER_H_
