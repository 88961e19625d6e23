// Iteratively reweighted least squares with two parameters; weights depend on the residuals of the previous fit.
#include "measure/latency_line.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "measure/statistics.hpp"
#include "model/nan.hpp"

namespace roofline {
namespace {

/// A message's time and its uncertainty.
struct TimedMessage {
  double bytes = 0;
  double seconds = 0;
  double precision = 0;  ///< relative standard error
};

constexpr double kNormal95 = 1.959964;
/// Minimum uncertainty of a time, whatever its interval: other buffers, another run.
constexpr double kLeastPrecision = 0.01 / kNormal95;
/// Residual at which a point has half weight, in standard deviations: 95 % efficiency on Gaussian noise.
constexpr double kCauchy = 2.385;

TimedMessage timed(const SweepPoint& point) {
  const double seconds = point.x / point.value;
  const double half_width = (point.ci95.high - point.ci95.low) / 2 / point.value;
  return {.bytes = point.x,
          .seconds = seconds,
          .precision = std::max(kLeastPrecision, std::isfinite(half_width) ? half_width / kNormal95 : 0)};
}

/// seconds = latency + bytes * slope, with the sums of the normal equations.
struct Line {
  double latency = 0, slope = 0;
  double a = 0, b = 0, c = 0;  ///< of w, w x and w x^2

  double at(double bytes) const { return latency + slope * bytes; }
  double determinant() const { return a * c - b * b; }
};

/// Residuals are relative to the measured times. If the latency or the slope would be negative, only the other one
/// is fitted.
Line weighted_line(std::span<const TimedMessage> messages, std::span<const double> weights) {
  Line line;
  double d = 0, e = 0;  // of w y and w x y
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto& [x, y, precision] = messages[i];
    const double w = weights[i] / (y * y);
    line.a += w;
    line.b += w * x;
    line.c += w * x * x;
    d += w * y;
    e += w * x * y;
  }
  line.latency = (line.c * d - line.b * e) / line.determinant();
  line.slope = (line.a * e - line.b * d) / line.determinant();
  if (line.latency < 0) {
    line.latency = 0;
    line.slope = e / line.c;
  } else if (line.slope < 0) {
    line.slope = 0;
    line.latency = d / line.a;
  }
  return line;
}

/// Relative residual of a message.
double distance(const Line& line, const TimedMessage& message) { return line.at(message.bytes) / message.seconds - 1; }

/// Student's t for a two-sided 95 % interval (Abramowitz and Stegun, 26.7.5); within 1 % from 3 degrees of freedom on.
double student95(double freedom) {
  const double z = kNormal95, n = freedom;
  return z + (std::pow(z, 3) + z) / (4 * n) + (5 * std::pow(z, 5) + 16 * std::pow(z, 3) + 3 * z) / (96 * n * n) +
         (3 * std::pow(z, 7) + 19 * std::pow(z, 5) + 17 * std::pow(z, 3) - 15 * z) / (384 * n * n * n);
}

/// Distribution of the residuals, in units of their precision.
struct Distances {
  std::vector<double> far;  ///< over the distance at which a point counts half
  double half = 1;          ///< that distance

  Distances(std::span<const TimedMessage> messages, const Line& line) {
    std::vector<double> sizes;
    for (const TimedMessage& m : messages) sizes.push_back(std::abs(distance(line, m)) / m.precision);
    // For Gaussian noise the median residual is 0.6745 standard deviations.
    half = kCauchy * std::max(1e-9, median(sizes) / 0.6745);
    for (const double size : sizes) far.push_back(size / half);
  }

  std::vector<double> weights(std::span<const TimedMessage> messages) const {
    std::vector<double> weights;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      weights.push_back(1 / (messages[i].precision * messages[i].precision * (1 + far[i] * far[i])));
    }
    return weights;
  }

  /// The variance of a point of precision 1, from which the parameters' intervals follow: Huber's, for an
  /// estimator with residual-dependent weights (Huber and Ronchetti, Robust Statistics, 7.6).
  double variance() const {
    double squares = 0, slopes = 0;
    for (const double u : far) {
      const double psi = half * u / (1 + u * u);
      squares += psi * psi;
      slopes += (1 - u * u) / ((1 + u * u) * (1 + u * u));
    }
    const auto n = static_cast<double>(far.size());
    return squares / (n - 2) / std::pow(std::max(slopes / n, 0.1), 2);
  }
};

}  // namespace

LatencyLine fit_latency_line(std::span<const SweepPoint> points) {
  LatencyLine result{.ranks = points.empty() ? 0 : points.front().ranks,
                     .latency_s = kNaN,
                     .latency_ci95 = {},
                     .rate = kNaN,
                     .rate_ci95 = {},
                     .misfit = kNaN};
  std::vector<TimedMessage> messages;
  for (const SweepPoint& point : points) {
    if (point.x > 0 && point.value > 0) messages.push_back(timed(point));
  }
  if (messages.size() < 3) return result;

  constexpr int kRounds = 40;
  std::vector<double> precisions;
  for (const TimedMessage& m : messages) precisions.push_back(1 / (m.precision * m.precision));
  const Line first = weighted_line(messages, precisions);
  Line line = first;
  for (int round = 0; round < kRounds; ++round) {
    line = weighted_line(messages, Distances(messages, line).weights(messages));
  }

  double misfit = 0;
  for (const TimedMessage& m : messages) {
    misfit = std::max(misfit, std::abs(m.seconds / line.at(m.bytes) - 1));
  }
  const double variance = Distances(messages, line).variance();
  const double t = student95(static_cast<double>(messages.size() - 2));
  const double latency_half = t * std::sqrt(variance * first.c / first.determinant());
  const double slope_half = t * std::sqrt(variance * first.a / first.determinant());
  result.latency_s = line.latency;
  result.latency_ci95 = {std::max(0.0, line.latency - latency_half), line.latency + latency_half};
  result.rate = 1 / line.slope;
  if (line.slope > slope_half) result.rate_ci95 = {1 / (line.slope + slope_half), 1 / (line.slope - slope_half)};
  result.misfit = misfit;
  return result;
}

std::vector<LatencyLine> fit_latency_lines(std::span<const SweepPoint> points) {
  std::map<std::int64_t, std::vector<SweepPoint>> by_ranks;
  for (const SweepPoint& point : points) by_ranks[point.ranks].push_back(point);
  std::vector<LatencyLine> lines;
  for (const auto& [ranks, of_ranks] : by_ranks) {
    const LatencyLine line = fit_latency_line(of_ranks);
    if (std::isfinite(line.latency_s) && std::isfinite(line.rate)) lines.push_back(line);
  }
  return lines;
}

}  // namespace roofline
