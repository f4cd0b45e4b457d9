#include "importers/discover.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "base/file.h"
#include "base/hash.h"
#include "base/own_files.h"
#include "packed/text_source.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

constexpr size_t kHeadBytes = 64 * 1024;
constexpr int kDeepestFolder = 24;
constexpr size_t kMostEntries = 2'000'000;
constexpr size_t kMostZipMembers = 4096;  // each is found by the whole list of the zip's members

struct Listing {
  Folder folder;
  bool readable = true;
};

Listing list_folder(const std::string& path) {
  Listing listing;
  listing.folder.path = path;
  std::error_code error;
  for (fs::directory_iterator at(path, error), end; at != end; at.increment(error)) {
    if (error) break;
    const std::string name = at->path().filename().string();
    std::error_code ignored;
    const fs::file_status status = at->symlink_status(ignored);
    if (fs::is_directory(status))
      listing.folder.folders.push_back(name);
    else if ((fs::is_regular_file(status) ||
              (fs::is_symlink(status) && at->is_regular_file(ignored))) &&
             !is_own_store(name)) {
      listing.folder.files.push_back(name);
    }
  }
  listing.readable = !error;
  std::sort(listing.folder.files.begin(), listing.folder.files.end());
  std::sort(listing.folder.folders.begin(), listing.folder.folders.end());
  return listing;
}

// A folder of files that were made here of the raw data beside it: they can be made again, and
// opening a run does not depend on them.
bool is_own_output(const fs::path& folder) {
  std::error_code ignored;
  return folder.filename() == kProfilerOutputFolder &&
         fs::exists(folder / kOutputMarker, ignored) &&
         fs::is_directory(folder.parent_path() / kFrameworkFolder, ignored);
}

// What a profiler of ours wrote about a recording. It is no part of the input: the recording says
// it too, and step times come behind the window's end, when the run may have been opened already.
bool is_own_description(const fs::path& file) {
  std::error_code ignored;
  const std::string name = file.filename().string();
  return (name.starts_with("profiler_info_") || name == "profiler_metadata.json") &&
         fs::exists(file.parent_path() / kFrameworkFolder / kRawFileName, ignored);
}

class Walk {
 public:
  std::vector<Candidate> found;
  size_t entries = 0;
  std::vector<std::string> unreadable;  // files and folders
  std::vector<std::string> limits;      // where the search was given up, in words
  std::vector<LeftOut> left_out;

  // `form`: the only importer to ask; "" for all.
  void file(const std::string& path, std::string_view form = {}) {
    ++entries;
    if (const auto members = zip_members(path); members.size() > 1) return zip(path, members, form);
    const std::string head = read_text_head(path, kHeadBytes);
    if (head.empty() && !InputFile::open(path)) {
      unreadable.push_back(path);
      return;
    }
    for (const Importer* importer : importers()) {
      if (!form.empty() && importer->name() != form) continue;
      if (importer->probe_file(path, head, found)) return;
    }
  }

  void folder(const std::string& path, int depth) {
    const Listing listing = list_folder(path);
    if (!listing.readable) unreadable.push_back(path);
    bool claimed = false;
    for (const Importer* importer : importers())
      claimed |= importer->probe_folder(listing.folder, found);
    if (claimed) return;
    for (const std::string& name : listing.folder.files) {
      if (may_go_on()) file(path + "/" + name);
    }
    if (depth >= kDeepestFolder && !listing.folder.folders.empty()) {
      limits.push_back(path + ": the folders in it were not looked into, they are more than " +
                       std::to_string(kDeepestFolder) + " levels deep");
      return;
    }
    for (const std::string& name : listing.folder.folders) {
      if (!may_go_on()) break;
      ++entries;
      folder(path + "/" + name, depth + 1);
    }
  }

