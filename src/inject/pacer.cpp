#include "inject/pacer.hpp"

#include <algorithm>
#include <cmath>

namespace roofline::inject {
namespace {

/// Errors of the interval add up with each step; beyond this part of one, steps can't be told apart.
constexpr double kMostError = 0.25;
constexpr double kLeastUncertainty = 0.01;
/// A thread can't be relied on to wake up earlier, ns.
constexpr std::uint64_t kShortestSilence = 200'000;
constexpr std::uint64_t kLongestSilence = 1'000'000'000;
/// After marks in a row that give no silence.
constexpr std::uint64_t kBetweenBursts = 1'000'000'000;
constexpr int kMostUnsure = 3;

}  // namespace

std::uint64_t Pacer::silence() const {
  return static_cast<std::uint64_t>((static_cast<double>(skipped_) - 0.5) * interval_);
}

Pacer::Seen Pacer::seen(std::uint64_t time) {
  Seen result;
  const std::uint64_t elapsed = last_ != 0 ? time - last_ : 0;
  last_ = time;
  if (elapsed == 0) return result;
  if (skipped_ == 0) {
    result.marks = 1;
    burst_.push_back(elapsed);
    if (burst_.size() < kBurst) return result;
    const auto middle = burst_.begin() + kBurst / 2;
    std::nth_element(burst_.begin(), middle, burst_.end());
    interval_ = static_cast<double>(*middle);
    uncertainty_ = 0.2;
    burst_.clear();
  } else {
    const double marks = static_cast<double>(elapsed) / interval_;
    const double whole = std::round(marks);
    const bool sure = whole >= 1 && whole <= 2.0 * skipped_ + 2 && std::abs(marks - whole) <= kMostError;
    if (sure) {
      result.marks = static_cast<std::uint32_t>(whole);
      interval_ = static_cast<double>(elapsed) / whole;
      uncertainty_ = std::max(kLeastUncertainty, uncertainty_ / (whole + 1));
      failures_ = 0;
    } else {
      uncertainty_ = std::min(0.2, 2 * uncertainty_);
      if (++failures_ >= kMostUnsure) {
        failures_ = 0;
        skipped_ = 0;
        return result;
      }
    }
  }
  skipped_ = static_cast<std::uint32_t>(std::clamp(kMostError / uncertainty_, 1.0, 1e6));
  const double most = static_cast<double>(kLongestSilence) / interval_;
  if (skipped_ > most) skipped_ = static_cast<std::uint32_t>(std::max(most, 1.0));
  if (silence() < kShortestSilence) {
    skipped_ = 0;
    last_ = 0;
    result.look_again = time + kBetweenBursts;
    return result;
  }
  result.look_again = time + silence();
  return result;
}

}  // namespace roofline::inject
