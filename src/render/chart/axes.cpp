// Ticks of a logarithmic axis.
#include "render/chart/axes.hpp"

#include <cmath>

#include "text/format.hpp"

namespace roofline {
namespace {

constexpr double kClosest = 34;  // pixels between two labelled ticks

std::string tick_label(double value, bool si_prefix) {
  if (!si_prefix && value < 1) return number(value, 1);
  std::string label = si(value, "", 1);
  while (!label.empty() && label.back() == ' ') label.pop_back();
  return label;
}

}  // namespace

LogAxis::LogAxis(Range range, double pixel_low, double pixel_high)
    : range_(range),
      log_low_(std::log10(range.low)),
      log_high_(std::log10(range.high)),
      pixel_low_(pixel_low),
      pixel_high_(pixel_high) {}

double LogAxis::pixel(double value) const {
  return pixel_low_ + (std::log10(value) - log_low_) / (log_high_ - log_low_) * (pixel_high_ - pixel_low_);
}

double LogAxis::value(double pixel) const {
  return std::pow(10.0, log_low_ + (pixel - pixel_low_) / (pixel_high_ - pixel_low_) * (log_high_ - log_low_));
}

double LogAxis::pixels_per_decade() const { return std::abs(pixel_high_ - pixel_low_) / (log_high_ - log_low_); }

std::vector<Tick> LogAxis::ticks(bool si) const {
  std::vector<Tick> out;
  const int step = static_cast<int>(std::max(1.0, std::ceil(kClosest / pixels_per_decade())));
  const bool short_axis = log_high_ - log_low_ < 1.5 && pixels_per_decade() * 0.3 > kClosest;
  const int first = static_cast<int>(std::floor(log_low_)), last = static_cast<int>(std::ceil(log_high_));
  for (int decade = first; decade <= last; ++decade) {
    for (int digit = 1; digit <= 9; ++digit) {
      // pow(10, 3) * 2 is exact where 2 * pow(10, 3.0) of a sum of logarithms is not.
      const double value = decade >= 0 ? digit * std::pow(10.0, decade) : digit / std::pow(10.0, -decade);
      if (!contains(value)) continue;
      Tick tick;
      tick.value = value;
      tick.major = digit == 1;
      const bool labelled = digit == 1 ? decade % step == 0 : short_axis && (digit == 2 || digit == 5);
      if (labelled) tick.label = tick_label(value, si);
      if (digit == 1 || step == 1) out.push_back(tick);
    }
  }
  return out;
}

}  // namespace roofline
