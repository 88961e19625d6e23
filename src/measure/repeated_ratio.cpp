// Student's t on logarithms. Few repetitions allow no rank test: three runs against three have 20 arrangements, and the
// rarest of them has a probability of 5 %.
#include "measure/repeated_ratio.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace roofline {
namespace {

constexpr double kUsual = 0.95;    // confidence of intervals that people read
constexpr double kToClear = 0.99;  // a row that is cleared early is not looked at again
constexpr double kNormalQuantile = 1.959964;

/// P(|T| <= t) by the finite series for whole degrees of freedom (Abramowitz and Stegun 26.7.3 and 26.7.4).
double probability_within(double t, std::int64_t degrees) {
  const auto v = static_cast<double>(degrees);
  const double angle = std::atan(t / std::sqrt(v));
  const double cosine = std::cos(angle), square = cosine * cosine;
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1, sum = 0;
  for (std::int64_t k = odd ? 3 : 2; k <= degrees; k += 2) {
    sum += term;
    term *= square * static_cast<double>(k - 1) / static_cast<double>(k);
  }
  if (!odd) return std::sin(angle) * sum;
  return 2 / std::numbers::pi * (angle + std::sin(angle) * sum);
}

double mean_of(std::span<const Repetition> all) {
  double sum = 0;
  for (const Repetition& one : all) sum += one.log_value;
  return sum / static_cast<double>(all.size());
}

/// Sum of squared distances from the mean.
double squares_of(std::span<const Repetition> all) {
  const double mean = mean_of(all);
  double sum = 0;
  for (const Repetition& one : all) sum += (one.log_value - mean) * (one.log_value - mean);
  return sum;
}

/// Mean variance within the repetitions. The scatter between them contains it, so that a smaller scatter is chance.
double own_variance(std::span<const Repetition> a, std::span<const Repetition> b = {}) {
  double sum = 0;
  for (const auto& all : {a, b})
    for (const Repetition& one : all) sum += one.log_error * one.log_error;
  return sum / static_cast<double>(a.size() + b.size());
}

bool is_within(const Interval& ratio, double threshold) {
  return ratio.low > 1 / (1 + threshold) && ratio.high < 1 + threshold;
}

}  // namespace

double student_t(double confidence, std::int64_t degrees) {
  double low = 0, high = 1;
  while (probability_within(high, degrees) < confidence && high < 1e12) high *= 2;
  constexpr int kHalvings = 60;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (probability_within(middle, degrees) < confidence ? low : high) = middle;
  }
  return high;
}

Repetition repetition_of(double value, const Interval& ci95) {
  Repetition one{.log_value = std::log(value)};
  if (ci95.low > 0 && ci95.high >= ci95.low) one.log_error = std::log(ci95.high / ci95.low) / (2 * kNormalQuantile);
  return one;
}

double RepeatedRatio::ratio() const { return std::exp(log_mean); }

Interval RepeatedRatio::interval(double confidence) const {
  if (degrees < 1) return {};
  const double half = student_t(confidence, degrees) * standard_error;
  return {std::exp(log_mean - half), std::exp(log_mean + half)};
}

RepeatedRatio ratio_of_rounds(std::span<const Repetition> rounds) {
  if (rounds.empty()) return {};
  const auto n = static_cast<double>(rounds.size());
  RepeatedRatio found{.log_mean = mean_of(rounds), .degrees = static_cast<std::int64_t>(rounds.size()) - 1};
  if (found.degrees < 1) return found;
  const double variance = std::max(squares_of(rounds) / (n - 1), own_variance(rounds));
  found.standard_error = std::sqrt(variance / n);
  return found;
}

RepeatedRatio ratio_of_runs(std::span<const Repetition> before, std::span<const Repetition> now) {
  if (before.empty() || now.empty()) return {};
  RepeatedRatio found{.log_mean = mean_of(now) - mean_of(before),
                      .degrees = static_cast<std::int64_t>(before.size() + now.size()) - 2};
  if (found.degrees < 1) return found;
  const double scatter = (squares_of(before) + squares_of(now)) / static_cast<double>(found.degrees);
  const double variance = std::max(scatter, own_variance(before, now));
  found.standard_error =
      std::sqrt(variance * (1 / static_cast<double>(before.size()) + 1 / static_cast<double>(now.size())));
  return found;
}

Interval gate_interval(const RepeatedRatio& ratio, const GateRule& rule) {
  if (ratio.degrees < 1) return {};
  const std::int64_t rows = std::max<std::int64_t>(1, rule.rows);
  const double all = 1 - 2 * kGateFalseAlarms, share = 1 - 2 * kGateFalseAlarms / static_cast<double>(rows);
  if (!(rule.typical_error > 0)) return ratio.interval(share);
  const double alone = student_t(all, ratio.degrees) * ratio.standard_error;
  const double among = student_t(share, ratio.degrees * rows) * std::max(ratio.standard_error, rule.typical_error);
  const double half = std::max(alone, among);
  return {std::exp(ratio.log_mean - half), std::exp(ratio.log_mean + half)};
}

Change decide(const RepeatedRatio& ratio, const GateRule& rule) {
  const Interval usual = ratio.interval(kUsual);
  if (!usual.known()) return Change::undecided;
  const Interval sure = gate_interval(ratio, rule);
  if (sure.low > 1 && usual.high >= 1 + rule.threshold) return Change::slower;
  if (sure.high < 1 && usual.low <= 1 / (1 + rule.threshold)) return Change::faster;
  return is_within(usual, rule.threshold) ? Change::same : Change::undecided;
}

bool cleared_by_first_rounds(std::span<const Repetition> first, const GateRule& rule) {
  const Interval interval = ratio_of_rounds(first).interval(kToClear);
  return interval.known() && is_within(interval, rule.threshold);
}

Change decide_rounds(std::span<const Repetition> first, std::span<const Repetition> fresh, const GateRule& rule) {
  if (fresh.empty()) return cleared_by_first_rounds(first, rule) ? Change::same : Change::undecided;
  std::vector<Repetition> all(first.begin(), first.end());
  all.insert(all.end(), fresh.begin(), fresh.end());
  const Change decision = decide(ratio_of_rounds(all), rule);
  const Interval alone = ratio_of_rounds(fresh).interval(kUsual);
  const bool confirmed = decision == Change::slower ? alone.low > 1 : alone.high < 1;
  const bool differs = decision == Change::slower || decision == Change::faster;
  return differs && !confirmed ? Change::undecided : decision;
}

}  // namespace roofline
