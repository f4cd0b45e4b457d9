#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "analyses/common/rank_rows.h"
#include "base/file.h"
#include "cli/command.h"
#include "cli/open_run.h"
#include "cli/output.h"
#include "cli/selection.h"
#include "cli/terminal.h"
#include "deliverables/chrome_trace.h"
#include "query/database.h"
#include "query/result_writer.h"

namespace stepscope {
namespace {

struct Options {
  std::string path;
  std::string format = "chrome";
  std::string ranks;
  std::string steps;
  std::string range;
  std::string output;
};

struct Choice {
  std::vector<int64_t> ranks;  // empty: all
  std::vector<int64_t> steps;  // empty: all
  TimeRange range;
};

bool has(const std::vector<int64_t>& numbers, int64_t number) {
  return numbers.empty() || std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

std::string list_text(const std::vector<int64_t>& numbers) {
  std::string out;
  for (const int64_t number : numbers) {
    if (!out.empty()) out += ", ";
    out += std::to_string(number);
  }
  return out;
}

// A file without events would look like a run in which nothing happened.
Status check_choice(const Choice& choice, const StoreReader& store, int64_t run_start_ns) {
  std::set<int64_t> steps;
  int64_t first_ns = kNull;
  int64_t last_ns = kNull;
  for (size_t rank = 0; rank < store.rank_count(); ++rank) {
    if (!has(choice.ranks, store.rank_number(rank))) continue;
    for_each_row<1>(store, Table::kSteps, rank, {"step"},
                    [&](const auto& row) { steps.insert(row[0]); });
    const int64_t start_ns = number_at(store, Table::kRanks, "first_ns", rank);
    if (start_ns != kNull) first_ns = first_ns == kNull ? start_ns : std::min(first_ns, start_ns);
    last_ns = std::max(last_ns, number_at(store, Table::kRanks, "last_ns", rank));
  }
  const auto is_there = [&](int64_t step) { return steps.contains(step); };
  if (!choice.steps.empty() && std::ranges::none_of(choice.steps, is_there)) {
    return usage_error(steps.empty() ? "--steps: the run has no steps"
                                     : fmt::format("--steps: the run has none of these; it has {} "
                                                   "to {}",
                                                   *steps.begin(), *steps.rbegin()));
  }
  if (choice.range.limited && first_ns != kNull &&
      (choice.range.from_ns > last_ns || choice.range.to_ns < first_ns)) {
    const auto seconds = [&](int64_t ns) { return static_cast<double>(ns - run_start_ns) * 1e-9; };
    return usage_error(
        fmt::format("--range: the run has nothing there; it lasts from {:.6f}s to "
                    "{:.6f}s",
                    seconds(first_ns), seconds(last_ns)));
  }
  return {};
}

Result<Choice> read_choice(const Options& options, const StoreReader& store) {
  Choice choice;
  auto ranks = parse_numbers(options.ranks);
  if (!ranks) return usage_error("--ranks: " + ranks.error().why);
  auto steps = parse_numbers(options.steps);
  if (!steps) return usage_error("--steps: " + steps.error().why);
  choice.ranks = std::move(*ranks);
  choice.steps = std::move(*steps);
  int64_t first_ns = kNull;
  bool any = false;
  for (size_t rank = 0; rank < store.rank_count(); ++rank) {
    any |= has(choice.ranks, store.rank_number(rank));
    const int64_t start_ns = store.column(Table::kRanks, "first_ns", rank).at(0);
    if (start_ns != kNull && (first_ns == kNull || start_ns < first_ns)) first_ns = start_ns;
  }
  if (!any) return usage_error("--ranks: the run has none of these", "see stepscope info");
  auto range = parse_time_range(options.range, first_ns == kNull ? 0 : first_ns);
  if (!range) return usage_error("--range: " + range.error().why);
  choice.range = *range;
  if (auto status = check_choice(choice, store, first_ns); !status)
    return std::move(status.error());
  return choice;
}

Status export_chrome(const StoreReader& store, size_t rank, const Choice& choice,
                     const std::string& path, Progress& progress) {
  auto file = OutputFile::create(path);
  if (!file) return std::move(file.error());
  ChromeTraceOptions options;
  options.from_ns = choice.range.from_ns;
  options.to_ns = choice.range.to_ns;
  options.steps = choice.steps;
  options.progress = &progress;
  const auto sink = [&](std::string_view text) { return file->append(text); };
  if (auto status = write_chrome_trace(store, rank, options, sink); !status) return status;
  return file->commit();
}

Status export_chrome_files(const StoreReader& store, const Choice& choice, const Options& options,
                           Progress& progress) {
  std::vector<size_t> positions;
  for (size_t rank = 0; rank < store.rank_count(); ++rank) {
    if (has(choice.ranks, store.rank_number(rank))) positions.push_back(rank);
  }
  if (positions.size() == 1)
    return export_chrome(store, positions[0], choice, options.output, progress);
  if (auto status = make_folder(options.output); !status) return status;
  for (const size_t rank : positions) {
    const int64_t window = store.column(Table::kRanks, "window", rank).at(0);
    const std::string name =
        window > 0 ? fmt::format("rank{}_window{}.json", store.rank_number(rank), window)
                   : fmt::format("rank{}.json", store.rank_number(rank));
    if (auto status = export_chrome(store, rank, choice, options.output + "/" + name, progress);
        !status) {
      return status;
    }
  }
  return {};
}

// The rows of a table that belong to the choice.
std::string select_text(const Database::TableName& table, const Choice& choice) {
  const auto has_column = [&](const char* name) {
    return std::find(table.columns.begin(), table.columns.end(), name) != table.columns.end();
  };
  std::vector<std::string> conditions;
  if (!choice.ranks.empty() && has_column("rank"))
    conditions.push_back("rank IN (" + list_text(choice.ranks) + ")");
  if (!choice.steps.empty() && has_column("step"))
    conditions.push_back("step IN (" + list_text(choice.steps) + ")");
  if (choice.range.limited && has_column("ts")) {
    conditions.push_back(fmt::format("ts <= {}", choice.range.to_ns));
    conditions.push_back(has_column("dur")
                             ? fmt::format("ts + greatest(dur, 0) >= {}", choice.range.from_ns)
                             : fmt::format("ts >= {}", choice.range.from_ns));
  }
  std::string sql = "SELECT * FROM " + table.name;
  for (size_t i = 0; i < conditions.size(); ++i) {
    sql += i == 0 ? " WHERE " : " AND ";
    sql += conditions[i];
  }
  return sql;
}

// main.kernels -> kernels.csv, source."op_statistic" -> source.op_statistic.csv
std::string file_name(const std::string& table, const std::string& format) {
  std::string name;
  for (const char c : table) {
    if (c == '"') continue;
    name += c == '/' || c == '\0' ? '_' : c;
  }
  return name + "." + format;
}

Status export_tables(std::shared_ptr<StoreReader> store, const Choice& choice,
                     const Options& options, Progress& progress) {
  if (auto status = make_folder(options.output); !status) return status;
  auto temporary = TemporaryFile::beside(options.output + "/x");
  if (!temporary) return std::move(temporary.error());
  DatabaseOptions settings;
  settings.writable_paths.push_back(temporary->path());
  auto database = Database::open(std::move(store), settings);
  if (!database) return std::move(database.error());
  const QueryLimits limits{0, &progress};
  for (const Database::TableName& table : (*database)->tables()) {
    const std::string sql = select_text(table, choice);
    const std::string path = options.output + "/" + file_name(table.name, options.format);
    if (options.format == "parquet") {
      if (auto status = (*database)->write_parquet(sql, temporary->path(), limits); !status)
        return status;
      if (std::rename(temporary->path().c_str(), path.c_str()) != 0)
        return system_error("cannot write", path, errno);
      continue;
    }
    auto result = (*database)->query(sql, limits);
    if (!result) return std::move(result.error());
    auto file = OutputFile::create(path);
    if (!file) return std::move(file.error());
    const Sink sink = [&](std::string_view text) { return file->append(text); };
    if (auto status = write_csv(**result, sink); !status) return status;
    if (auto status = file->commit(); !status) return status;
  }
  return {};
}

Status export_run(const Options& options, Progress& progress) {
  auto store = open_run(options.path, progress);
  if (!store) return std::move(store.error());
  auto choice = read_choice(options, **store);
  if (!choice) return std::move(choice.error());
  if (auto status = options.format == "chrome"
                        ? export_chrome_files(**store, *choice, options, progress)
                        : export_tables(*store, *choice, options, progress);
      !status) {
    return status;
  }
  std::fprintf(stderr, "stepscope: wrote %s\n", options.output.c_str());
  return {};
}

}  // namespace

void add_export_command(Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      program.app.add_subcommand("export", "write a run as Chrome JSON, CSV or Parquet files");
  command->add_option("PATH", options->path, "trace, folder of traces, or store")->required();
  command
      ->add_option("--format", options->format,
                   "chrome: JSON for Perfetto and chrome://tracing; csv, parquet: a file per table")
      ->check(CLI::IsMember({"chrome", "csv", "parquet"}))
      ->capture_default_str();
  command->add_option("--ranks", options->ranks, "ranks, such as 0,4-7; default: all");
  command->add_option("--steps", options->steps, "steps, such as 10-12; default: all");
  command->add_option("--range", options->range,
                      "time from the start of the run, such as 1.5s:2s or 200ms:, or in unix ns");
  command
      ->add_option("-o,--output", options->output,
                   "file, or folder when there are several ranks or tables")
      ->required();
  command->callback([&program, options] {
    program.work = [&program, options] { return export_run(*options, program.progress); };
  });
}

}  // namespace stepscope
