// stepscope-generate: writes training traces of any size with known totals.

#include <chrono>
#include <cstdio>
#include <span>
#include <string>

#include "bench/generate/options.h"
#include "bench/generate/training_job.h"

int main(int argument_count, char** arguments) {
  using namespace stepscope::generate;
  const ParsedOptions parsed =
      ParseOptions(std::span<const char* const>(arguments + 1, arguments + argument_count));
  if (!parsed.error.empty()) {
    std::fprintf(stderr, "stepscope-generate: %s\nTry --help.\n", parsed.error.c_str());
    return 2;
  }
  if (parsed.options.show_help) {
    std::fputs(std::string(HelpText()).c_str(), stdout);
    return 0;
  }
  const auto start = std::chrono::steady_clock::now();
  const JobSummary summary = RunTrainingJob(parsed.options);
  if (!summary.error.empty()) {
    std::fprintf(stderr, "stepscope-generate: %s\n", summary.error.c_str());
    return 1;
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double megabytes = static_cast<double>(summary.text_bytes) / 1e6;
  std::printf("%lld trace file(s), %lld events, %.1f MB in %.2f s (%.0f MB/s); totals in %s\n",
              static_cast<long long>(summary.files), static_cast<long long>(summary.events),
              megabytes, seconds, megabytes / seconds, summary.answer_key_path.c_str());
  return 0;
}
