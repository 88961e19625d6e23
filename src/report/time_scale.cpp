#include "report/time_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace roofline {
namespace {

/// Seconds of a unit, and the least whole that is shown in it.
struct TimeUnit {
  double least = 0, seconds = 1;
  const char* name = "s";
};

const TimeUnit& time_unit_of(double seconds) {
  static constexpr std::array<TimeUnit, 6> kUnits = {{{7200, 3600, "h"},
                                                      {600, 60, "min"},
                                                      {0.9995, 1, "s"},
                                                      {0.9995e-3, 1e-3, "ms"},
                                                      {0.9995e-6, 1e-6, "µs"},
                                                      {0, 1e-9, "ns"}}};
  return *std::find_if(kUnits.begin(), kUnits.end(), [&](const TimeUnit& unit) { return seconds >= unit.least; });
}

/// Three digits of the whole.
int decimals_of(double in_units) { return in_units < 9.995 ? 2 : in_units < 99.95 ? 1 : 0; }

}  // namespace

TimeScale::TimeScale(double whole_s, int more_digits) {
  const TimeUnit& unit = time_unit_of(whole_s > 0 ? whole_s : 0);
  unit_ = unit.name;
  unit_s_ = unit.seconds;
  decimals_ = decimals_of(whole_s / unit.seconds) + more_digits;
  digit_s_ = unit_s_ * std::pow(10.0, -decimals_);
}

std::vector<std::int64_t> TimeScale::round_together(std::span<const double> seconds) const {
  std::vector<std::int64_t> digits(seconds.size());
  std::vector<std::size_t> order(seconds.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Times from a file may be any numbers: the sum of as many as fit into memory fits into 64 bits.
  constexpr double kMostDigits = 1e9;
  std::vector<double> exact(seconds.size());
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const double in_digits = seconds[i] / digit_s_;
    exact[i] = std::isnan(in_digits) ? 0 : std::clamp(in_digits, -kMostDigits, kMostDigits);
  }
  std::int64_t left = std::llround(std::accumulate(exact.begin(), exact.end(), 0.0));
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    digits[i] = static_cast<std::int64_t>(std::floor(exact[i]));
    left -= digits[i];
  }
  std::vector<double> remainders(seconds.size());
  for (std::size_t i = 0; i < seconds.size(); ++i) remainders[i] = exact[i] - static_cast<double>(digits[i]);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  for (std::size_t i = 0; i < order.size() && left > 0; ++i, --left) ++digits[order[i]];
  return digits;
}

std::string TimeScale::text(std::int64_t digits) const {
  return fmt::format("{:.{}f} {}", static_cast<double>(digits) * digit_s_ / unit_s_, decimals_, unit_);
}

}  // namespace roofline
