// When to stop sampling: a small class that can be replaced. The limits on time and count are not its
// business but the sampler's.
#pragma once

#include <cstdint>
#include <span>

namespace roofline {

class StopRule {
 public:
  virtual ~StopRule() = default;
  /// Whether the rule wants to look again at a series of that length. Cheap: asked after every sample.
  virtual bool due(std::int64_t samples) const = 0;
  /// Whether the series is precise enough.
  virtual bool converged(std::span<const double> series) = 0;
};

/// Stops when the 95 % interval of the median lies within ± `relative_half_width` of it, and the series is
/// worth `min_effective` independent samples or is quiet (MedianEstimate). Without that demand a correlated
/// series stops in a lucky stretch: simulated for r = 0.9, the interval then covers 91 % instead of 97 %.
/// One object serves one series: it remembers when to look next.
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

/// Stops as soon as the sampler's least samples and least time allow: a visit to a case that will be visited again.
class StopAtLeast : public StopRule {
 public:
  bool due(std::int64_t) const override { return true; }
  bool converged(std::span<const double>) override { return true; }
};

}  // namespace roofline
