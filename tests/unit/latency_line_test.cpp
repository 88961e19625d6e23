// Lines through synthetic messages: whether latency and rate come back, and how often their intervals hold them.
#include "measure/latency_line.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace roofline {
namespace {

constexpr double kLatency = 6e-6;
constexpr double kRate = 370e9;

/// From 8 bytes to 1 GiB, doubled, with relative noise; `slower` multiplies the times from 128 KiB to 4 MiB, as another
/// protocol does.
std::vector<SweepPoint> messages(std::mt19937_64& random, double noise, double slower = 1, std::int64_t ranks = 2) {
  std::normal_distribution<double> normal;
  std::vector<SweepPoint> points;
  for (int i = 3; i <= 30; ++i) {
    const double bytes = std::exp2(i);
    const double seconds =
        (kLatency + bytes / kRate) * (1 + noise * normal(random)) * (i >= 17 && i <= 22 ? slower : 1);
    const double value = bytes / seconds;
    points.push_back({.x = bytes, .value = value, .ci95 = {0.998 * value, 1.002 * value}, .ranks = ranks});
  }
  return points;
}

TEST(LatencyLine, AnExactLineComesBack) {
  std::mt19937_64 random(1);
  const LatencyLine line = fit_latency_line(messages(random, 0));
  EXPECT_NEAR(line.latency_s / kLatency, 1, 1e-9);
  EXPECT_NEAR(line.rate / kRate, 1, 1e-9);
  EXPECT_LT(line.misfit, 1e-9);
  EXPECT_EQ(line.ranks, 2);
}

struct Coverage {
  double latency = 0, rate = 0;  ///< shares of the series whose interval holds the truth
  double worst = 0;              ///< relative error
};

Coverage coverage(double noise, double slower) {
  constexpr int kSeries = 1000;
  std::mt19937_64 random(7);
  Coverage held;
  for (int series = 0; series < kSeries; ++series) {
    const LatencyLine line = fit_latency_line(messages(random, noise, slower));
    held.latency += line.latency_ci95.low <= kLatency && kLatency <= line.latency_ci95.high ? 1.0 / kSeries : 0;
    held.rate += line.rate_ci95.low <= kRate && kRate <= line.rate_ci95.high ? 1.0 / kSeries : 0;
    held.worst = std::max({held.worst, std::abs(line.latency_s / kLatency - 1), std::abs(line.rate / kRate - 1)});
  }
  return held;
}

TEST(LatencyLine, IntervalsHoldTheTruthAsOftenAsTheySay) {
  for (const double noise : {0.005, 0.02}) {
    const Coverage held = coverage(noise, 1);
    EXPECT_NEAR(held.latency, 0.95, 0.025) << noise;
    EXPECT_NEAR(held.rate, 0.95, 0.025) << noise;
    EXPECT_LT(held.worst, 2.5 * noise);
  }
}

TEST(LatencyLine, AnotherProtocolInTheMiddleMovesNeitherEnd) {
  for (const double slower : {1.3, 1.8, 2.5}) {
    const Coverage held = coverage(0.01, slower);
    EXPECT_GT(held.latency, 0.85) << slower;
    EXPECT_GT(held.rate, 0.85) << slower;
    EXPECT_LT(held.worst, 0.06) << slower;
  }
  std::mt19937_64 random(1);
  EXPECT_NEAR(fit_latency_line(messages(random, 0, 1.8)).misfit, 0.8, 0.02) << "what the line leaves out is said";
}

TEST(LatencyLine, EachNumberOfRanksHasItsOwn) {
  std::mt19937_64 random(3);
  std::vector<SweepPoint> points = messages(random, 0.001, 1, 8);
  for (SweepPoint& point : points) point.value /= 2;
  for (const SweepPoint& point : messages(random, 0.001, 1, 2)) points.push_back(point);
  points.push_back({.x = 8, .value = 1e6, .ci95 = {}, .ranks = 4});
  const std::vector<LatencyLine> lines = fit_latency_lines(points);
  ASSERT_EQ(lines.size(), 2U) << "one point is no line";
  EXPECT_EQ(lines[0].ranks, 2);
  EXPECT_EQ(lines[1].ranks, 8);
  EXPECT_NEAR(lines[1].latency_s / lines[0].latency_s, 2, 0.01);
}

TEST(LatencyLine, NoTimeIsNegative) {
  // Rates that fall: a straight line would begin below 0.
  const std::vector<SweepPoint> points = {{.x = 1e6, .value = 4e9, .ci95 = {}, .ranks = 2},
                                          {.x = 2e6, .value = 3e9, .ci95 = {}, .ranks = 2},
                                          {.x = 4e6, .value = 2e9, .ci95 = {}, .ranks = 2}};
  const LatencyLine line = fit_latency_line(points);
  EXPECT_GE(line.latency_s, 0);
  EXPECT_GE(line.latency_ci95.low, 0);
  EXPECT_GT(line.rate, 0);
}

}  // namespace
}  // namespace roofline
