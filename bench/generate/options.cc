#include "bench/generate/options.h"

#include <charconv>
#include <vector>

namespace stepscope::generate {
namespace {

constexpr int kMaxRanks = 4096;
constexpr int kMaxSteps = 10'000'000;
constexpr int kMaxLayers = 4096;

template <typename Number>
bool ParseNumber(std::string_view text, Number least, Number most, Number* out) {
  Number value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return false;
  if (!(value >= least && value <= most)) return false;
  *out = value;
  return true;
}

bool ParseFactor(std::string_view text, double* out) { return ParseNumber(text, 1.0, 1e6, out); }

// RANK:FACTOR
bool ParseStraggler(std::string_view text, std::optional<Straggler>* out) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  Straggler straggler;
  if (!ParseNumber(text.substr(0, colon), 0, kMaxRanks, &straggler.rank)) return false;
  if (!ParseFactor(text.substr(colon + 1), &straggler.factor)) return false;
  *out = straggler;
  return true;
}

// RANK-RANK:FACTOR
bool ParseSlowLink(std::string_view text, std::optional<SlowLink>* out) {
  const size_t dash = text.find('-');
  const size_t colon = text.find(':');
  if (dash == std::string_view::npos || colon == std::string_view::npos || colon < dash) {
    return false;
  }
  SlowLink link;
  if (!ParseNumber(text.substr(0, dash), 0, kMaxRanks, &link.rank_a)) return false;
  if (!ParseNumber(text.substr(dash + 1, colon - dash - 1), 0, kMaxRanks, &link.rank_b)) {
    return false;
  }
  if (!ParseFactor(text.substr(colon + 1), &link.factor)) return false;
  if (link.rank_a == link.rank_b) return false;
  *out = link;
  return true;
}

bool ParseSizeMb(std::string_view text, int64_t* out_bytes) {
  double megabytes = 0;
  if (!ParseNumber(text, 0.001, 1e7, &megabytes)) return false;
  *out_bytes = static_cast<int64_t>(megabytes * 1e6);
  return true;
}

bool ParseSkew(std::string_view text, int64_t* out_ns) {
  double microseconds = 0;
  if (!ParseNumber(text, 0.0, 1e9, &microseconds)) return false;
  *out_ns = static_cast<int64_t>(microseconds * 1000.0);
  return true;
}

bool ParseValue(std::string_view flag, std::string_view value, Options* options) {
  if (flag == "--output" || flag == "-o") {
    options->output = value;
    return !value.empty();
  }
  if (flag == "--ranks") return ParseNumber(value, 1, kMaxRanks, &options->ranks);
  if (flag == "--steps") return ParseNumber(value, 1, kMaxSteps, &options->steps);
  if (flag == "--layers") return ParseNumber(value, 1, kMaxLayers, &options->layers);
  if (flag == "--size-mb") return ParseSizeMb(value, &options->size_bytes);
  if (flag == "--seed") {
    return ParseNumber<uint64_t>(value, 0, UINT64_MAX, &options->seed);
  }
  if (flag == "--straggler") return ParseStraggler(value, &options->straggler);
  if (flag == "--slow-link") return ParseSlowLink(value, &options->slow_link);
  if (flag == "--clock-skew-us") return ParseSkew(value, &options->clock_skew_ns);
  if (flag == "--slow-data") return ParseFactor(value, &options->slow_data_factor);
  return value == "kineto";  // --format
}

bool TakesValue(std::string_view flag) {
  for (const std::string_view known :
       {"--output", "-o", "--ranks", "--steps", "--layers", "--size-mb", "--seed", "--straggler",
        "--slow-link", "--clock-skew-us", "--slow-data", "--format"}) {
    if (flag == known) return true;
  }
  return false;
}

bool SetSwitch(std::string_view flag, Options* options, bool* healthy) {
  if (flag == "--tiny-kernels") return options->tiny_kernels = true;
  if (flag == "--memory-leak") return options->memory_leak = true;
  if (flag == "--sync-points") return options->sync_points = true;
  if (flag == "--low-mfu") return options->low_mfu = true;
  if (flag == "--gzip") return options->gzip = true;
  if (flag == "--healthy") return *healthy = true;
  if (flag == "--help" || flag == "-h") return options->show_help = true;
  return false;
}

bool HasPlantedCause(const Options& options) {
  return options.straggler || options.slow_link || options.clock_skew_ns != 0 ||
         options.slow_data_factor != 1.0 || options.tiny_kernels || options.memory_leak ||
         options.sync_points || options.low_mfu;
}

std::string FindContradiction(const Options& options, bool healthy) {
  if (options.output.empty()) return "--output is missing: name a folder or FILE.json[.gz]";
  if (healthy && HasPlantedCause(options)) return "--healthy excludes every planted cause";
  if (IsTraceFileName(options.output) && options.ranks > 1) {
    return "--output must be a folder when there is more than one rank";
  }
  if (options.straggler && options.straggler->rank >= options.ranks) {
    return "--straggler names a rank that does not exist";
  }
  if (options.slow_link &&
      (options.slow_link->rank_a >= options.ranks || options.slow_link->rank_b >= options.ranks)) {
    return "--slow-link names a rank that does not exist";
  }
  return "";
}

}  // namespace

