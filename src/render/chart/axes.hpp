// Logarithmic axes: from a value to a pixel, and the ticks. No drawing.
#pragma once

#include <string>
#include <vector>

namespace roofline {

struct Tick {
  double value = 0;
  std::string label;  ///< empty on minor ticks
  bool major = false;
};

/// A range that is shown: 0 < low < high.
struct Range {
  double low = 1, high = 10;
};

class LogAxis {
 public:
  LogAxis() = default;
  /// `pixel_low` is where `range.low` lies; it may be right of, or below, `pixel_high`.
  LogAxis(Range range, double pixel_low, double pixel_high);

  double pixel(double value) const;
  double value(double pixel) const;
  const Range& range() const { return range_; }
  bool contains(double value) const { return value >= range_.low && value <= range_.high; }
  double pixels_per_decade() const;

  /// Labelled ticks at powers of ten (some of them left out on a very long axis; 2 and 5 too on a very
  /// short one), minor ticks between. `si` labels with prefixes (100 G, 1 T), else plainly up to 1 k.
  std::vector<Tick> ticks(bool si) const;

 private:
  Range range_;
  double log_low_ = 0, log_high_ = 1, pixel_low_ = 0, pixel_high_ = 1;
};

}  // namespace roofline
