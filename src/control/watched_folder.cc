#include "control/watched_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/folder.h"
#include "json/json_members.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr uint64_t kLargestFile = 1 << 20;
constexpr char kConfigName[] = "profiler_config.json";
constexpr char kStatusFolder[] = ".stepscope";
constexpr auto kLockPatience = std::chrono::seconds(5);

std::string own_host() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

std::string own_process_names() {
  std::error_code error;
  return fs::read_symlink("/proc/self/ns/pid", error).string();
}

// The fields of /proc/PID/stat behind the program's name, which may hold anything; none where there
// is no such process.
std::vector<std::string> process_fields(int64_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text(std::istreambuf_iterator<char>(file), {});
  const size_t name_end = text.rfind(')');
  std::istringstream rest(name_end == std::string::npos ? "" : text.substr(name_end + 1));
  return {std::istream_iterator<std::string>(rest), {}};
}

std::string started_ticks(int64_t process) {
  const auto fields = process_fields(process);
  return fields.size() > 19 && fields[0] != "Z" ? fields[19] : "";
}

int64_t parent_of(int64_t process) {
  const auto fields = process_fields(process);
  return fields.size() > 1 ? std::strtoll(fields[1].c_str(), nullptr, 10) : 0;
}

// Where this machine can see the process it is asked, elsewhere what it tells must be fresh.
bool is_alive(const std::string& text, const WatchingRank& rank) {
  if (rank.state == "ended") return false;
  const Json json = ordered_json_tree(text);
  const std::string names = own_process_names();
  if (rank.host == own_host() && !names.empty() && text_in(json, "pid_namespace") == names) {
    const std::string started = started_ticks(rank.process);
    return !started.empty() && started == text_in(json, "started");
  }
  const auto due = json.find("next_update_s");
  return due != json.end() && due->is_number() && rank.age_seconds < 3 * due->get<double>() + 5;
}

// The configuration of a folder, with its lock.
class FolderEdit : public ConfigEdit {
 public:
  FolderEdit(std::string file, std::string text, int lock)
      : ConfigEdit(std::move(text)), file_(std::move(file)), lock_(lock) {}
  ~FolderEdit() override { ::close(lock_); }

 private:
  Status store(const std::string& text) override {
    auto out = OutputFile::create(file_);
    if (!out) return std::move(out.error());
    if (Status done = out->append(text); !done) return done;
    return out->commit();
  }
  std::string file_;
  int lock_;
};

std::vector<std::string> registries() {
  std::vector<std::string> folders;
  const char* const own = ::getenv("XDG_RUNTIME_DIR");
  if (own != nullptr && *own != '\0') folders.push_back(std::string(own) + "/stepscope");
  folders.push_back("/tmp/stepscope-" + std::to_string(::getuid()));
  return folders;
}

struct Registered {
  int64_t process = 0;
  std::string folder;
  std::vector<std::string> jobs;
};

// The processes of this user that watch a folder. Entries of those that are gone are removed; those
// of other machines and containers, which may share the folder, are theirs.
std::vector<Registered> registered() {
  std::vector<Registered> found;
  const std::string host = own_host();
  const std::string process_names = own_process_names();
  std::error_code error;
  for (const std::string& folder : registries()) {
    struct stat about{};
    // Somebody else's folder could name any place to write to.
    if (::lstat(folder.c_str(), &about) != 0 || about.st_uid != ::getuid()) continue;
    for (const fs::path& path : paths_in(folder, error)) {
      if (path.extension() != ".json") continue;
      const auto text = read_file(path.string(), kLargestFile);
      const Json json = ordered_json_tree(text ? *text : "");
      if (!json.is_object() || !json.contains("pid") || !json["pid"].is_number_integer()) continue;
      if (text_in(json, "host") != host || text_in(json, "pid_namespace") != process_names)
        continue;
      Registered one{json["pid"].get<int64_t>(), text_in(json, "cfg_path"), {}};
      const std::string started = started_ticks(one.process);
      if (started.empty() || started != text_in(json, "started")) {
        fs::remove(path, error);
        continue;
      }
      if (json.contains("jobs") && json["jobs"].is_array()) {
        for (const Json& job : json["jobs"])
          if (job.is_string()) one.jobs.push_back(job.get<std::string>());
      }
      found.push_back(std::move(one));
    }
  }
  return found;
}