 private:
  // Every member that is a trace is read, as a file of a folder would be.
  void zip(const std::string& path, const std::vector<ZipMember>& members, std::string_view form) {
    const size_t before = found.size();
    LeftOut others;
    for (size_t at = 0; at < members.size(); ++at) {
      const ZipMember& member = members[at];
      if (at < kMostZipMembers && may_go_on() && zip_member(path, member, form)) continue;
      if (others.count++ == 0) others.text = member.name;
    }
    if (others.count == 0 || found.size() == before) return;
    others.text = path + ": " + std::to_string(others.count) + " of its " +
                  std::to_string(members.size()) + " members " +
                  (others.count == 1 ? "was" : "were") + " not read (" + others.text +
                  (others.count == 1 ? "" : " ...") + "); unpack it and import the folder";
    left_out.push_back(std::move(others));
  }

  bool zip_member(const std::string& path, const ZipMember& member, std::string_view form) {
    ++entries;
    const std::string inside = path + "/" + member.name;
    const std::string head = read_text_head(inside, kHeadBytes);
    for (const Importer* importer : importers()) {
      if (!importer->reads_packed() || (!form.empty() && importer->name() != form)) continue;
      if (!importer->probe_file(inside, head, found)) continue;
      found.back().bytes = member.packed_bytes;
      found.back().text_bytes = member.text_bytes;
      return true;
    }
    return false;
  }

  bool may_go_on() {
    if (entries < kMostEntries) return true;
    if (!gave_up_) {
      limits.push_back("only the first " + std::to_string(kMostEntries) +
                       " files and folders were looked at");
    }
    gave_up_ = true;
    return false;
  }

  bool gave_up_ = false;
};

struct NamedFile {
  const Importer* importer = nullptr;  // nullptr: the file stands alone
  RecordingAround around;
};

NamedFile look_around(const std::string& path, std::string_view form) {
  for (const Importer* importer : importers()) {
    if (!form.empty() && importer->name() != form) continue;
    if (auto around = importer->recording_around(path)) return {importer, std::move(*around)};
  }
  return {};
}

// A file that the user named: the recording it is a part of, or the file alone.
void walk_named_file(const std::string& path, std::string_view form, Walk& walk,
                     std::vector<std::string>* notes) {
  const NamedFile named = look_around(path, form);
  const auto note = [&](const std::string& text) {
    if (notes != nullptr) notes->push_back(path + text);
  };
  const std::string others =
      std::to_string(named.around.other_files) + " other files of its recording";
  if (named.importer == nullptr || !named.around.read_whole) {
    walk.file(path, form);
    if (named.importer == nullptr || named.around.other_files == 0) return;
    return note(" was read without the " + others + "; name " + named.around.folder +
                " to read them all");
  }
  const size_t before = walk.found.size();
  named.importer->probe_folder(list_folder(named.around.folder).folder, walk.found);
  if (walk.found.size() == before) return walk.file(path, form);
  if (named.around.other_files > 0) {
    note(" was read with the " + others + ", " + named.around.folder);
  }
}

// The same recording, named twice.
void drop_repeated(std::vector<Candidate>& found) {
  std::set<std::tuple<const Importer*, std::string, int64_t>> seen;
  std::erase_if(found, [&](const Candidate& candidate) {
    return !seen.insert({candidate.importer, candidate.path, candidate.rank}).second;
  });
}

// An export that lies beside what it was made of is a form of it, and never the one to read.
void join_exports(std::vector<Candidate>& found) {
  const auto is_named = [](const std::string& path, const std::string& name) {
    return fs::path(path).filename() == name;
  };
  for (Candidate& made : found) {
    if (made.export_of.empty()) continue;
    for (const Candidate& source : found) {
      const bool is_source =
          &source != &made && source.export_of.empty() &&
          (is_named(source.unit, made.export_of) || is_named(source.path, made.export_of)) &&
          (made.rank_inferred || made.rank == source.rank);
      if (!is_source) continue;
      made.unit = source.unit;
      made.rank = source.rank;
      made.richness = 0;
      made.made_here = true;
      break;
    }
  }
}

// Numbers candidates that do not know their rank: the lowest numbers that are free, in order of
// path.
void number_ranks(std::vector<Candidate>& candidates) {
  std::set<int64_t> taken;
  std::map<std::string, int64_t> by_unit;
  for (const Candidate& candidate : candidates) {
    if (candidate.rank == kNull) continue;
    taken.insert(candidate.rank);
    by_unit.try_emplace(candidate.unit, candidate.rank);
  }
  int64_t next = 0;
  for (Candidate& candidate : candidates) {
    if (candidate.rank != kNull) continue;
    candidate.rank_inferred = true;
    const auto [known, added] = by_unit.try_emplace(candidate.unit, 0);
    if (added) {
      while (taken.contains(next)) ++next;
      taken.insert(next);
      known->second = next;
    }
    candidate.rank = known->second;
  }
}

