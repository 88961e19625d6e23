// Curves with known plateaus: what a sweep is said to show must be what was put into it.
#include "measure/plateaus.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/support/values.hpp"

namespace roofline {
namespace {

/// Sizes of a sweep: two an octave.
std::vector<SweepPoint> sizes(double from, double to) {
  std::vector<SweepPoint> points;
  for (double x = from; x <= to * 1.001; x *= std::sqrt(2.0)) points.push_back({.x = x, .value = 0, .ci95 = {}});
  return points;
}

/// A cyclic read of x bytes under LRU-like levels: what exceeds a level is served by the next one, more
/// and more of it over a factor of `blur` in x.
double hierarchy(double x, double blur) {
  const auto share = [&](double capacity) { return std::clamp(std::log(x / capacity) / std::log(blur), 0.0, 1.0); };
  const double past_l1 = share(230 * kKiB);
  const double past_l2 = share(40 * kMiB);
  return 1 / ((1 - past_l1) / 33e12 + (past_l1 - past_l2) / 9.7e12 + past_l2 / 4.67e12);
}

std::vector<SweepPoint> gpu_curve(double blur, double noise) {
  std::vector<SweepPoint> points = sizes(16 * kKiB, 4096 * kMiB);
  std::mt19937_64 generator(7);
  std::normal_distribution<double> normal;
  for (SweepPoint& point : points) point.value = hierarchy(point.x, blur) * (1 + noise * normal(generator));
  return points;
}

TEST(Plateaus, FindsTheLevelsOfAHierarchy) {
  for (const double blur : {1.5, 2.5}) {
    const std::vector<SweepPoint> points = gpu_curve(blur, 0.01);
    const std::vector<Plateau> plateaus = find_plateaus(points);
    ASSERT_EQ(plateaus.size(), 3U) << blur;
    EXPECT_NEAR(plateaus[0].value, 33e12, 33e12 * 0.03);
    EXPECT_NEAR(plateaus[1].value, 9.7e12, 9.7e12 * 0.03);
    EXPECT_NEAR(plateaus[2].value, 4.67e12, 4.67e12 * 0.03);
    const std::vector<double> boundaries = find_boundaries(points, plateaus);
    ASSERT_EQ(boundaries.size(), 2U);
    EXPECT_NEAR(std::log2(boundaries[0] / (230 * kKiB)), 0, 0.5);
    EXPECT_NEAR(std::log2(boundaries[1] / (40 * kMiB)), 0, 0.5);
  }
}

TEST(Plateaus, ASlowSagIsOneLevelAndAFlatCurveHasNoBoundary) {
  std::vector<SweepPoint> points = sizes(16 * kKiB, 1 * kMiB);
  for (std::size_t i = 0; i < points.size(); ++i) points[i].value = 1e12 * (1 - 0.011 * static_cast<double>(i));
  EXPECT_EQ(find_plateaus(points).size(), 1U);
  EXPECT_TRUE(find_boundaries(points, find_plateaus(points)).empty());
}

TEST(Plateaus, ASlopeIsNone) {
  std::vector<SweepPoint> points = sizes(16 * kKiB, 64 * kMiB);
  for (SweepPoint& point : points) point.value = 1e18 / point.x;
  EXPECT_TRUE(find_plateaus(points).empty());
  EXPECT_TRUE(find_plateaus({}).empty());
}

TEST(Plateaus, SaturationIsTheFewestThatReachNearlyTheMost) {
  const std::vector<SweepPoint> points = {{.x = 1, .value = 12e9, .ci95 = {}},
                                          {.x = 2, .value = 23e9, .ci95 = {}},
                                          {.x = 4, .value = 38.5e9, .ci95 = {}},
                                          {.x = 8, .value = 40e9, .ci95 = {}},
                                          {.x = 16, .value = 39e9, .ci95 = {}}};
  EXPECT_EQ(saturation_point(points), 4);
  EXPECT_EQ(saturation_point(std::vector<SweepPoint>(points.begin(), points.begin() + 2)), 2);
  EXPECT_EQ(saturation_point({}), std::nullopt);
}

}  // namespace
}  // namespace roofline