bool is_or_descends(int64_t process, int64_t ancestor) {
  for (int depth = 0; process > 1 && depth < 64; ++depth, process = parent_of(process)) {
    if (process == ancestor) return true;
  }
  return false;
}

}  // namespace

WatchedFolder::WatchedFolder(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error).lexically_normal();
  const bool names_file = whole.extension() == ".json" && !fs::is_directory(whole, error);
  folder_ = (names_file ? whole.parent_path() : whole).string();
  file_ = (names_file ? whole : whole / kConfigName).string();
}

Result<std::vector<WatchingRank>> WatchedFolder::ranks() const {
  std::vector<WatchingRank> ranks;
  const fs::path folder = fs::path(folder_) / kStatusFolder;
  std::error_code error;
  if (!fs::exists(folder, error)) return ranks;
  const std::vector<fs::path> files = paths_in(folder, error);
  if (error) return system_error("cannot see the ranks", folder.string(), error.value());
  for (const fs::path& path : files) {
    if (!path.filename().string().starts_with("rank_") || path.extension() != ".json") continue;
    const auto text = read_file(path.string(), kLargestFile);
    auto rank = text ? parse_rank(*text) : std::nullopt;
    if (!rank) continue;
    rank->alive = is_alive(*text, *rank);
    ranks.push_back(std::move(*rank));
  }
  sort_ranks(ranks);
  return ranks;
}

Result<std::unique_ptr<ConfigEdit>> WatchedFolder::edit() const {
  const std::string path = folder_ + "/" + kStatusFolder + "/lock";
  const int lock = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0660);
  if (lock < 0) return system_error("cannot ask for steps", path, errno);
  auto edit = std::make_unique<FolderEdit>(file_, "", lock);  // closes it in every case
  const auto until = std::chrono::steady_clock::now() + kLockPatience;
  while (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return system_error("cannot ask for steps", path, errno);
    if (std::chrono::steady_clock::now() > until)
      return Error{ErrorCode::kLimit, "cannot ask for steps", path,
                   "another `stepscope capture` has been writing for 5 s", "try again"};
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const auto text = read_file(file_, kLargestFile);
  edit->set_text(text ? *text : "");
  return std::unique_ptr<ConfigEdit>(std::move(edit));
}

Result<std::string> registered_folder(const std::string& target) {
  const bool is_number = !target.empty() && target.size() < 10 &&
                         target.find_first_not_of("0123456789") == std::string::npos;
  const int64_t process = is_number ? std::strtoll(target.c_str(), nullptr, 10) : 0;
  const std::vector<Registered> all = registered();
  std::vector<std::string> folders;
  for (const Registered& one : all) {
    const bool matches = (process > 0 && is_or_descends(one.process, process)) ||
                         std::ranges::find(one.jobs, target) != one.jobs.end();
    if (matches && std::ranges::find(folders, one.folder) == folders.end())
      folders.push_back(one.folder);
  }
  if (folders.size() == 1) return folders[0];
  Error missing{ErrorCode::kNotFound, "cannot find the training", target, "", ""};
  if (folders.size() > 1) {
    missing.why = "its processes watch several folders";
    missing.remedy = "name one of them: ";
    for (const std::string& folder : folders) missing.remedy += folder + " ";
    missing.remedy.pop_back();
    return missing;
  }
  missing.why = process > 0 && started_ticks(process).empty()
                    ? "there is no such folder, process or job here"
                    : "0 matched: there is no such folder, and no process of this user on this "
                      "machine that watches one is it, descends from it or has this job's name";
  missing.remedy = "name the folder that DynamicProfilerMonitor was given as cfg_path";
  for (const Registered& one : all)
    missing.remedy += "; process " + std::to_string(one.process) + " watches " + one.folder;
  return missing;
}

}  // namespace stepscope
