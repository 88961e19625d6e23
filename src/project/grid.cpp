#include "project/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/occupancy.hpp"
#include "report/diagnosis/cause_lines.hpp"

namespace roofline {
namespace {

/// A library has other kernels for other chips.
bool is_fixed(const Point& point) {
  return point.profiled && !point.profiled->full_name.empty() && !is_library_kernel(point.profiled->full_name);
}

std::string why_refused(const Point& point, const KernelLaunch& kernel, const DeviceInfo& there, const SmLimits& sm) {
  constexpr double kKib = 1024;
  constexpr int kClusters = 90;
  if (!is_fixed(point)) return {};
  const auto& cluster = point.profiled->cluster;
  if (cluster[0] * cluster[1] * cluster[2] > 1 && compute_capability(there.isa) < kClusters) {
    return fmt::format("it uses thread block clusters, which {} does not have", there.isa);
  }
  if (kernel.shared_bytes + sm.reserved_shared_bytes <= sm.shared_bytes) return {};
  return fmt::format("a block needs {:.0f} KiB of shared memory; an SM there has {:.0f} KiB for it",
                     std::ceil(kernel.shared_bytes / kKib), (sm.shared_bytes - sm.reserved_shared_bytes) / kKib);
}

/// Time of the blocks over that of a machine that all of them fill evenly.
double imbalance(double blocks, double sms, bool whole) {
  const double each = blocks / sms;
  return std::max(whole ? std::ceil(each) : each, 1.0) / each;
}

double waves_in_turn(double waves, bool whole) {
  constexpr double kRounding = 1e-9;
  return std::max(whole ? std::ceil(waves - kRounding) : waves, 1.0);
}

/// A grid of that many blocks for each SM, all of them resident: chosen by the number of SMs.
bool follows_sms(const KernelLaunch& kernel, std::int64_t sms) {
  return kernel.blocks % sms == 0 && kernel.waves <= 1 + 1e-9;
}

GridFactors factors_of(const KernelLaunch& here, double sms, const KernelLaunch& there, double sms_there, double batch,
                       bool whole) {
  const auto blocks = static_cast<double>(here.blocks);
  return {.pipes = imbalance(blocks * batch, sms_there, whole) / imbalance(blocks, sms, whole),
          .waits = waves_in_turn(there.waves * batch, whole) / waves_in_turn(here.waves, whole)};
}

}  // namespace

GridChange grid_change(const Point& point, const DeviceInfo& here, const DeviceInfo& there, double batch) {
  GridChange change;
  change.whole.waits = batch;
  const auto sm = sm_limits_of(there.isa);
  const bool known = point.counters && point.counters->kernels.size() == 1 && sm && here.units > 0 && there.units > 0;
  if (!known) return change;
  const KernelLaunch& kernel = point.counters->kernels.front();
  if (kernel.blocks <= 0 || kernel.threads <= 0 || !(kernel.waves > 0)) return change;
  change.refused = why_refused(point, kernel, there, *sm);
  KernelLaunch other = kernel;
  other.blocks_per_sm = 0;
  fill_occupancy(other, *sm, there.units);
  if (!change.refused.empty() || other.blocks_per_sm <= 0) return change;
  const auto sms = static_cast<double>(here.units), sms_there = static_cast<double>(there.units);
  if (follows_sms(kernel, here.units)) {
    other.blocks = kernel.blocks / here.units * there.units;
    fill_occupancy(other, *sm, there.units);
    change.whole.waits = change.even.waits = batch * sms / sms_there;
  } else {
    change.whole = factors_of(kernel, sms, other, sms_there, batch, true);
    change.even = factors_of(kernel, sms, other, sms_there, batch, false);
  }
  change.here = kernel;
  change.there = std::move(other);
  return change;
}

}  // namespace roofline
