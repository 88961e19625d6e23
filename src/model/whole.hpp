// Whole numbers that a double may not represent: those of 64 bits, and what formulas compute from them.
#pragma once

#include <cstdint>

namespace roofline {

/// Represents every int64 and uint64, and the product of two int64.
__extension__ typedef __int128 Whole;

enum class WholeStatus : std::uint8_t {
  exact,
  fraction,  ///< not a whole number, or from an operation that is not one of whole numbers
  too_large  ///< more than 127 bits
};

/// The result of arithmetic with whole numbers.
struct WholeResult {
  WholeStatus status = WholeStatus::fraction;
  Whole value = 0;  ///< if exact
};

}  // namespace roofline
