// Operations of formulas on whole numbers, checked for overflow. Comparisons are 0 or 1.
#pragma once

#include "model/whole.hpp"

namespace roofline {

constexpr WholeResult exactly(Whole value) { return {WholeStatus::exact, value}; }
constexpr WholeResult kNoWhole = {WholeStatus::fraction, 0};
constexpr WholeResult kTooLarge = {WholeStatus::too_large, 0};

constexpr WholeResult whole_less(Whole a, Whole b) { return exactly(a < b ? 1 : 0); }
constexpr WholeResult whole_less_equal(Whole a, Whole b) { return exactly(a <= b ? 1 : 0); }
constexpr WholeResult whole_greater(Whole a, Whole b) { return exactly(a > b ? 1 : 0); }
constexpr WholeResult whole_greater_equal(Whole a, Whole b) { return exactly(a >= b ? 1 : 0); }
constexpr WholeResult whole_equal(Whole a, Whole b) { return exactly(a == b ? 1 : 0); }
constexpr WholeResult whole_unequal(Whole a, Whole b) { return exactly(a != b ? 1 : 0); }
constexpr WholeResult whole_min(Whole a, Whole b) { return exactly(a < b ? a : b); }
constexpr WholeResult whole_max(Whole a, Whole b) { return exactly(a > b ? a : b); }

constexpr WholeResult whole_sum(Whole a, Whole b) {
  Whole result = 0;
  return __builtin_add_overflow(a, b, &result) ? kTooLarge : exactly(result);
}
constexpr WholeResult whole_difference(Whole a, Whole b) {
  Whole result = 0;
  return __builtin_sub_overflow(a, b, &result) ? kTooLarge : exactly(result);
}
constexpr WholeResult whole_product(Whole a, Whole b) {
  Whole result = 0;
  return __builtin_mul_overflow(a, b, &result) ? kTooLarge : exactly(result);
}
constexpr WholeResult whole_minus(Whole a) { return whole_difference(0, a); }
constexpr WholeResult whole_same(Whole a) { return exactly(a); }
constexpr WholeResult whole_abs(Whole a) { return a < 0 ? whole_minus(a) : exactly(a); }
constexpr WholeResult whole_sign(Whole a) { return exactly(a < 0 ? -1 : a > 0 ? 1 : 0); }

/// The quotient rounded down. -2^127 / -1 is too large.
constexpr WholeResult whole_floor(Whole a, Whole b) {
  if (b == 0) return kNoWhole;
  if (b == -1) return whole_minus(a);
  const Whole quotient = a / b;
  return exactly(a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient);
}
/// The quotient rounded up.
constexpr WholeResult whole_ceil(Whole a, Whole b) {
  const WholeResult floor = whole_floor(a, b);
  if (floor.status != WholeStatus::exact || b == -1) return floor;
  return exactly(a % b != 0 ? floor.value + 1 : floor.value);
}
constexpr WholeResult whole_quotient(Whole a, Whole b) {
  if (b == 0 || (b != -1 && a % b != 0)) return kNoWhole;
  return whole_floor(a, b);
}
/// The remainder with the sign of `a`, as fmod().
constexpr WholeResult whole_remainder(Whole a, Whole b) {
  if (b == 0) return kNoWhole;
  return exactly(b == -1 ? 0 : a % b);
}
constexpr WholeResult whole_power(Whole base, Whole exponent) {
  if (exponent < 0) return kNoWhole;
  const bool bounded = base >= -1 && base <= 1;
  if (!bounded && exponent > 127) return kTooLarge;
  if (bounded) return exactly(base == 0 ? (exponent == 0 ? 1 : 0) : (base == 1 || exponent % 2 == 0 ? 1 : -1));
  WholeResult result = exactly(1);
  for (; exponent > 0 && result.status == WholeStatus::exact; --exponent) result = whole_product(result.value, base);
  return result;
}

}  // namespace roofline
