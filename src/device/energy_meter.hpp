// A device's energy at any moment, from the two coarse things that its driver offers: power samples with a time
// each, and a counter that ticks now and then. Pure arithmetic; who reads them is not its business.
#pragma once

#include <functional>
#include <optional>
#include <span>

namespace roofline {

struct PowerSample {
  double time_s = 0;  ///< on the clock that `now_s` below is read from
  double watts = 0;
};

/// Sums power samples, and bridges gaps between them by the energy counter. On an H200 the counter ticks every 100 ms
/// and takes 3 ms to read, which would be an error of 5 % per second and a gap in the load; samples come every 20 ms,
/// 119 are kept, and reading them takes 0.3 ms.
class EnergyMeter {
 public:
  using Counter = std::function<std::optional<double>()>;

  /// Joules up to `now_s`; only differences mean anything. `samples` ascend in time and may hold some that were seen
  /// before. `counter` is asked when there are no samples at all, and otherwise once in `kAnchorSeconds`. std::nullopt
  /// when neither is to be had.
  std::optional<double> read(double now_s, std::span<const PowerSample> samples, const Counter& counter);

  /// Time up to which samples are known: older ones need not be passed again. 0 at first.
  double seen_until_s() const { return last_ ? last_->time_s : 0; }

 private:
  /// A moment at which both were known.
  struct Anchor {
    double time_s = 0;
    double joules = 0;
    std::optional<double> counter_j;
  };

  bool add(std::span<const PowerSample> samples);

  static constexpr double kAnchorSeconds = 1;
  static constexpr double kLongestStepSeconds = 0.25;  ///< between two samples that belong to one sequence
  std::optional<PowerSample> last_;
  std::optional<Anchor> anchor_;
  double joules_ = 0;
};

}  // namespace roofline
