// Times two kernels in alternation, so that both see the same state of the machine.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "device/cpu/access_trace.hpp"
#include "model/ceiling.hpp"
#include "model/nan.hpp"
#include "op/case.hpp"

namespace roofline {

constexpr double kComparisonS = 0.12;  ///< duration of one comparison, unless its batches are longer
constexpr std::size_t kLeastRounds = 6, kMostRounds = 150;

/// A prepared kernel whose launches are timed in short batches.
class BatchTimer {
 public:
  BatchTimer(const Op& op, const Implementation& implementation, const Workload& workload, Device& device,
             CasePlacement placement = {}, InputValues values = InputValues::random)
      : case_(op, implementation, workload, device, values, std::move(placement)) {}

  /// Throws Error if the kernel's results are wrong at this shape.
  void verify();
  /// Seconds per launch in a batch.
  double time();
  const std::optional<double>& clock_hz() const { return clock_hz_; }
  /// The accesses of a launch to its tensors, in order.
  std::vector<TracedAccess> accesses(const TraceLimits& limits);
  std::int64_t launched() const { return launched_; }  ///< by time()

 private:
  Case case_;
  Bench bench_;
  std::int64_t launches_ = 1, launched_ = 0;
  std::optional<double> clock_hz_;
};

/// A typical undisturbed time: the lower quartile, which short interruptions do not reach; the median of a short
/// series.
struct TypicalTime {
  double value = kNaN;
  Interval ci95;
};
TypicalTime typical_time(std::vector<double> series);

struct TimeRatio {
  double value = kNaN;
  Interval ci95;

  TimeRatio scaled(double factor) const { return {value * factor, {ci95.low * factor, ci95.high * factor}}; }
};
TimeRatio ratio_of(const TypicalTime& changed, const TypicalTime& base);

/// Alternates two runs (ABBA) until kComparisonS are over, longer for few rounds, and compares their typical times.
TimeRatio compare_times(const std::function<double()>& base, const std::function<double()>& changed);

}  // namespace roofline
