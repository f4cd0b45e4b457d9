#include "api/run.h"

#include <algorithm>
#include <mutex>
#include <set>

#include "analyses/run_analyses.h"
#include "analyses/user_settings.h"
#include "api/analysis_columns.h"
#include "api/query_columns.h"
#include "api/run_summary.h"
#include "api/table_columns.h"
#include "base/file.h"
#include "base/parallel.h"
#include "deliverables/chrome_trace.h"
#include "deliverables/report/report.h"
#include "importers/import_run.h"
#include "query/database.h"
#include "query/name_hint.h"
#include "store/store_reader.h"

namespace stepscope {
namespace {

constexpr std::string_view kSourceSchema = "source.";

// source."name" as SQL needs it, without the quotes.
std::string plain_name(const std::string& sql_name) {
  if (!sql_name.starts_with(kSourceSchema)) return sql_name;
  std::string out(kSourceSchema);
  for (size_t i = kSourceSchema.size() + 1; i + 1 < sql_name.size(); ++i) {
    out += sql_name[i];
    if (sql_name[i] == '"') ++i;  // quotes are doubled
  }
  return out;
}

// "did you mean ...?", or the names themselves when there are few or none is near.
std::string suggest(std::string_view wrong, const std::vector<std::string>& names) {
  constexpr size_t kFew = 8;
  size_t least = wrong.size() / 2 + 1;
  std::string best;
  std::string all;
  for (size_t i = 0; i < names.size(); ++i) {
    const size_t edits = edit_distance(wrong, names[i]);
    if (edits <= least) least = edits, best = names[i];
    if (i < kFew) all += (all.empty() ? "" : ", ") + names[i];
  }
  if (!best.empty()) return "did you mean " + best + "?";
  return "there are: " + all + (names.size() > kFew ? ", ..." : "");
}

Error no_column(const std::string& table, const std::string& wanted,
                const std::vector<std::string>& names) {
  return {ErrorCode::kNotFound, "cannot read the table", table, "it has no column " + wanted,
          suggest(wanted, names)};
}

void number_repeated_names(TableData& data) {
  std::set<std::string> taken;
  for (const ColumnData& column : data.columns) taken.insert(column.name);
  std::set<std::string> used;
  for (ColumnData& column : data.columns) {
    if (used.insert(column.name).second) continue;
    std::string name;
    int number = 2;
    do {
      name = column.name + "_" + std::to_string(number++);
    } while (taken.contains(name) || !used.insert(name).second);
    column.name = std::move(name);
  }
}

template <class Row, size_t N>
Result<TableData> columns_of(const Result<std::vector<Row>>& rows, const Field<Row> (&fields)[N]) {
  if (!rows) return rows.error();
  return read_result_columns(make_table("", "", *rows, fields));
}

}  // namespace

struct Run::State {
  std::vector<std::string> paths;
  OpenOptions options;
  ImportedRun imported;
  std::shared_ptr<StoreReader> store;
  AnalysisOptions settings;

  // Opened when it is first needed: most uses of table() are not.
  Result<Database*> database() {
    const std::lock_guard lock(database_mutex_);
    if (!database_) {
      auto opened = Database::open(store, {options.memory_bytes, options.jobs, {}});
      if (!opened) return std::move(opened.error());
      database_ = std::move(*opened);
    }
    return database_.get();
  }

  RunAnalyses& analyses() {
    std::call_once(analyses_flag_,
                   [&] { analyses_ = std::make_unique<RunAnalyses>(store, settings); });
    return *analyses_;
  }

  Result<TableData> schema_table(Table table, const std::optional<std::vector<std::string>>& names,
                                 const Progress& progress) const;
  Result<TableData> other_table(std::string_view name,
                                const std::optional<std::vector<std::string>>& columns,
                                const Progress& progress);

