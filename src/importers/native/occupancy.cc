#include "importers/native/occupancy.h"

#include <algorithm>
#include <cmath>

namespace stepscope {
namespace {

constexpr int64_t kRegistersAtOnce = 256;  // a warp gets them in such pieces
constexpr int64_t kWarpsAtOnce = 4;        // registers lie in four files, one for every fourth warp
constexpr int64_t kSharedAtOnce = 128;
constexpr int64_t kSharedOfTheSystem = 1024;  // in every block, from compute capability 8 on
constexpr int64_t kMost = int64_t{1} << 32;   // larger numbers are no launch

int64_t rounded_up(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

bool plausible(int64_t value) { return value >= 0 && value < kMost; }

}  // namespace

int32_t estimated_occupancy(const MultiprocessorLimits& limits, const LaunchShape& launch) {
  const bool known = limits.multiprocessors > 0 && limits.threads_per_warp > 0 &&
                     limits.warps > 0 && limits.blocks > 0 && limits.registers > 0 &&
                     limits.shared_bytes > 0;
  if (!known || launch.threads_per_block <= 0 || !plausible(launch.threads_per_block) ||
      launch.blocks < 0 || !plausible(launch.registers_per_thread) ||
      !plausible(launch.shared_bytes) || !plausible(limits.warps) ||
      !plausible(limits.threads_per_warp) || !plausible(limits.registers)) {
    return -1;
  }
  const int64_t warps =
      rounded_up(launch.threads_per_block, limits.threads_per_warp) / limits.threads_per_warp;
  int64_t resident = std::min(limits.blocks, limits.warps / warps);
  if (launch.registers_per_thread > 0) {
    const int64_t of_a_warp =
        rounded_up(launch.registers_per_thread * limits.threads_per_warp, kRegistersAtOnce);
    const int64_t warps_that_fit = limits.registers / of_a_warp / kWarpsAtOnce * kWarpsAtOnce;
    resident = std::min(resident, warps_that_fit / warps);
  }
  const int64_t shared = rounded_up(
      launch.shared_bytes + (limits.compute_major >= 8 ? kSharedOfTheSystem : 0), kSharedAtOnce);
  if (shared > 0) resident = std::min(resident, limits.shared_bytes / shared);
  const double blocks =
      std::min(static_cast<double>(resident),
               static_cast<double>(launch.blocks) / static_cast<double>(limits.multiprocessors));
  const double filled = blocks * static_cast<double>(launch.threads_per_block) /
                        static_cast<double>(limits.warps * limits.threads_per_warp);
  return static_cast<int32_t>(std::lround(std::clamp(filled, 0.0, 1.0) * 100));
}

}  // namespace stepscope
