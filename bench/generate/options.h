// What the user asked the generator for. Parsing never exits or prints: main() decides.

#ifndef STEPSCOPE_BENCH_GENERATE_OPTIONS_H_
#define STEPSCOPE_BENCH_GENERATE_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stepscope::generate {

// One rank whose compute kernels take `factor` times as long as everyone else's.
struct Straggler {
  int rank = 0;
  double factor = 1.0;
};

// One link whose transfers take `factor` times as long.
struct SlowLink {
  int rank_a = 0;
  int rank_b = 0;
  double factor = 1.0;
};

struct Options {
  std::string output;
  int ranks = 1;
  int steps = 5;
  int layers = 12;
  int64_t size_bytes = 0;  // Per rank file; 0: one batch per step, whatever size that gives.
  uint64_t seed = 1;
  bool gzip = false;
  bool show_help = false;

  // Planted causes. None of them set is a healthy job.
  std::optional<Straggler> straggler;
  std::optional<SlowLink> slow_link;
  int64_t clock_skew_ns = 0;      // Clocks of ranks other than 0 are off by up to this much.
  double slow_data_factor = 1.0;  // The data loader takes this many times as long.
  bool tiny_kernels = false;      // Kernels so short that launching them is the limit.
  bool memory_leak = false;       // A tensor per batch that nothing frees.
  bool sync_points = false;       // .item() after every linear layer.
  bool low_mfu = false;           // Matrix kernels at a fraction of the rate they could have.
};

struct ParsedOptions {
  Options options;
  std::string error;  // Empty when the arguments make sense.
};

[[nodiscard]] ParsedOptions ParseOptions(std::span<const char* const> arguments);

// Whether --output names one trace file; otherwise it is a folder.
[[nodiscard]] bool IsTraceFileName(std::string_view path);

[[nodiscard]] std::string_view HelpText();

}  // namespace stepscope::generate

#endif  // STEPSCOPE_BENCH_GENERATE_OPTIONS_H_