ParsedOptions ParseOptions(std::span<const char* const> arguments) {
  ParsedOptions parsed;
  bool healthy = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string_view flag = arguments[i];
    if (SetSwitch(flag, &parsed.options, &healthy)) continue;
    std::string_view value;
    const size_t equals = flag.find('=');
    if (equals != std::string_view::npos) {
      value = flag.substr(equals + 1);
      flag = flag.substr(0, equals);
    }
    if (!TakesValue(flag)) {
      parsed.error = "unknown option " + std::string(flag);
      return parsed;
    }
    if (equals == std::string_view::npos) {
      if (++i == arguments.size()) {
        parsed.error = std::string(flag) + " needs a value";
        return parsed;
      }
      value = arguments[i];
    }
    if (!ParseValue(flag, value, &parsed.options)) {
      parsed.error = "cannot use '" + std::string(value) + "' as the value of " + std::string(flag);
      return parsed;
    }
  }
  if (!parsed.options.show_help) parsed.error = FindContradiction(parsed.options, healthy);
  return parsed;
}

bool IsTraceFileName(std::string_view path) {
  return path.ends_with(".json") || path.ends_with(".json.gz");
}

std::string_view HelpText() {
  return R"(stepscope-generate: writes training traces of any size with known totals

  stepscope-generate --output DIR | FILE.json | FILE.json.gz [options]

The answer key goes to DIR/expected.json, or to FILE.expected.json.

Size
  --ranks N            ranks, one file each (1); more than one needs DIR
  --steps N            ProfilerSteps per rank (5)
  --layers N           transformer layers (12)
  --size-mb M          repeat batches inside the steps until each file has about M million bytes
  --gzip               compress the files in DIR
  --format kineto      what to write (kineto)
  --seed S             the same seed gives the same bytes (1)

Planted causes
  --straggler RANK:FACTOR    this rank's kernels take FACTOR times as long; the others wait for it
  --slow-link A-B:FACTOR     transfers between two ranks take FACTOR times as long
  --clock-skew-us X          clocks of ranks 1 and up are off by up to X microseconds
  --slow-data FACTOR         the data loader takes FACTOR times as long (20 starves the device)
  --tiny-kernels             kernels of a few microseconds: launching them is the limit
  --memory-leak              64 MiB more per batch that nothing frees
  --sync-points              .item() after every linear layer
  --low-mfu                  matrix kernels take eight times as long
  --healthy                  say that none of these is wanted
)";
}

}  // namespace stepscope::generate
