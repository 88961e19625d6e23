// GPU activity counters that the hardware samples while any program runs (CUPTI's PM sampling). Device-wide: sums over
// all programs. Includes no CUDA header.
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
  /// Adds the hardware's samples to the sums.
  virtual void collect() = 0;
  /// The means since the last take; std::nullopt if no sample has come to its end since.
  virtual std::optional<GpuActivity> take() = 0;
};

/// What is sampled on a chip as CUPTI spells it ("GH100"), by the names of GpuActivity's values: all that fits into one
/// pass of its counters. Takes neither GPU nor driver. Throws Error where CUPTI is missing or does not know the chip.
std::vector<std::string> sampled_on(const std::string& chip);

/// Samples that CUDA device every `sample_s` seconds. The driver must have been started; a context is not needed.
/// Throws Error with the reason and the remedy.
std::unique_ptr<ActivitySampler> sample_cuda_activity(int cuda_index, double sample_s);

}  // namespace roofline
