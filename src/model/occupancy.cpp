// Occupancy: the minimum of four quotients. What would raise it: the same with one of them changed.
#include "model/occupancy.hpp"

#include <algorithm>
#include <array>
#include <charconv>
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

std::int64_t warps_of(const KernelLaunch& kernel) {
  return std::max<std::int64_t>(rounded_up(kernel.threads, kWarp) / kWarp, 1);
}

/// Blocks that fit, by limit; in the order of OccupancyLimit.
std::array<std::int64_t, 4> blocks_that_fit(const KernelLaunch& kernel, const SmLimits& sm) {
  const std::int64_t warps = warps_of(kernel);
  return {sm.threads / kWarp / warps, sm.blocks, blocks_by_registers(kernel, sm, warps),
          blocks_by_shared_memory(kernel, sm)};
}

/// Share of an SM's warps.
double possible_occupancy(const KernelLaunch& kernel, const SmLimits& sm) {
  const auto fits = blocks_that_fit(kernel, sm);
  const std::int64_t resident = *std::min_element(fits.begin(), fits.end());
  return static_cast<double>(resident * warps_of(kernel)) / static_cast<double>(sm.threads / kWarp);
}

/// The first and the last of those that raise it, in steps of `unit` down to `least`. Only the first is often worth it.
void add_reductions(std::vector<OccupancyChange>& changes, OccupancyLimit of, double now, double least, double unit,
                    double occupancy, const auto& with) {
  std::vector<OccupancyChange> found;
  double reached = occupancy;
  for (double amount = std::floor((now - 1) / unit) * unit; amount >= least; amount -= unit) {
    const double then = with(amount);
    if (then <= reached) continue;
    reached = then;
    if (found.size() == 2) found.pop_back();
    found.push_back({of, amount, then});
  }
  changes.insert(changes.end(), found.begin(), found.end());
}

std::vector<OccupancyChange> changes_of(const KernelLaunch& kernel, const SmLimits& sm) {
  // Fewer registers than this raise nothing: with it all warps of an SM fit.
  constexpr double kLeastRegisters = 32, kRegisterStep = 8, kSharedStep = 1024;
  constexpr std::array<std::int64_t, 5> kBlockSizes = {64, 128, 256, 512, 1024};
  std::vector<OccupancyChange> changes;
  add_reductions(changes, OccupancyLimit::registers, static_cast<double>(kernel.registers), kLeastRegisters,
                 kRegisterStep, kernel.occupancy, [&](double amount) {
                   KernelLaunch changed = kernel;
                   changed.registers = static_cast<std::int64_t>(amount);
                   return possible_occupancy(changed, sm);
                 });
  // No more than an SM has, whatever a file says.
  add_reductions(changes, OccupancyLimit::shared_memory, std::min(kernel.shared_bytes, sm.shared_bytes), kSharedStep,
                 kSharedStep, kernel.occupancy, [&](double amount) {
                   KernelLaunch changed = kernel;
                   changed.shared_bytes = amount;
                   return possible_occupancy(changed, sm);
                 });
  OccupancyChange best = {OccupancyLimit::threads, 0, kernel.occupancy};
  for (const std::int64_t threads : kBlockSizes) {
    KernelLaunch changed = kernel;
    changed.threads = threads;
    if (const double then = possible_occupancy(changed, sm); then > best.occupancy) {
      best = {OccupancyLimit::threads, static_cast<double>(threads), then};
    }
  }
  if (best.amount > 0) changes.push_back(best);
  return changes;
}

struct CapabilityLimits {
  int capability;
  std::int64_t threads, blocks;
  double shared_kib, reserved_kib;
};

constexpr std::array<CapabilityLimits, 9> kCapabilities = {{{70, 2048, 32, 96, 0},
                                                            {75, 1024, 16, 64, 0},
                                                            {80, 2048, 32, 164, 1},
                                                            {86, 1536, 16, 100, 1},
                                                            {87, 1536, 16, 164, 1},
                                                            {89, 1536, 24, 100, 1},
                                                            {90, 2048, 32, 228, 1},
                                                            {100, 2048, 32, 228, 1},
                                                            {120, 1536, 24, 100, 1}}};

}  // namespace

int compute_capability(std::string_view isa) {
  constexpr std::string_view kPrefix = "sm_";
  if (!isa.starts_with(kPrefix)) return 0;
  int capability = 0;
  std::from_chars(isa.data() + kPrefix.size(), isa.data() + isa.size(), capability);
  return capability;
}

std::optional<SmLimits> sm_limits_of(std::string_view isa) {
  constexpr std::int64_t kRegisters = 65536;
  constexpr double kKib = 1024;
  const int capability = compute_capability(isa);
  for (const CapabilityLimits& of : kCapabilities) {
    if (of.capability != capability) continue;
    return SmLimits{.threads = of.threads,
                    .blocks = of.blocks,
                    .registers = kRegisters,
                    .shared_bytes = of.shared_kib * kKib,
                    .reserved_shared_bytes = of.reserved_kib * kKib};
  }
  return std::nullopt;
}

void fill_occupancy(KernelLaunch& kernel, const SmLimits& sm, std::int64_t sm_count) {
  const std::int64_t warps = warps_of(kernel), most_warps = sm.threads / kWarp;
  // On a tie the first is reported.
  const auto fits = blocks_that_fit(kernel, sm);
  const auto* least = std::min_element(fits.begin(), fits.end());
  kernel.limit = static_cast<OccupancyLimit>(least - fits.begin());
  if (kernel.blocks_per_sm <= 0) kernel.blocks_per_sm = *least;
  const double resident = static_cast<double>(kernel.blocks_per_sm);
  kernel.occupancy = most_warps > 0 ? resident * static_cast<double>(warps) / static_cast<double>(most_warps) : 0;
  const double at_once = resident * static_cast<double>(sm_count);
  kernel.waves = at_once > 0 ? static_cast<double>(kernel.blocks) / at_once : 0;
  // Clusters, for example, may leave less than what is computed here: then nothing is known of changes.
  if (most_warps > 0 && kernel.blocks_per_sm == *least) kernel.changes = changes_of(kernel, sm);
}

}  // namespace roofline
