// How a kernel's grid fills the SMs of two machines: waves, tails and occupancy. Pure.
#pragma once

#include <optional>
#include <string>

#include "report/report.hpp"

namespace roofline {

/// Factors on parts of a kernel's time.
struct GridFactors {
  /// Of the time of pipes, in addition to the ratio of the roofs, which assume that all SMs work to the end.
  double pipes = 1;
  /// Of waiting time: blocks that follow each other on an SM wait one after the other.
  double waits = 1;
};

struct GridChange {
  GridFactors whole;                        ///< all blocks take equally long: the last wave is as long as a full one
  GridFactors even;                         ///< blocks of different length fill the last wave
  std::optional<KernelLaunch> here, there;  ///< std::nullopt without a known grid, or without the SM's limits
  std::string refused;                      ///< why the kernel can't be launched there; empty: it can
};

/// `batch`: factor on the number of blocks. Kernels that start a fixed number of blocks on each SM get the other
/// machine's number. Grids that are not known change nothing but the waits, which grow with the batch.
GridChange grid_change(const Point& point, const DeviceInfo& here, const DeviceInfo& there, double batch);

}  // namespace roofline
