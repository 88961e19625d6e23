// Stated work against what a kernel's buffers, formula and machine code allow. Pure arithmetic.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
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
  /// Divisions, roots, functions and powers in the formulas: machine code may need several operations for one of them.
  double compound_operations = 0;
};

/// Operations of one launch, counted in its machine code.
struct ExecutedOperations {
  std::map<Pipe, double> flops;  ///< of the kernel's own code
  double library_flops = 0;      ///< of the libraries that it calls
  double integers = 0;           ///< lanes of integer operations, roughly

  double own_flops() const;
};

/// Stated FLOPs of one launch beside those of its machine code, at a shape that is small enough to be emulated.
struct ExecutedFlops {
  std::map<std::string, std::int64_t> shape = {};
  double stated = 0;
  double executed = 0;         ///< by the kernel's own code and the libraries that it calls
  double least = 0, most = 0;  ///< what may be stated
};

/// FLOPs that may be stated for that machine code. What a formula needs may be stated, even if the code does more or
/// compares instead of computing; the code of a function or a division may have several operations that count as one.
/// `formula`: bounds at the same shape.
ExecutedFlops executed_flops(const ExecutedOperations& executed, const Work& stated, const WorkBounds& formula);

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

/// True if the stated FLOPs are more than twice, or less than half, of what may be stated.
bool contradicts(const ExecutedFlops& flops);

}  // namespace roofline
