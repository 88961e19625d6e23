// Stated work against what a kernel's buffers and formula allow. Pure arithmetic.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/work.hpp"

namespace roofline {

/// Lower and upper bounds on the work of one launch.
struct WorkBounds {
  double read_least = 0;   ///< bytes of input elements that the result depends on
  double read_most = 0;    ///< bytes of all inputs
  double write_least = 0;  ///< bytes of output elements that change
  double write_most = 0;   ///< bytes of all outputs
  /// Operations that no algorithm for the formula does without, and those of evaluating it as it is written. None: no
  /// formula in floating point says what is right.
  std::optional<double> flops_least = {}, flops_most = {};
  /// Operations of evaluating the formulas of integer outputs as they are written. None: there are none.
  std::optional<double> integer_operations = {};
};

enum class WorkQuantity : std::uint8_t { read, write, flops };

/// A stated amount outside its bounds: bytes or FLOPs of one launch.
struct WorkMismatch {
  WorkQuantity quantity = WorkQuantity::read;
  double stated = 0;
  double allowed = 0;  ///< the bound that it violates
};

/// Tolerates 5 % for bytes and a factor of two for FLOPs: which operations count is a convention, and an algorithm may
/// need fewer operations than a formula.
std::vector<WorkMismatch> mismatches(const Work& stated, const WorkBounds& bounds);

}  // namespace roofline
