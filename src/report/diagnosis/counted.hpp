// Modelled and counted work of a launch side by side.
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
  double modelled = 0;  ///< NaN where it is not modelled
  double counted = 0;   ///< NaN where it was not counted
  /// Counted over modelled; of a cache level, over the compulsory bytes of main memory. NaN where there is no model.
  double ratio = 0;
};

/// What an amount is of: "B", "FLOP", of integers "OP".
std::string_view unit_of(const CountedAmount& amount);

/// Pipes that the model or the counters know work on (at least a thousandth of all), then the levels from main memory
/// inwards. Empty without counters.
std::vector<CountedAmount> counted_against_model(const Point& point, DeviceKind device);

/// FLOP/byte by the counters at a level: all counted FLOPs of the pipes that the model uses, over the bytes that
/// crossed it. NaN where either is not known or no byte did.
double counted_intensity(const Point& point, Level level);

/// The diagnosis of a timed point: with its counters where it has them.
std::vector<Advice> advice_for(const Point& point, const Machine& machine);

}  // namespace roofline
