// When to stop sampling: a replaceable rule. Limits on time and count are the sampler's.
#pragma once

#include <cstdint>
#include <span>

namespace roofline {

class StopRule {
 public:
  virtual ~StopRule() = default;
  /// True if the rule is due to evaluate a series of that length. Cheap: called after every sample.
  virtual bool due(std::int64_t samples) const = 0;
  /// True if the series is precise enough.
  virtual bool converged(std::span<const double> series) = 0;
};

/// Stops when the 95 % interval of the median is within ± `relative_half_width` of it, and the effective sample
/// size is at least `min_effective` or the series is quiet (MedianEstimate). Without that requirement a correlated
/// series stops by luck: simulated for r = 0.9, the interval then covers 91 % instead of 97 %. One object serves
/// one series, because it stores the next evaluation.
class MedianStop : public StopRule {
 public:
  MedianStop(double relative_half_width, std::int64_t min_effective)
      : relative_half_width_(relative_half_width), min_effective_(static_cast<double>(min_effective)) {}

  bool due(std::int64_t samples) const override { return samples >= next_look_; }
  bool converged(std::span<const double> series) override;

 private:
  double relative_half_width_;
  double min_effective_;
  std::int64_t next_look_ = 0;
};

/// Stops as soon as the sampler's minimum samples and time allow: for a case that will be visited again.
class StopAtLeast : public StopRule {
 public:
  bool due(std::int64_t) const override { return true; }
  bool converged(std::span<const double>) override { return true; }
};

}  // namespace roofline
