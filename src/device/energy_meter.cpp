// Samples summed, gaps bridged.
#include "device/energy_meter.hpp"

#include <algorithm>

namespace roofline {

/// False when samples are missing between the last one known and the first new one.
bool EnergyMeter::add(std::span<const PowerSample> samples) {
  bool whole = true;
  for (const PowerSample& sample : samples) {
    if (last_ && sample.time_s <= last_->time_s) continue;
    if (last_) {
      const double step_s = sample.time_s - last_->time_s;
      whole = whole && step_s <= kLongestStepSeconds;
      joules_ += step_s * sample.watts;
    }
    last_ = sample;
  }
  return whole;
}

std::optional<double> EnergyMeter::read(double now_s, std::span<const PowerSample> samples, const Counter& counter) {
  const bool whole = add(samples);
  if (!last_) return counter();
  if (!anchor_ || !whole || now_s - anchor_->time_s >= kAnchorSeconds) {
    const std::optional<double> counter_j = counter();
    const bool bridged = !whole && anchor_ && anchor_->counter_j && counter_j;
    if (bridged) joules_ = anchor_->joules + (*counter_j - *anchor_->counter_j);
    anchor_ = Anchor{.time_s = now_s, .joules = joules_, .counter_j = counter_j};
  }
  // From the last sample to now: its power goes on, as long as another sample can't be overdue.
  const double since_s = std::clamp(now_s - last_->time_s, 0.0, kLongestStepSeconds);
  return joules_ + since_s * last_->watts;
}

}  // namespace roofline
