// Modelled and counted work of a launch, side by side.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/diagnosis/diagnosis.hpp"
#include "report/report.hpp"

namespace roofline {

/// FLOPs of one pipe, or bytes of one level, of one launch.
struct CountedAmount {
  std::string name;  ///< "tensor.bf16", "hbm"
  CeilingKind kind = CeilingKind::compute;
  double modelled = 0;  ///< NaN if not modelled
  double counted = 0;   ///< NaN if not counted
  /// Counted over modelled; for a cache level, over the compulsory bytes of main memory. NaN without a model.
  double ratio = 0;
};

/// Unit of an amount: "B", "FLOP", or "OP" for integers.
std::string_view unit_of(const CountedAmount& amount);

/// Pipes with modelled or counted work (at least a thousandth of the total), then levels from main memory inwards.
/// Empty without counters.
std::vector<CountedAmount> counted_against_model(const Point& point, DeviceKind device);

/// Counted intensity at a level, in FLOP/byte: counted FLOPs of the modelled pipes over the bytes that crossed the
/// level. NaN if either is unknown or no byte crossed it.
double counted_intensity(const Point& point, Level level);

/// Diagnosis of a timed point, with its counters if there are any.
std::vector<Advice> advice_for(const Point& point, const Machine& machine);

}  // namespace roofline