 private:
  std::mutex database_mutex_;
  std::unique_ptr<Database> database_;
  std::once_flag analyses_flag_;
  std::unique_ptr<RunAnalyses> analyses_;
};

Result<TableData> Run::State::schema_table(Table table,
                                           const std::optional<std::vector<std::string>>& names,
                                           const Progress& progress) const {
  const TableSpec& spec = table_spec(table);
  std::vector<size_t> positions;
  if (!names) {
    for (size_t i = 0; i < spec.columns.size(); ++i) {
      if (spec.columns[i].origin != Origin::kArgs) positions.push_back(i);
    }
  } else {
    for (const std::string& name : *names) {
      positions.push_back(find_column(spec, name));
      if (positions.back() < spec.columns.size()) continue;
      std::vector<std::string> known;
      for (const Column& column : spec.columns) known.emplace_back(column.name);
      return no_column(std::string(spec.name), name, known);
    }
  }
  const unsigned threads = options.jobs == 0 ? available_cpus() : options.jobs;
  return read_table_columns(*store, table, positions, threads, progress);
}

// Tables that only SQL knows: runs, and those of the input.
Result<TableData> Run::State::other_table(std::string_view name,
                                          const std::optional<std::vector<std::string>>& columns,
                                          const Progress& progress) {
  auto opened = database();
  if (!opened) return std::move(opened.error());
  std::vector<std::string> known;
  for (const Database::TableName& table : (*opened)->tables()) {
    known.push_back(plain_name(table.name));
    if (known.back() != name) continue;
    std::string list;
    for (const std::string& column : columns.value_or(table.columns)) {
      if (std::find(table.columns.begin(), table.columns.end(), column) == table.columns.end())
        return no_column(known.back(), column, table.columns);
      list += (list.empty() ? "" : ", ") + quote_name(column);
    }
    if (list.empty()) return TableData{};
    auto result = (*opened)->query("SELECT " + list + " FROM " + table.name, {0, &progress});
    if (!result) return std::move(result.error());
    return read_query_columns(**result);
  }
  return Error{ErrorCode::kNotFound, "no such table", std::string(name), "", suggest(name, known)};
}

Run::Run(std::unique_ptr<State> state) : state_(std::move(state)) {}
Run::~Run() = default;

Result<std::shared_ptr<Run>> Run::open(const std::vector<std::string>& paths,
                                       const OpenOptions& options, Progress& progress) {
  auto analysis = analysis_options();
  if (!analysis) return std::move(analysis.error());
  ImportOptions settings;
  settings.form = options.form;
  settings.jobs = options.jobs;
  settings.memory_bytes = options.memory_bytes;
  settings.force = options.force;
  auto imported = import_run(paths, settings, progress);
  if (!imported) return std::move(imported.error());
  auto store = StoreReader::open(imported->store_path);
  if (!store) return std::move(store.error());
  auto state = std::make_unique<State>();
  state->settings = std::move(*analysis);
  state->settings.threads = options.jobs;
  state->paths = paths;
  state->options = options;
  state->imported = std::move(*imported);
  state->store = std::move(*store);
  return std::shared_ptr<Run>(new Run(std::move(state)));
}

const std::vector<std::string>& Run::paths() const { return state_->paths; }
const std::string& Run::store_path() const { return state_->imported.store_path; }
uint64_t Run::store_bytes() const { return state_->store->file_bytes(); }
bool Run::imported() const { return state_->imported.imported; }
const std::vector<std::string>& Run::notes() const { return state_->imported.notes; }
size_t Run::rank_count() const { return state_->store->rank_count(); }

Result<std::vector<TableInfo>> Run::tables() {
  auto opened = state_->database();
  if (!opened) return std::move(opened.error());
  std::vector<TableInfo> out;
  for (const Database::TableName& table : (*opened)->tables()) {
    TableInfo& info = out.emplace_back();
    info.name = plain_name(table.name);
    const size_t position = find_table(info.name);
    if (position < kTableCount) info.doc = stepscope::tables()[position].doc;
    for (const std::string& name : table.columns) {
      TableInfo::Column& column = info.columns.emplace_back(TableInfo::Column{name, {}});
      if (position == kTableCount) continue;
      const TableSpec& spec = stepscope::tables()[position];
      const size_t at = find_column(spec, name);
      if (at < spec.columns.size()) column.doc = spec.columns[at].doc;
    }
  }
  return out;
}

Result<TableData> Run::table(std::string_view name,
                             const std::optional<std::vector<std::string>>& columns,
                             const Progress& progress) {
  const size_t position = find_table(name);
  return position < kTableCount
             ? state_->schema_table(static_cast<Table>(position), columns, progress)
             : state_->other_table(name, columns, progress);
}

Result<TableData> Run::query(std::string_view sql, double seconds, const Progress& progress) {
  auto opened = state_->database();
  if (!opened) return std::move(opened.error());
  auto result = (*opened)->query(sql, {seconds, &progress});
  if (!result) return std::move(result.error());
  auto data = read_query_columns(**result);
  if (data) number_repeated_names(*data);
  return data;
}

std::vector<TableInfo> Run::analyses() const {
  std::vector<TableInfo> out;
  for (const ResultTable& table : RunAnalyses::descriptions()) {
    TableInfo& info = out.emplace_back();
    info.name = table.name();
    info.doc = table.doc();
    for (const AnalysisColumn& column : table.columns())
      info.columns.push_back({std::string(column.name), std::string(column.doc)});
  }
  return out;
}

Result<TableData> Run::analysis(std::string_view name) {
  const auto table = state_->analyses().table(name);
  if (!table) return table.error();
  return read_result_columns(*table);
}

Result<std::string> Run::analysis_reason(std::string_view name) {
  if (const auto table = state_->analyses().table(name); !table) return table.error();
  std::string text;
  for (const Reason& reason : state_->analyses().reasons(name))
    text += (text.empty() ? "" : "; ") + reason.why;
  return text;
}

Result<TableData> Run::critical_path(std::optional<int64_t> rank, std::optional<int64_t> step) {
  return columns_of(state_->analyses().critical_path_of({rank, step}), kCriticalPathFields);
}

Result<TableData> Run::critical_path_segments(std::optional<int64_t> rank,
                                              std::optional<int64_t> step) {
  return columns_of(state_->analyses().critical_path_segments_of({rank, step}), kPathSegmentFields);
}

Result<TableData> Run::what_if(std::string_view what, double factor, std::optional<int64_t> rank,
                               std::optional<int64_t> step) {
  const auto change = make_what_if(what, factor);
  if (!change) return change.error();
  return columns_of(state_->analyses().what_if(*change, {rank, step}), kWhatIfFields);
}

TableData Run::find_operators(std::string_view search, size_t limit) {
  const std::vector<OperatorRow>& all = state_->analyses().operators().operators;
  std::vector<OperatorRow> found;
  for (const size_t at : stepscope::find_operators(all, search, limit)) found.push_back(all[at]);
  return read_result_columns(make_table("", "", found, kOperatorFields));
}

Result<std::string> Run::report(std::string_view format) {
  std::string name = state_->paths.empty() ? store_path() : state_->paths.front();
  while (name.size() > 1 && name.ends_with('/')) name.pop_back();
  name = name.substr(name.rfind('/') + 1);
  if (format == "json") return report_json(state_->analyses(), name);
  const Report content = make_report(state_->analyses(), name);
  if (format == "text") return report_text(content, 0, false);
  if (format == "markdown") return report_markdown(content);
  if (format == "html") return report_html(content);
  return Error{ErrorCode::kUnsupported, "cannot report", std::string(format), "no such format",
               "there are: text, markdown, html, json"};
}

Result<uint64_t> Run::write_chrome_trace(int64_t rank, const std::string& path,
                                         const Progress& progress) {
  const StoreReader& store = *state_->store;
  for (size_t at = 0; at < store.rank_count(); ++at) {
    if (store.rank_number(at) != rank) continue;
    auto file = OutputFile::create(path);
    if (!file) return std::move(file.error());
    ChromeTraceOptions options;
    options.progress = &progress;
    const auto sink = [&](std::string_view text) { return file->append(text); };
    if (auto status = stepscope::write_chrome_trace(store, at, options, sink); !status)
      return std::move(status.error());
    const uint64_t bytes = file->position();
    if (auto status = file->commit(); !status) return std::move(status.error());
    return bytes;
  }
  return Error{ErrorCode::kNotFound, "cannot export", store_path(),
               "it has no rank " + std::to_string(rank), "see the table ranks"};
}

Result<std::string> Run::info_json(const Progress& progress) {
  auto opened = state_->database();
  if (!opened) return std::move(opened.error());
  auto summary = summarise_run(*state_->store, **opened, {0, &progress});
  if (!summary) return std::move(summary.error());
  return summary_json(*summary);
}

}  // namespace stepscope
