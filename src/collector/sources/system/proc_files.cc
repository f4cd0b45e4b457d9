#include "collector/sources/system/proc_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

namespace stepscope {
namespace {

constexpr int64_t kSectorBytes = 512;  // of /proc/diskstats, whatever the disk has
constexpr size_t kMostFileBytes = 1 << 20;
// Any thread may have started processes, and each has a file to read: 5 us.
constexpr size_t kMostParentThreads = 4096;

// Takes the text apart into words between blanks.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  std::string_view next() {
    const size_t start = text_.find_first_not_of(" \t");
    if (start == std::string_view::npos) return {};
    text_.remove_prefix(start);
    const size_t end = std::min(text_.find_first_of(" \t"), text_.size());
    const std::string_view word = text_.substr(0, end);
    text_.remove_prefix(end);
    return word;
  }
  int64_t number() {
    const std::string_view word = next();
    int64_t value = 0;
    std::from_chars(word.data(), word.data() + word.size(), value);
    return value;
  }
  void skip(int words) {
    while (words-- > 0) next();
  }

 private:
  std::string_view text_;
};

bool next_line(std::string_view& text, std::string_view& line) {
  if (text.empty()) return false;
  const size_t end = std::min(text.find('\n'), text.size());
  line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return true;
}

// "sda" and "nvme0n1", not "sda1" and "nvme0n1p2", nor what lies on top of disks.
bool is_whole_disk(std::string_view name) {
  const auto ends_in_digit = [](std::string_view text) {
    return !text.empty() && text.back() >= '0' && text.back() <= '9';
  };
  for (const std::string_view prefix : {"sd", "vd", "xvd", "hd"}) {
    if (name.starts_with(prefix)) return !ends_in_digit(name);
  }
  return name.starts_with("nvme") && name.find('p') == std::string_view::npos;
}

}  // namespace

std::optional<MachineTotals> parse_machine(std::string_view stat) {
  MachineTotals totals;
  std::string_view line;
  bool has_cpu = false;
  while (next_line(stat, line)) {
    Words words(line);
    const std::string_view key = words.next();
    if (key == "cpu") {
      int64_t field[8];  // user nice system idle iowait irq softirq steal
      for (int64_t& value : field) value = words.number();
      totals.user = field[0] + field[1];
      totals.system = field[2] + field[5] + field[6];
      totals.idle = field[3];
      totals.iowait = field[4];
      for (const int64_t value : field) totals.all += value;
      has_cpu = true;
    } else if (key.starts_with("cpu")) {
      ++totals.processors;
    } else if (key == "ctxt") {
      totals.context_switches = words.number();
    } else if (key == "procs_running") {
      totals.runnable = words.number();
    }
  }
  if (!has_cpu) return std::nullopt;
  return totals;
}

std::optional<TaskTotals> parse_task(std::string_view stat) {
  // The name is in parentheses and may contain any of them itself.
  const size_t open = stat.find('(');
  const size_t close = stat.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return std::nullopt;
  TaskTotals task;
  task.id = Words(stat.substr(0, open)).number();
  task.name = stat.substr(open + 1, close - open - 1);
  Words words(stat.substr(close + 1));
  words.skip(11);  // state to cmajflt
  task.cpu = words.number();
  task.cpu += words.number();
  words.skip(4);  // cutime to nice
  task.threads = words.number();
  words.skip(1);  // itrealvalue
  task.started = words.number();
  return task;
}

ByteTotals parse_disks(std::string_view diskstats) {
  ByteTotals totals;
  std::string_view line;
  while (next_line(diskstats, line)) {
    Words words(line);
    words.skip(2);
    if (!is_whole_disk(words.next())) continue;
    words.skip(2);
    totals.in += words.number() * kSectorBytes;
    words.skip(3);
    totals.out += words.number() * kSectorBytes;
  }
  return totals;
}

ByteTotals parse_network(std::string_view dev) {
  ByteTotals totals;
  std::string_view line;
  while (next_line(dev, line)) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;  // the two lines of the head
    if (Words(line.substr(0, colon)).next() == "lo") continue;
    Words words(line.substr(colon + 1));
    totals.in += words.number();
    words.skip(7);
    totals.out += words.number();
  }
  return totals;
}

std::string ProcFiles::read(const std::string& name) const {
  const int file = ::open((root_ + "/" + name).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::string text;
  char buffer[4096];
  ssize_t got = 0;
  while (text.size() < kMostFileBytes && (got = ::read(file, buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<size_t>(got));
  ::close(file);
  return text;
}

std::optional<MachineTotals> ProcFiles::machine() const { return parse_machine(read("stat")); }

std::optional<TaskTotals> ProcFiles::process(int64_t pid) const {
  return parse_task(read(std::to_string(pid) + "/stat"));
}

std::optional<int64_t> ProcFiles::resident_bytes(int64_t pid) const {
  const std::string text = read(std::to_string(pid) + "/statm");
  if (text.empty()) return std::nullopt;
  Words words(text);
  words.skip(1);
  return words.number() * ::sysconf(_SC_PAGESIZE);
}

std::vector<std::string> ProcFiles::thread_folders(int64_t pid, size_t most) const {
  std::vector<std::string> folders;
  const std::string folder = std::to_string(pid) + "/task";
  DIR* const listing = ::opendir((root_ + "/" + folder).c_str());
  if (listing == nullptr) return folders;
  while (const dirent* entry = ::readdir(listing)) {
    if (folders.size() >= most) break;
    if (entry->d_name[0] != '.') folders.push_back(folder + "/" + entry->d_name);
  }
  ::closedir(listing);
  return folders;
}

std::vector<TaskTotals> ProcFiles::threads(int64_t pid, size_t most) const {
  std::vector<TaskTotals> threads;
  for (const std::string& folder : thread_folders(pid, most)) {
    if (auto task = parse_task(read(folder + "/stat"))) threads.push_back(std::move(*task));
  }
  return threads;
}

Descendants ProcFiles::descendants(int64_t pid, size_t most) const {
  Descendants all;
  std::vector<int64_t> parents = {pid};
  while (!parents.empty()) {
    const int64_t parent = parents.back();
    parents.pop_back();
    // Children belong to the thread that started them.
    auto threads = thread_folders(parent, kMostParentThreads + 1);
    if (threads.size() > kMostParentThreads) {
      threads.pop_back();
      all.complete = false;
    }
    for (const std::string& thread : threads) {
      const std::string text = read(thread + "/children");
      Words words(text);
      for (int64_t child = words.number(); child > 0; child = words.number()) {
        if (all.found.size() >= most) {
          all.complete = false;
          return all;
        }
        all.found.push_back(child);
        parents.push_back(child);
      }
    }
  }
  return all;
}

ByteTotals ProcFiles::disks() const { return parse_disks(read("diskstats")); }

ByteTotals ProcFiles::network() const { return parse_network(read("net/dev")); }

}  // namespace stepscope
