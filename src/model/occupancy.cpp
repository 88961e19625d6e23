// Occupancy: the minimum of four quotients.
#include "model/occupancy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace roofline {
namespace {

constexpr std::int64_t kWarp = 32;
constexpr std::int64_t kRegisterUnit = 256;  // of a warp
constexpr std::int64_t kSchedulers = 4;
constexpr double kSharedUnit = 128;

std::int64_t rounded_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

std::int64_t blocks_by_registers(const KernelLaunch& kernel, const SmLimits& sm, std::int64_t warps) {
  if (kernel.registers <= 0) return std::numeric_limits<std::int64_t>::max();
  const std::int64_t per_warp = rounded_up(kernel.registers * kWarp, kRegisterUnit);
  const std::int64_t resident = sm.registers / per_warp / kSchedulers * kSchedulers;
  return resident / warps;
}

std::int64_t blocks_by_shared_memory(const KernelLaunch& kernel, const SmLimits& sm) {
  const double each = std::ceil((kernel.shared_bytes + sm.reserved_shared_bytes) / kSharedUnit) * kSharedUnit;
  return each > 0 ? static_cast<std::int64_t>(sm.shared_bytes / each) : std::numeric_limits<std::int64_t>::max();
}

}  // namespace

void fill_occupancy(KernelLaunch& kernel, const SmLimits& sm, std::int64_t sm_count) {
  const std::int64_t warps = std::max<std::int64_t>(rounded_up(kernel.threads, kWarp) / kWarp, 1);
  const std::int64_t most_warps = sm.threads / kWarp;
  // In the order of OccupancyLimit; on a tie the first is reported.
  const std::array<std::int64_t, 4> fits = {most_warps / warps, sm.blocks, blocks_by_registers(kernel, sm, warps),
                                            blocks_by_shared_memory(kernel, sm)};
  const auto* least = std::min_element(fits.begin(), fits.end());
  kernel.limit = static_cast<OccupancyLimit>(least - fits.begin());
  if (kernel.blocks_per_sm <= 0) kernel.blocks_per_sm = *least;
  const double resident = static_cast<double>(kernel.blocks_per_sm);
  kernel.occupancy = most_warps > 0 ? resident * static_cast<double>(warps) / static_cast<double>(most_warps) : 0;
  const double at_once = resident * static_cast<double>(sm_count);
  kernel.waves = at_once > 0 ? static_cast<double>(kernel.blocks) / at_once : 0;
}

}  // namespace roofline
