// Formats related times in one unit, rounded so that displayed parts add up to the displayed whole.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace roofline {

/// Chooses the unit and last digit for a whole: three significant digits, plus `more_digits`.
class TimeScale {
 public:
  explicit TimeScale(double whole_s, int more_digits = 0);

  /// Seconds per unit of the last digit.
  double digit_s() const { return digit_s_; }
  /// Parts (none negative) in units of the last digit, which add up to the rounded sum. The largest remainders are
  /// rounded up.
  std::vector<std::int64_t> round_together(std::span<const double> seconds) const;
  /// "2.31 s".
  std::string text(std::int64_t digits) const;

 private:
  const char* unit_ = "s";
  double unit_s_ = 1, digit_s_ = 1;
  int decimals_ = 0;
};

}  // namespace roofline
