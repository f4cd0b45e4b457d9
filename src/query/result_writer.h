// Query results as text and files: aligned tables for people, CSV (RFC 4180), JSON (an array of
// objects, or one object a line), and Arrow IPC files for data frames. Rows are written as they
// come; only the table keeps some, to know its column widths.
#ifndef STEPSCOPE_QUERY_RESULT_WRITER_H_
#define STEPSCOPE_QUERY_RESULT_WRITER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "query/query_result.h"

namespace stepscope {

// Takes the next bytes of the output.
using Sink = std::function<Status(std::string_view)>;

// `width`: columns of the terminal, wide text is cut to fit; 0: as wide as it needs. NULL is shown
// as NULL, and the last line says how many rows there are.
Status write_table(QueryResult& result, size_t width, const Sink& sink);
Status write_csv(QueryResult& result, const Sink& sink);
Status write_json(QueryResult& result, const Sink& sink);
Status write_json_lines(QueryResult& result, const Sink& sink);
// The Arrow IPC file format ("Feather version 2"): pyarrow.ipc.open_file, pandas.read_feather,
// polars.read_ipc. 128-bit integers are written as 64-bit ones; one that does not fit is an error.
Status write_arrow(QueryResult& result, const Sink& sink);

// Columns that the text takes in a terminal.
size_t display_width(std::string_view text);

}  // namespace stepscope

#endif  // STEPSCOPE_QUERY_RESULT_WRITER_H_
