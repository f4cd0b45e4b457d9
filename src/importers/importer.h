// The importer interface: one implementation per format, each in its own folder, listed in
// registry.cc.
//
// A run is found by walking what the user named: every folder and file is shown to every importer,
// which answers with candidates. Candidates of one unit are forms of the same data (text and
// database of one recording): the richest is read, and its part with it. Different units of one
// rank are recording windows, read as rows of `ranks` of their own.
#ifndef STEPSCOPE_IMPORTERS_IMPORTER_H_
#define STEPSCOPE_IMPORTERS_IMPORTER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "store/rank_builder.h"

namespace stepscope {

class Importer;

struct Candidate {
  const Importer* importer = nullptr;
  std::string path;  // file or folder that import() gets
  std::string unit;  // forms of the same recording share it (usually the recording's folder)
  int64_t rank =
      kNull;  // kNull: not said; discovery numbers such candidates and marks them as inferred
  bool rank_inferred = false;  // the number comes from a name or place, not from the content
  int richness = 0;            // among forms of one unit the highest is taken
  uint64_t bytes = 0;          // what import() will read, for progress and the memory budget
  uint64_t text_bytes = 0;     // unpacked, where that is known; 0: not
  // What a device's own profiler left beside a recording of the host: not another form of it, but a
  // part, read into the same rank. Forms of one part have the same name here; "": it is none.
  std::string part;
  // Made by us from another form of its unit: not worth a note that it is not read.
  bool made_here = false;
  // The name of the file or folder that this one was exported from; "": not by us.
  std::string export_of;
};

// A folder and what is directly in it, sorted by name. Links are not followed out of the tree the
// user named.
struct Folder {
  std::string path;
  std::vector<std::string> files;    // names
  std::vector<std::string> folders;  // names

  bool has_file(std::string_view name) const;
  bool has_folder(std::string_view name) const;
};

// A file that the user named, seen as a part of a recording.
struct RecordingAround {
  std::string folder;       // of the recording
  size_t other_files = 0;   // of the recording, beside the named one
  bool read_whole = false;  // false: the named file is read alone
};

struct ImportContext {
  Progress& progress;         // add_done_bytes() as input is consumed; stop soon when cancelled()
  unsigned threads = 1;       // this import may use
  uint64_t memory_bytes = 0;  // this import should stay below; 0: no limit
};

class Importer {
 public:
  virtual ~Importer() = default;

  // The word for --form and ranks.source_format.
  virtual std::string_view name() const = 0;
  // One line for help and docs: what it reads.
  virtual std::string_view description() const = 0;

  // Looks at a folder (by its content, not only its name). Returns true when the folder and
  // everything in it is accounted for, so that discovery does not descend; candidates may be added
  // either way.
  virtual bool probe_folder(const Folder& folder, std::vector<Candidate>& found) const;

  // Whether a file that it recognises may as well be a member of a zip ("runs.zip/rank1.json"): it
  // reads through TextSource.
  virtual bool reads_packed() const { return false; }

  // Looks at a single file: `head` is its first bytes (up to 64 KiB, decompressed when the file is
  // compressed).
  virtual bool probe_file(const std::string& path, std::string_view head,
                          std::vector<Candidate>& found) const;

  // The recording that a file named by the user belongs to, for formats whose files mean little one
  // by one. nullopt: the file stands alone. Folders that discovery walks are not asked about.
  virtual std::optional<RecordingAround> recording_around(const std::string& path) const;

  // Reads one candidate into `rank`. Fails only when nothing useful could be read; everything else
  // is a quality entry.
  virtual Status import(const Candidate& candidate, const ImportContext& context,
                        RankBuilder& rank) const = 0;
};

// All importers, richest formats first. Static objects without state.
const std::vector<const Importer*>& importers();
const Importer* find_importer(std::string_view name);

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_IMPORTER_H_