// Why a file whose text begins like this is none that can be imported.
std::string not_recognised(const std::string& path) {
  const auto stamp = stamp_file(path);
  if (stamp && stamp->bytes == 0) return "the file is empty";
  if (const size_t members = zip_members(path).size(); members > 1)
    return "none of the " + std::to_string(members) + " members of the zip is a trace";
  const std::string head = read_text_head(path, kHeadBytes);
  if (head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF"))
    return "its text is UTF-16; save it as UTF-8";
  std::string words;
  for (const char c : head)
    if (static_cast<unsigned char>(c) > ' ') words += c;
  if (words == "[]") return "its list of events is empty; the profiler wrote nothing into it";
  return "no importer recognises its content";
}

Error nothing_found(const std::vector<std::string>& paths, const Walk& walk,
                    std::string_view form) {
  Error error{ErrorCode::kNotRecognised, "nothing to import", paths.empty() ? "" : paths.front(),
              "", ""};
  std::error_code ignored;
  const bool folder = !paths.empty() && fs::is_directory(paths.front(), ignored);
  if (!walk.unreadable.empty()) {
    error.code = ErrorCode::kPermission;
    error.why = walk.unreadable.front() + " cannot be read";
    if (walk.unreadable.size() > 1)
      error.why += ", nor " + std::to_string(walk.unreadable.size() - 1) + " others";
    error.remedy = "check owner and mode";
    return error;
  }
  if (!folder && !paths.empty()) {
    error.why = not_recognised(paths.front());
  } else {
    error.why = walk.entries == 0 ? "the folder is empty"
                                  : std::to_string(walk.entries) +
                                        " files and folders, none is a trace or profile";
    if (!walk.limits.empty()) error.why += "; " + walk.limits.front();
  }
  error.remedy = form.empty() ? "known are:" : "with --form " + std::string(form) + "; known are:";
  for (const Importer* importer : importers()) error.remedy += " " + std::string(importer->name());
  return error;
}

// Folders inside of a form that was found already are that form.
void drop_nested(std::vector<Candidate>& forms) {
  std::erase_if(forms, [&](const Candidate& inner) {
    return std::any_of(forms.begin(), forms.end(), [&](const Candidate& outer) {
      return inner.part.empty() && outer.importer == inner.importer && inner.path != outer.path &&
             inner.path.starts_with(outer.path + "/");
    });
  });
}

// Among forms of one unit, richest first: the one to read with its part, and the rest. Importers
// expect a rank without others of their kind in it, so that of several parts (a recording in which
// the device was recorded several times) the first is read with it, and each other one for itself.
std::vector<RankSource> choose(std::vector<Candidate> forms) {
  std::map<std::string, std::vector<Candidate>> by_part;  // "" is the recording of the host
  for (Candidate& form : forms) by_part[form.part].push_back(std::move(form));
  std::vector<RankSource> sources;
  for (auto& [part, forms_of_it] : by_part) {
    const bool joins = sources.size() == 1 && sources[0].chosen.part.empty() && !sources[0].part;
    RankSource& source = joins ? sources[0] : sources.emplace_back();
    if (joins)
      source.part = std::move(forms_of_it.front());
    else
      source.chosen = std::move(forms_of_it.front());
    for (Candidate& other : std::span(forms_of_it).subspan(1))
      if (!other.made_here) source.others.push_back(std::move(other));
  }
  return sources;
}

}  // namespace

