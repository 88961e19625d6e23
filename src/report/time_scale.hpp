// Times that are shown side by side in one unit, rounded so that parts add up to their whole as shown.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace roofline {

/// The unit and the last digit that suit a whole: three digits of it, and `more_digits` after them.
class TimeScale {
 public:
  explicit TimeScale(double whole_s, int more_digits = 0);

  /// Seconds of the last digit.
  double digit_s() const { return digit_s_; }
  /// Parts (none negative) in last digits; together the digits of their sum. The largest remainders are rounded up.
  std::vector<std::int64_t> round_together(std::span<const double> seconds) const;
  /// "2.31 s".
  std::string text(std::int64_t digits) const;

 private:
  const char* unit_ = "s";
  double unit_s_ = 1, digit_s_ = 1;
  int decimals_ = 0;
};

}  // namespace roofline
