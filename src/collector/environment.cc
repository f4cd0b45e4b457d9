#include "collector/environment.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/decimal.h"
#include "collector/clock.h"

namespace stepscope {
namespace {

// The most specific launcher first: a job of torchrun inside Slurm has both. As in Python's
// profiler/ranks.py.
constexpr const char* kRankVariables[] = {"RANK_ID", "RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
                                          "SLURM_PROCID"};

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// A number above 0 and at most `most`, times `scale`, at least 1; what is not set stays as it is.
Status read_number(const char* name, double most, double scale, uint32_t& into) {
  const std::string text = variable(name);
  if (text.empty()) return {};
  const double value = parse_double(text).value_or(0);
  if (!(value > 0 && value <= most)) {
    return Error{ErrorCode::kBadInput, "cannot start recording", name,
                 "\"" + text + "\" is not a number above 0 and up to " +
                     std::to_string(static_cast<int64_t>(most)),
                 "correct or unset it"};
  }
  into = std::max(static_cast<uint32_t>(value * scale), 1u);
  return {};
}

Status make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0750) == 0 || errno == EEXIST) return {};
  return system_error("cannot create the run's folder", path, errno);
}

}  // namespace

Result<EnvironmentRequest> read_environment() {
  EnvironmentRequest request;
  request.output = variable("STEPSCOPE_OUTPUT");
  const std::string tier = variable("STEPSCOPE_TIER");
  if (tier == "pulse") {
    request.gpu_tier = 1;
  } else if (tier == "full") {
    request.gpu_tier = 3;
  } else if (!tier.empty() && tier != "kernels") {
    return Error{ErrorCode::kBadInput, "cannot start recording", "STEPSCOPE_TIER",
                 "\"" + tier + "\" is no tier", "use pulse, kernels or full"};
  }
  struct Number {
    const char* name;
    double most;
    double scale;
    uint32_t& into;
  };
  constexpr double kMostGb = (1 << 22) - 1;  // as many megabytes fit
  const Number numbers[] = {
      {"STEPSCOPE_SYSTEM_INTERVAL_MS", 60'000, 1, request.system_interval_ms},
      {"STEPSCOPE_MAX_HOST_MB", kMostGb, 1, request.max_host_mb},
      {"STEPSCOPE_MAX_DISK_GB", kMostGb, 1024, request.max_disk_mb},
      {"STEPSCOPE_MIN_FREE_GB", kMostGb, 1024, request.min_free_mb},
  };
  for (const Number& number : numbers) {
    if (auto read = read_number(number.name, number.most, number.scale, number.into); !read)
      return std::move(read.error());
  }
  for (const char* const name : kRankVariables) {
    const std::string text = variable(name);
    char* end = nullptr;
    const long long rank = std::strtoll(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0' || rank < 0) continue;
    request.rank = rank;
    break;
  }
  return request;
}

Result<std::string> make_run_folder(const std::string& output) {
  // Every part of the path that is missing, as mkdir -p does.
  for (size_t at = output.find('/', 1); at != std::string::npos; at = output.find('/', at + 1)) {
    if (auto made = make_folder(output.substr(0, at)); !made) return std::move(made.error());
  }
  if (auto made = make_folder(output); !made) return std::move(made.error());
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  const int64_t now_ms = sample_clocks().realtime_ns / 1'000'000;
  const time_t seconds = now_ms / 1000;
  tm utc{};
  ::gmtime_r(&seconds, &utc);
  char moment[32];
  const size_t length = ::strftime(moment, sizeof moment, "%Y%m%d%H%M%S", &utc);
  std::snprintf(moment + length, sizeof moment - length, "%03d", static_cast<int>(now_ms % 1000));
  const std::string run =
      output + "/" + host + "_" + std::to_string(::getpid()) + "_" + moment + "_ascend_ms";
  if (auto made = make_folder(run); !made) return std::move(made.error());
  if (auto made = make_folder(run + "/FRAMEWORK"); !made) return std::move(made.error());
  return run + "/FRAMEWORK";
}

}  // namespace stepscope
