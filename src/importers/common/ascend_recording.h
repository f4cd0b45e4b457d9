// Where the files of one Ascend recording are. A recording is what one process wrote in one window:
// a *_ascend_pt or *_ascend_ms folder with ASCEND_PROFILER_OUTPUT in it, that folder alone, or a
// PROF_* folder with mindstudio_profiler_output/ (older: timeline/ and summary/). Told by what the
// folders hold, not by their names.
//
// Cost: lists at most four folders and reads no file but profiler_info*.json.
#ifndef STEPSCOPE_IMPORTERS_COMMON_ASCEND_RECORDING_H_
#define STEPSCOPE_IMPORTERS_COMMON_ASCEND_RECORDING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "importers/importer.h"
#include "store/rank_builder.h"

namespace stepscope {

struct AscendRecording {
  std::string folder;               // that identifies the recording: the unit of its forms
  std::vector<std::string> traces;  // trace_view.json, msprof_*.json, in the order of their parts
  std::vector<std::string> tables;  // *.csv
  std::vector<std::string> summaries;         // communication.json and other small JSON
  std::vector<std::string> databases;         // with events: ascend_*_profiler*.db, msprof_*.db
  std::vector<std::string> analyses;          // analysis.db, communication_analyzer.db
  std::vector<std::string> others;            // files that no importer of this family reads
  std::vector<std::string> collection_files;  // info.json.N, start_info.N, end_info.N of PROF_*
  std::string info_file;                      // profiler_info[_<rank>].json, "" when there is none
  std::string metadata_file;                  // profiler_metadata.json, likewise
  bool is_mindspore = false;
  bool has_tables_of_ascend = false;  // a CSV or JSON name that only these profilers write
  int64_t rank = kNull;
  bool rank_inferred = false;  // taken from a file name
  // The run in which Stepscope recorded the host while CANN filled this PROF_ folder; "": none.
  std::string host_run;
  // The folder is itself such a run: CANN's folders lie beside the files that were made from it.
  bool is_host_run = false;
  bool made_here = false;  // and these are they

  // The unit of candidates, which are parts of a run where there is one.
  void place(Candidate& candidate) const {
    candidate.part = host_run.empty() ? "" : folder;
    candidate.unit = host_run.empty() ? folder : host_run;
    candidate.made_here = made_here;
  }
  bool has_text() const { return !traces.empty() || has_tables_of_ascend; }
  bool has_database() const { return !databases.empty() || !analyses.empty(); }
};

// The recording that `folder` holds, if it holds one.
std::optional<AscendRecording> find_ascend_recording(const Folder& folder);
std::optional<AscendRecording> find_ascend_recording(const std::string& folder_path);

// The recording whose files `file` is one of, for a file that the user named; nullopt when it lies
// in no recording. A named timeline or database that is one of several stands for itself,
// everything else for the whole recording.
std::optional<RecordingAround> ascend_recording_around(const std::string& file, bool as_database);

// "kernel_details" from ".../op_summary_slice_0_20240101120000.csv" and the like: the name without
// extension, part, time, rank and device numbers, in snake_case.
std::string ascend_table_name(std::string_view path);

// Rank, world size, versions, settings and parallel layout from profiler_info, profiler_metadata
// and the files in which the collector describes itself; host and process from those or the
// folder's name. Adds the files to the sources.
void read_ascend_metadata(const AscendRecording& recording, RankBuilder& rank);

// A timeline of one kind of events (step_trace_*.json, hccl_*.json ...), beside the one of all.
bool is_partial_timeline(std::string_view path);

uint64_t total_bytes(const std::vector<std::string>& files);

// A folder's files and folders by name, sorted; empty when it cannot be read.
Folder list_folder(const std::string& path);

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_COMMON_ASCEND_RECORDING_H_
