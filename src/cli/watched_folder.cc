#include "cli/watched_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include <nlohmann/json.hpp>

#include "base/file.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr uint64_t kLargestFile = 1 << 20;
constexpr char kConfigName[] = "profiler_config.json";
constexpr char kStatusFolder[] = ".stepscope";
constexpr auto kLockPatience = std::chrono::seconds(5);
constexpr double kLargestNumber = 9e15;  // a double still counts one by one

Json json_file(const std::string& path) {
  auto text = read_file(path, kLargestFile);
  return text ? Json::parse(*text, nullptr, false) : Json(Json::value_t::discarded);
}

std::string text_in(const Json& json, const char* key) {
  const auto at = json.find(key);
  return at != json.end() && at->is_string() ? at->get<std::string>() : std::string();
}

double number_in(const Json& json, const char* key) {
  const auto at = json.find(key);
  const double value = at != json.end() && at->is_number() ? at->get<double>() : 0;
  return std::isfinite(value) ? std::clamp(value, -kLargestNumber, kLargestNumber) : 0;
}

int64_t whole_in(const Json& json, const char* key) {
  return static_cast<int64_t>(number_in(json, key));
}

std::string own_host() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

std::string link_target(const std::string& path) {
  std::error_code error;
  return fs::read_symlink(path, error).string();
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
bool is_alive(const Json& json, const WatchingRank& rank) {
  if (rank.state == "ended") return false;
  static const std::string host = own_host();
  static const std::string names = link_target("/proc/self/ns/pid");
  if (rank.host == host && text_in(json, "pid_namespace") == names && !names.empty()) {
    const std::string started = started_ticks(rank.process);
    return !started.empty() && started == text_in(json, "started");
  }
  return rank.age_seconds < 3 * number_in(json, "next_update_s") + 5;
}

std::optional<StepWindow> window_in(const Json& pair) {
  if (!pair.is_array() || pair.size() != 2) return std::nullopt;
  if (!pair[0].is_number_integer() || !pair[1].is_number_integer()) return std::nullopt;
  return StepWindow{pair[0].get<int64_t>(), pair[1].get<int64_t>()};
}

WatchingRank rank_in(const Json& json) {
  WatchingRank rank;
  rank.rank = whole_in(json, "rank");
  rank.host = text_in(json, "host");
  rank.process = whole_in(json, "pid");
  rank.state = text_in(json, "state");
  if (json.contains("window")) rank.window = window_in(json["window"]);
  rank.request = text_in(json, "request");
  rank.taken = text_in(json, "taken");
  rank.step = whole_in(json, "step");
  rank.steps_per_second = std::max(number_in(json, "steps_per_second"), 0.0);
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  rank.age_seconds = std::max(now.count() - number_in(json, "updated"), 0.0);
  rank.poll_seconds = std::clamp(number_in(json, "poll_interval_s"), 0.0, 3600.0);
  rank.output = text_in(json, "output");
  rank.error = text_in(json, "error");
  if (rank.error.empty() && !text_in(json, "refused").empty())
    rank.error = "the configuration is not taken: " + text_in(json, "refused");
  rank.alive = is_alive(json, rank);
  return rank;
}

// As a new file has it (docs/dynamic.md).
Json default_configuration() {
  return Json{{"start_step", -1},
              {"stop_step", -1},
              {"aicore_metrics", -1},
              {"profiler_level", -1},
              {"profile_framework", -1},
              {"analyse_mode", -1},
              {"profile_communication", false},
              {"parallel_strategy", false},
              {"with_stack", false},
              {"data_simplification", true}};
}

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

// The processes of this user that watch a folder. Entries of those that are gone are removed.
std::vector<Registered> registered() {
  std::vector<Registered> found;
  std::error_code error;
  for (const std::string& folder : registries()) {
    struct stat about{};
    // Somebody else's folder could name any place to write to.
    if (::lstat(folder.c_str(), &about) != 0 || about.st_uid != ::getuid()) continue;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      if (entry.path().extension() != ".json") continue;
      const Json json = json_file(entry.path().string());
      if (!json.is_object()) continue;
      Registered one{whole_in(json, "pid"), text_in(json, "cfg_path"), {}};
      const std::string started = started_ticks(one.process);
      if (started.empty() || started != text_in(json, "started")) {
        fs::remove(entry.path(), error);
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
  const fs::path whole = fs::absolute(path, error);
  const bool names_file = whole.extension() == ".json" && !fs::is_directory(whole, error);
  folder_ = (names_file ? whole.parent_path() : whole).string();
  file_ = (names_file ? whole : whole / kConfigName).string();
}

Result<std::vector<WatchingRank>> WatchedFolder::ranks() const {
  std::vector<WatchingRank> ranks;
  const fs::path folder = fs::path(folder_) / kStatusFolder;
  std::error_code error;
  if (!fs::exists(folder, error)) return ranks;
  fs::directory_iterator files(folder, error);
  if (error) return system_error("cannot see the ranks", folder.string(), error.value());
  for (const auto& entry : files) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("rank_") || entry.path().extension() != ".json") continue;
    const Json json = json_file(entry.path().string());
    if (json.is_object() && json.contains("rank")) ranks.push_back(rank_in(json));
  }
  std::ranges::sort(ranks, {}, [](const WatchingRank& rank) {
    return std::make_tuple(rank.rank, !rank.alive, rank.process);
  });
  return ranks;
}

std::optional<StepWindow> WatchedFolder::asked() const {
  const Json json = json_file(file_);
  if (!json.is_object()) return std::nullopt;
  const StepWindow steps{whole_in(json, "start_step"), whole_in(json, "stop_step")};
  return steps.first > 0 && steps.last >= steps.first ? std::optional(steps) : std::nullopt;
}

Status WatchedFolder::write(const CaptureRequest& request) const {
  Json json = json_file(file_);
  if (!json.is_object()) json = default_configuration();
  json["start_step"] = request.steps.first;
  json["stop_step"] = request.steps.last;
  json["profiler_level"] = request.level;
  json["with_stack"] = request.with_stack;
  if (request.analyse) json["analyse_mode"] = 1;
  json.erase("ranks");
  if (!request.ranks.empty()) json["ranks"] = request.ranks;
  json["request"] = request.id;
  auto out = OutputFile::create(file_);
  if (!out) return std::move(out.error());
  if (auto done = out->append(json.dump(4, ' ', false, Json::error_handler_t::replace) + "\n");
      !done)
    return done;
  return out->commit();
}

WatchedFolder::Lock::~Lock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<WatchedFolder::Lock> WatchedFolder::lock() const {
  const std::string path = folder_ + "/" + kStatusFolder + "/lock";
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0660);
  if (descriptor < 0) return system_error("cannot ask for steps", path, errno);
  Lock held(descriptor);
  const auto until = std::chrono::steady_clock::now() + kLockPatience;
  while (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return system_error("cannot ask for steps", path, errno);
    if (std::chrono::steady_clock::now() > until)
      return Error{ErrorCode::kLimit, "cannot ask for steps", path,
                   "another `stepscope capture` has been writing for 5 s", "try again"};
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return held;
}

Result<WatchedFolder> find_watched_folder(const std::string& target) {
  std::error_code error;
  if (fs::is_directory(target, error) || target.ends_with(".json")) return WatchedFolder(target);
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
  if (folders.size() == 1) return WatchedFolder(folders[0]);
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

int64_t reachable_step(const std::vector<WatchingRank>& ranks) {
  int64_t furthest = 0;
  double rate = 0;
  double delay = 1.0;  // to write, to be read, and what a busy machine adds
  for (const WatchingRank& rank : ranks) {
    // What clocks of other machines say about the age is not believed beyond a minute.
    const double since = rank.steps_per_second * std::min(rank.age_seconds, 60.0);
    furthest = std::max(furthest, rank.step + static_cast<int64_t>(since));
    rate = std::max(rate, rank.steps_per_second);
    delay = std::max(delay, 1.0 + rank.poll_seconds);
  }
  // The step behind the furthest has begun; the one behind that is the first to be chosen.
  return furthest + 2 + static_cast<int64_t>(std::ceil(rate * delay));
}

}  // namespace stepscope
