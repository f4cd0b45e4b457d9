// `stepscope schema`: the tables as documentation, SQL or TypeScript, all from the one description
// in store/schema.h. docs/schema.md is its output.
#include <memory>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/terminal.h"
#include "store/quality.h"
#include "store/schema.h"

namespace stepscope {
namespace {

const char* sql_type(const Column& column) {
  switch (column.type) {
    case Type::kInt64:
      return "BIGINT";
    case Type::kFloat64:
      return "DOUBLE";
    case Type::kText:
      return "VARCHAR";
    case Type::kBool:
      return "BOOLEAN";
  }
  return "";
}

const char* typescript_type(const Column& column) {
  switch (column.type) {
    case Type::kInt64:
    case Type::kFloat64:
      return "number";
    case Type::kText:
      return "string";
    case Type::kBool:
      return "boolean";
  }
  return "";
}

// A bar would end a cell.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string markdown() {
  std::string out = fmt::format(
      "# The tables, schema version {}\n\n"
      "Written by `stepscope schema`; change `src/store/schema.cc` instead.\n\n"
      "`stepscope query PATH \"SQL\"` asks these tables in DuckDB's SQL. Times are integer "
      "nanoseconds: `ts` since 1970, `dur` and other lengths as they are. Ids (`id`, `track`, "
      "`parent` ...) are numbers of rows, valid in this store only. A run with one rank has the "
      "same tables as one with thousands; `rank` tells them apart.\n\n"
      "Tables of the input that are kept as they are (`op_statistic.csv` ...) are in the schema "
      "`source`: `select * from source.op_statistic`. Columns have the input's names, in double "
      "quotes where SQL needs them, after a column `rank`. `runs` has one row about the whole "
      "store: `store`, `store_bytes`, `ranks`, `tracks`, `slices`, `first_ns`, `last_ns`, "
      "`schema_version`, `info` (JSON).\n\n"
      "The `name` and `cat` of slices are ENUM columns: they compare, sort and print as text, and "
      "grouping by them is as fast as grouping by a small number.\n",
      kSchemaVersion);
  for (const TableSpec& table : tables()) {
    out += fmt::format("\n## {}\n\n{}\n\n| column | type | meaning |\n|---|---|---|\n", table.name,
                       table.doc);
    for (const Column& column : table.columns) {
      out += fmt::format("| `{}` | {} | {} |\n", column.name, sql_type(column), cell(column.doc));
    }
  }
  out +=
      "\n## Flags of slices\n\n| bit | meaning |\n|---|---|\n"
      "| 1 | impossible: negative or implausible length; left out of totals |\n"
      "| 2 | unfinished: no end in the input |\n"
      "| 4 | instant: a point in time |\n"
      "| 8 | device work that starts before its launch |\n"
      "| 16 | overlaps an earlier slice of its track without being nested in it |\n"
      "| 32 | ends after the slice it is nested in |\n"
      "| 64 | the input marks it as the start of a launch arrow |\n"
      "| 128 | the input marks it as the end of a launch arrow |\n"
      "| 256 | device work whose launch is not in the input |\n"
      "\n## Conditions of the data-quality report\n\n"
      "| code | severity | left out of totals | meaning |\n|---|---|---|---|\n";
  for (const QualitySpec& spec : quality_specs()) {
    out += fmt::format("| `{}` | {} | {} | {} |\n", spec.name, spec.severity,
                       spec.excluded ? "yes" : "no", cell(spec.meaning));
  }
  return out;
}

std::string sql() {
  std::string out = fmt::format("-- Stepscope tables, schema version {}.\n", kSchemaVersion);
  for (const TableSpec& table : tables()) {
    out += fmt::format("\n-- {}\nCREATE TABLE {} (\n", table.doc, table.name);
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const Column& column = table.columns[i];
      const char* comma = i + 1 < table.columns.size() ? "," : "";
      out +=
          fmt::format("  \"{}\" {}{}  -- {}\n", column.name, sql_type(column), comma, column.doc);
    }
    out += ");\n";
  }
  return out;
}

// slices -> SlicesRow
std::string type_name(std::string_view table) {
  std::string out;
  bool upper = true;
  for (const char c : table) {
    if (c == '_') {
      upper = true;
      continue;
    }
    out += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    upper = false;
  }
  return out + "Row";
}

std::string typescript() {
  std::string out = fmt::format(
      "// Stepscope tables. Written by `stepscope schema --format typescript`; do not edit.\n"
      "export const schemaVersion = {};\n",
      kSchemaVersion);
  for (const TableSpec& table : tables()) {
    out += fmt::format("\n/** {} */\nexport interface {} {{\n", table.doc, type_name(table.name));
    for (const Column& column : table.columns) {
      out += fmt::format("  /** {} */\n  {}: {} | null;\n", column.doc, column.name,
                         typescript_type(column));
    }
    out += "}\n";
  }
  return out;
}

}  // namespace

void add_schema_command(Program& program) {
  auto format = std::make_shared<std::string>("markdown");
  CLI::App* command = program.app.add_subcommand("schema", "print the tables and their columns");
  command->add_option("--format", *format, "markdown, sql or typescript")
      ->check(CLI::IsMember({"markdown", "sql", "typescript"}))
      ->capture_default_str();
  command->callback([&program, format] {
    program.work = [format] {
      return write_out(*format == "sql"          ? sql()
                       : *format == "typescript" ? typescript()
                                                 : markdown());
    };
  });
}

}  // namespace stepscope