Result<std::vector<RankSource>> discover(const std::vector<std::string>& paths,
                                         std::string_view form, std::vector<std::string>* notes,
                                         std::vector<std::string>* limits,
                                         std::vector<LeftOut>* left_out) {
  if (!form.empty() && find_importer(form) == nullptr) {
    Error error{ErrorCode::kNotFound, "unknown form", std::string(form), "", "known are:"};
    for (const Importer* importer : importers())
      error.remedy += " " + std::string(importer->name());
    return error;
  }
  Walk walk;
  for (const std::string& path : paths) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status))
      return system_error("cannot open", path, error ? error.value() : ENOENT);
    if (fs::is_directory(status)) {
      walk.folder(path, 0);
    } else {
      // Opening tells why it cannot be read better than "nothing found".
      auto readable = InputFile::open(path);
      if (!readable) return std::move(readable.error());
      walk_named_file(path, form, walk, notes);
    }
  }
  std::vector<Candidate>& found = walk.found;
  if (!form.empty())
    std::erase_if(found, [&](const Candidate& c) { return c.importer->name() != form; });
  drop_repeated(found);
  if (found.empty()) return nothing_found(paths, walk, form);
  for (const std::string& path : walk.unreadable) {
    if (notes != nullptr) notes->push_back(path + " cannot be read and was left out");
  }
  if (limits != nullptr) *limits = walk.limits;
  if (left_out != nullptr) *left_out = std::move(walk.left_out);
  join_exports(found);
  number_ranks(found);

  // Forms of one unit and rank belong together; the richest is read, and what is part of it.
  std::map<std::tuple<int64_t, std::string>, std::vector<Candidate>> units;
  for (Candidate& candidate : found)
    units[{candidate.rank, candidate.unit}].push_back(std::move(candidate));
  std::vector<RankSource> sources;
  std::map<int64_t, int64_t> windows;
  for (auto& [key, forms] : units) {
    drop_nested(forms);
    std::stable_sort(forms.begin(), forms.end(), [](const Candidate& a, const Candidate& b) {
      return a.richness > b.richness;
    });
    for (RankSource& source : choose(std::move(forms))) {
      source.window = windows[std::get<0>(key)]++;
      sources.push_back(std::move(source));
    }
  }
  return sources;
}

Result<uint64_t> stamp_paths(const std::vector<std::string>& paths, FileStamps* files) {
  uint64_t stamp = paths.size();
  // Names count from the path that was given, so a run that was moved as a whole keeps its store.
  // Sums, because folder listings have no order.
  const auto add_file = [&](const std::string& name, const FileStamp& file) {
    stamp +=
        mix64(hash_bytes(name), mix64(file.bytes + 1, static_cast<uint64_t>(file.modified_ns) | 1));
  };
  for (const std::string& named : paths) {
    std::error_code error;
    std::string path = named;
    if (!fs::is_directory(path, error)) {
      const auto file = stamp_file(path);
      if (!file) return file.error();
      add_file(fs::path(path).filename().string(), *file);
      if (files != nullptr) files->insert_or_assign(path, *file);
      const NamedFile part = look_around(path, "");
      if (part.importer == nullptr || !part.around.read_whole) continue;
      path = part.around.folder;
    }
    fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, error);
    for (const fs::recursive_directory_iterator end; at != end; at.increment(error)) {
      if (error) break;
      if (at.depth() > kDeepestFolder) at.disable_recursion_pending();
      std::error_code ignored;
      if (at->is_directory(ignored) && is_own_output(at->path())) {
        at.disable_recursion_pending();
        continue;
      }
      const std::string file_path = at->path().string();
      if (!at->is_regular_file(ignored) || is_own_store(at->path().filename().string()) ||
          is_own_description(at->path()))
        continue;
      const auto file = stamp_file(file_path);
      if (!file) continue;
      add_file(file_path.substr(path.size()), *file);
      if (files != nullptr) files->insert_or_assign(file_path, *file);
    }
  }
  return stamp;
}

Status check_unchanged(const FileStamps& before, const std::vector<SourceFile>& read) {
  for (const SourceFile& source : read) {
    const auto known = before.find(source.path);
    if (known == before.end() || source.role == "ignored") continue;
    if (source.role == "raw") continue;  // our own recording may go on; all of its chunks are whole
    const auto now = stamp_file(source.path);
    if (now && *now == known->second) continue;
    return Error{ErrorCode::kChanged, "cannot import", source.path,
                 now ? "the file changed while it was being read"
                     : "the file was removed while it was being read",
                 "wait until it is completely written, then import again"};
  }
  return {};
}

}  // namespace stepscope
