// The clock among a probe's instructions: which chain of additions decides, and what comes of one that does.
#include "kernels/calibration/cpu/paced_clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "kernels/calibration/cpu/pace.hpp"

namespace roofline {
namespace {

/// Steps per cycle of a paced loop on a core that issues `issue` of them.
std::vector<double> paced_rates(double issue) {
  std::vector<double> rates;
  for (const int pace : kPaces) rates.push_back(std::min(issue, 16.0 / pace));
  return rates;
}

TEST(DecidingPace, KeepsThePipesBusyButDecides) {
  struct Core {
    double issue;
    std::size_t pace;
  };
  // Four pipes; two; three shared by two virtual CPUs; one; an instruction in two cycles; half of that.
  for (const auto& [issue, pace] : {Core{4, 0}, Core{2, 0}, Core{1.5, 1}, Core{1, 2}, Core{0.5, 3}, Core{0.25, 4}}) {
    const std::vector<double> rates = paced_rates(issue);
    ASSERT_EQ(deciding_pace(issue, rates), pace) << issue;
    EXPECT_DOUBLE_EQ(rates[pace] * kPaces[pace] / 16, 1) << "an addition in each cycle";
  }
}

TEST(DecidingPace, IsNoneWhereTheChainNeverDecides) {
  EXPECT_EQ(deciding_pace(0.1, paced_rates(0.1)), std::nullopt);
  EXPECT_EQ(deciding_pace(1, {}), std::nullopt);
}

/// A loop of that many nanoseconds per round.
PacedClock::Run spin(double ns) {
  return [ns](int, std::int64_t rounds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double, std::nano>(ns * rounds);
    while (std::chrono::steady_clock::now() < end) {
    }
  };
}

TEST(PacedClock, IsTheAdditionsPerSecondOfTheChainThatDecides) {
  ThreadPool pool({-1, -1});
  // The first chain costs nothing, the second 3 of 3 ns: one cycle each for 3 additions.
  PacedClock clock(pool, 2, 10000, spin(1), {{1, spin(1)}, {3, spin(3)}});
  const auto hz = clock.hz();
  ASSERT_TRUE(hz);
  EXPECT_LE(*hz, 1.001e9);  // interruptions only lower it
  EXPECT_GT(*hz, 0);
}

TEST(PacedClock, SaysNothingWhereNoChainDecides) {
  ThreadPool pool({-1});
  PacedClock clock(pool, 1, 10000, [](int, std::int64_t) {}, {});
  EXPECT_EQ(clock.hz(), std::nullopt);
}

}  // namespace
}  // namespace roofline
