#include "importers/ascend_db/ascend_db_importer.h"

#include <algorithm>
#include <filesystem>

#include "importers/ascend_db/db_reader.h"
#include "importers/ascend_db/sqlite_file.h"
#include "importers/ascend_text/side_tables.h"
#include "importers/common/ascend_recording.h"

namespace stepscope {
namespace {

constexpr int kRichnessWithTasks = 100;
constexpr int kRichnessWithoutTasks = 10;
constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr std::string_view kTablesOfAscend[] = {"TASK",       "CANN_API",      "PYTORCH_API",
                                                "STRING_IDS", "StepTraceTime", "CommAnalyzerTime"};

bool is_ascend_database(const SqliteFile& file) {
  return std::any_of(std::begin(kTablesOfAscend), std::end(kTablesOfAscend),
                     [&](std::string_view table) { return file.has_table(table); });
}

// A file on its own: the recording is what lies beside it, if that is one.
AscendRecording recording_of(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    if (auto found = find_ascend_recording(path)) return std::move(*found);
  }
  const auto folder = std::filesystem::path(path).parent_path().string();
  AscendRecording recording;
  if (auto found = find_ascend_recording(folder.empty() ? "." : folder)) {
    recording = std::move(*found);
    recording.tables.clear();
    recording.summaries.clear();
    recording.analyses.clear();
  }
  recording.folder = path;
  recording.databases = {path};
  return recording;
}

// What a database can give, from its schema and the table that maps ranks to devices. A file that
// cannot be opened still becomes a candidate: import() then says why.
void look_into(const std::string& path, Candidate& candidate) {
  const auto file = SqliteFile::open(path, nullptr);
  if (!file.ok()) return;
  if (file->has_table("TASK")) candidate.richness = kRichnessWithTasks;
  if (candidate.rank != kNull && !candidate.rank_inferred) return;
  QualityReport ignored;
  TableScan map(*file, "RANK_DEVICE_MAP", {"rankId"}, ignored);
  if (!map.next()) return;
  const int64_t rank = map.integer(0);
  if (rank == kNull || rank < 0 || map.next()) return;
  candidate.rank = rank;
  candidate.rank_inferred = false;
}

void add_source(const SqliteFile& file, std::string_view role, int64_t rows, RankBuilder& rank) {
  const auto stamp = stamp_file(file.path());
  rank.sources.push_back({file.path(), stamp.ok() ? *stamp : FileStamp{}, std::string(role), rows});
}

}  // namespace

bool AscendDbImporter::probe_folder(const Folder& folder, std::vector<Candidate>& found) const {
  const auto recording = find_ascend_recording(folder);
  if (!recording || !recording->has_database()) return false;
  Candidate candidate;
  candidate.importer = this;
  candidate.path = folder.path;
  recording->place(candidate);
  candidate.rank = recording->rank;
  candidate.rank_inferred = recording->rank_inferred;
  candidate.richness = kRichnessWithoutTasks;
  for (const std::string& path : recording->databases) look_into(path, candidate);
  candidate.bytes = total_bytes(recording->databases) + total_bytes(recording->analyses);
  found.push_back(std::move(candidate));
  return !recording->is_host_run;
}

bool AscendDbImporter::probe_file(const std::string& path, std::string_view head,
                                  std::vector<Candidate>& found) const {
  if (!head.starts_with(kMagic)) return false;
  const auto file = SqliteFile::open(path, nullptr);
  if (file.ok() && !is_ascend_database(*file)) return false;
  if (!file.ok() && !path.ends_with(".db")) return false;
  const AscendRecording recording = recording_of(path);
  Candidate candidate;
  candidate.importer = this;
  candidate.path = path;
  candidate.unit = path;
  candidate.rank = recording.rank;
  candidate.rank_inferred = recording.rank_inferred;
  candidate.richness = kRichnessWithoutTasks;
  look_into(path, candidate);
  candidate.bytes = total_bytes({path});
  found.push_back(std::move(candidate));
  return true;
}

std::optional<RecordingAround> AscendDbImporter::recording_around(const std::string& path) const {
  return ascend_recording_around(path, true);
}

Status AscendDbImporter::import(const Candidate& candidate, const ImportContext& context,
                                RankBuilder& rank) const {
  const AscendRecording recording = recording_of(candidate.path);
  rank.info.source_format = name();
  read_ascend_metadata(recording, rank);
  rank.info.source_path = candidate.path;
  std::optional<Error> first_failure;
  int read = 0;
  const auto failed = [&](Error error) {
    rank.quality.add(QualityCode::kUnreadableFile, error.message());
    if (!first_failure) first_failure = std::move(error);
  };
  for (const std::string& path : recording.databases) {
    auto file = SqliteFile::open(path, &context.progress);
    if (!file.ok()) {
      failed(std::move(file.error()));
      continue;
    }
    if (!is_ascend_database(*file)) {
      failed({ErrorCode::kNotRecognised, "cannot import the database", path,
              "it has none of the tables of an Ascend profiler",
              "name the folder or the ascend_pytorch_profiler_<rank>.db of the recording"});
      continue;
    }
    DbReader reader(*file, recording.is_mindspore, context.progress, rank);
    const int64_t rows = reader.read_all();
    add_source(*file, "database", rows, rank);
    context.progress.add_done_bytes(total_bytes({path}));
    ++read;
  }
  for (const std::string& path : recording.analyses) {
    auto file = SqliteFile::open(path, &context.progress);
    if (!file.ok()) {
      failed(std::move(file.error()));
      continue;
    }
    int64_t rows = 0;
    for (const std::string& table : file->tables()) {
      rows += keep_database_table(*file, table, snake_case(table), rank);
    }
    add_source(*file, "analysis", rows, rank);
    context.progress.add_done_bytes(total_bytes({path}));
    ++read;
  }
  if (context.progress.cancelled()) {
    return Error{ErrorCode::kCancelled, "import stopped", candidate.path, "", ""};
  }
  if (read == 0) {
    if (first_failure) return std::move(*first_failure);
    return Error{ErrorCode::kNotFound, "cannot import", candidate.path,
                 "there is no Ascend database in it", "name the folder that holds *.db"};
  }
  keep_side_tables(recording, rank);
  apply_communication_times(rank);
  if (rank.info.rank_inferred) {
    rank.quality.add(QualityCode::kRankInferred, "taken as rank " + std::to_string(rank.info.rank));
  }
  return {};
}

}  // namespace stepscope
