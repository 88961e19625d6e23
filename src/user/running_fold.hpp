// What a reduction has reached after some of its iterations.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace roofline {

/// The error of a sum, term by term. Roundings are as often up as down, so that they add up like a random walk; those
/// of equal terms go the same way.
class SumError {
 public:
  void add(double term, double error, double rounding) {
    of_terms_ += error * error;
    of_sums_ += rounding * rounding;
    largest_ += rounding;
    equal_ = equal_ && (count_++ == 0 || term == first_);
    if (count_ == 1) first_ = term;
  }
  double total() const { return std::sqrt(of_terms_) + (equal_ ? largest_ : std::sqrt(of_sums_)); }

 private:
  double of_terms_ = 0, of_sums_ = 0, largest_ = 0, first_ = 0;
  std::int64_t count_ = 0;
  bool equal_ = true;
};

/// Fold of the iterations from `begin` up to `end`.
struct RunningFold {
  std::int64_t begin = 0, end = 0;
  bool has_errors = false;  ///< otherwise terms were added without theirs
  long double total = 0;    ///< 64 bits on x86: the error of a long sum stays below that of a double
  double smallest = std::numeric_limits<double>::infinity();
  double largest = -std::numeric_limits<double>::infinity();
  double worst = 0;  ///< error of a term
  SumError error = {};

  void add(double term) {
    total += term;
    if (std::isnan(term) || term < smallest) smallest = term;
    if (std::isnan(term) || term > largest) largest = term;
  }
};

}  // namespace roofline
