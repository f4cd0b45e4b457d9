#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/open_run.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "query/database.h"
#include "query/result_writer.h"
#include "query/statements.h"

namespace stepscope {
namespace {

constexpr uint64_t kMaxSqlBytes = 64 << 20;

struct Options {
  std::string path;
  std::string sql;
  std::string sql_file;
  std::string format;
  std::string output;
  double timeout_s = 300;
  uint64_t memory_mb = 0;
};

const std::vector<std::string> kFormats = {"table", "csv", "json", "jsonl", "parquet", "arrow"};

// Named by --format, else by the ending of the output file, else a table.
std::string format_of(const Options& options) {
  if (!options.format.empty()) return options.format;
  const struct {
    const char* ending;
    const char* format;
  } kEndings[] = {{".csv", "csv"},      {".json", "json"},       {".jsonl", "jsonl"},
                  {".ndjson", "jsonl"}, {".parquet", "parquet"}, {".arrow", "arrow"},
                  {".feather", "arrow"}};
  for (const auto& known : kEndings) {
    if (options.output.ends_with(known.ending)) return known.format;
  }
  return "table";
}

Result<std::string> read_sql(const Options& options) {
  if (options.sql.empty() == options.sql_file.empty())
    return usage_error("give one of \"SQL\" and --file", "see stepscope query --help");
  if (!options.sql.empty()) return options.sql;
  if (options.sql_file != "-") return read_file(options.sql_file, kMaxSqlBytes);
  std::string text;
  char buffer[4096];
  while (const size_t got = std::fread(buffer, 1, sizeof buffer, stdin)) text.append(buffer, got);
  return text;
}

Status write_as(QueryResult& result, const std::string& format, size_t width, const Sink& sink) {
  if (format == "csv") return write_csv(result, sink);
  if (format == "json") return write_json(result, sink);
  if (format == "jsonl") return write_json_lines(result, sink);
  if (format == "arrow") return write_arrow(result, sink);
  return write_table(result, width, sink);
}

Status run_statements(Database& database, const std::vector<std::string_view>& statements,
                      const std::string& format, const QueryLimits& limits, size_t width,
                      const Sink& sink) {
  for (size_t i = 0; i < statements.size(); ++i) {
    auto result = database.query(statements[i], limits);
    if (!result) {
      if (statements.size() > 1)
        result.error().where = fmt::format("statement {} of {}", i + 1, statements.size());
      return std::move(result.error());
    }
    if (i > 0 && format != "jsonl") {
      if (auto status = sink("\n"); !status) return status;
    }
    if (auto status = write_as(**result, format, width, sink); !status) return status;
  }
  return {};
}

Status query(const Options& options, Progress& progress) {
  auto sql = read_sql(options);
  if (!sql) return std::move(sql.error());
  const std::string format = format_of(options);
  const auto statements = split_statements(*sql);
  if (statements.empty()) return usage_error("there is no SQL statement to run");
  const bool binary = format == "parquet" || format == "arrow";
  if (binary && statements.size() > 1) {
    return usage_error(
        fmt::format("{} takes one statement, and there are {}", format, statements.size()));
  }
  if (binary && options.output.empty() && isatty(STDOUT_FILENO) != 0)
    return usage_error(format + " is not for terminals", "give a file with -o");

  auto store = open_run(options.path, progress);
  if (!store) return std::move(store.error());
  const QueryLimits limits{options.timeout_s, &progress};
  DatabaseOptions settings;
  settings.memory_bytes = options.memory_mb << 20;
  if (format == "parquet") {
    auto file = TemporaryFile::beside(options.output);
    if (!file) return std::move(file.error());
    settings.writable_paths.push_back(file->path());
    auto database = Database::open(*store, settings);
    if (!database) return std::move(database.error());
    if (auto status = (*database)->write_parquet(statements[0], file->path(), limits); !status)
      return status;
    return options.output.empty() ? file->copy_to_stdout() : file->rename_to(options.output);
  }
  auto database = Database::open(*store, settings);
  if (!database) return std::move(database.error());
  if (options.output.empty()) {
    return run_statements(**database, statements, format, limits, terminal_width(STDOUT_FILENO),
                          write_out);
  }
  auto file = OutputFile::create(options.output);
  if (!file) return std::move(file.error());
  const Sink sink = [&](std::string_view text) { return file->append(text); };
  if (auto status = run_statements(**database, statements, format, limits, 0, sink); !status)
    return status;
  return file->commit();
}

}  // namespace

void add_query_command(Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App* command = program.app.add_subcommand("query", "ask a run in SQL (DuckDB's dialect)");
  command->add_option("PATH", options->path, "trace, folder of traces, or store")->required();
  command->add_option("SQL", options->sql, "statement; tables: see stepscope schema");
  command->add_option("--file", options->sql_file, "file of statements, - for standard input");
  command
      ->add_option("--format", options->format,
                   "table, csv, json, jsonl, parquet or arrow; default: by the ending of -o, else "
                   "table")
      ->check(CLI::IsMember(kFormats));
  command->add_option("-o,--output", options->output, "file to write; default: standard output");
  command
      ->add_option("--timeout", options->timeout_s, "time limit of a statement in seconds, 0: none")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--memory-mb", options->memory_mb,
                   "memory limit in MiB; default: half of the machine's")
      ->check(between(64, 1 << 24));
  command->callback([&program, options] {
    program.work = [&program, options] { return query(*options, program.progress); };
  });
}

}  // namespace stepscope
