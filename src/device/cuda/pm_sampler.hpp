// The GPU's own counters of what it is doing, sampled by the hardware while any program runs (CUPTI's PM sampling).
// Device-wide: what is seen is the sum over all programs. Includes no CUDA header.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/gpu_sensors.hpp"

namespace roofline {

class ActivitySampler {
 public:
  virtual ~ActivitySampler() = default;
  /// Moves what the hardware has sampled into the sums.
  virtual void collect() = 0;
  /// The means since the last take; std::nullopt if no sample has come to its end since.
  virtual std::optional<GpuActivity> take() = 0;
};

/// What is sampled on a chip as CUPTI spells it ("GH100"), by the names of GpuActivity's values: all that fits into one
/// pass of its counters. Takes neither GPU nor driver. Throws Error where CUPTI is missing or does not know the chip.
std::vector<std::string> sampled_on(const std::string& chip);

/// Of that CUDA device, in samples of so many seconds; the driver must have been started, a context is not needed.
/// Throws Error with the reason, and what would allow it.
std::unique_ptr<ActivitySampler> sample_cuda_activity(int cuda_index, double sample_s);

}  // namespace roofline
