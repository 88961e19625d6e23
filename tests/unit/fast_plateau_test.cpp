// The fast plateau on series with known answers: what supports one, what does not, and how sure its interval is.
#include "measure/fast_plateau.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "measure/statistics.hpp"
#include "sampler_series.hpp"

namespace roofline {
namespace {

using synthetic::NoisySeries;

/// A round of `count` samples about `level`.
Round round_of(double level, std::uint64_t seed, int count = 100, double deviation = 0.002) {
  return {NoisySeries({.deviation = deviation, .scale = level}, seed).take(count), {}};
}

TEST(FastPlateau, IsTheFastTenthOfRoundsThatAgree) {
  const std::vector<Round> rounds = {round_of(1, 1), round_of(1.4, 2), round_of(1.001, 3), round_of(2, 4)};
  const FastPlateau plateau = fast_plateau(rounds);
  EXPECT_EQ(plateau.rounds, 4);
  EXPECT_EQ(plateau.agreeing, 2);
  EXPECT_EQ(plateau.slowed, 2);
  EXPECT_EQ(plateau.samples, 400);
  EXPECT_NEAR(plateau.seconds, 1 - 1.28 * 0.002, 0.001);
  EXPECT_NEAR(plateau.median_s, 1.2, 0.01) << "between the medians of the rounds";
  EXPECT_GE(plateau.support, 190);
  EXPECT_TRUE(plateau.supported());
}

TEST(FastPlateau, OneFastRoundIsNoPlateau) {
  const FastPlateau plateau = fast_plateau(std::vector{round_of(1, 1), round_of(1.05, 2), round_of(1.05, 3)});
  EXPECT_NEAR(plateau.seconds, 1, 0.005) << "it is shown";
  EXPECT_EQ(plateau.agreeing, 1);
  EXPECT_FALSE(plateau.supported()) << "and not believed";
}

TEST(FastPlateau, LuckyReadingsAreNoPlateau) {
  std::vector<Round> rounds = {round_of(1, 1), round_of(1, 2), round_of(1, 3)};
  for (Round& round : rounds) round.seconds[7] = 0.5;
  const FastPlateau plateau = fast_plateau(rounds);
  EXPECT_NEAR(plateau.seconds, 1, 0.005);
  EXPECT_TRUE(plateau.reached(0));
}

TEST(FastPlateau, TooFewSamplesAreNoPlateau) {
  const FastPlateau plateau = fast_plateau(std::vector{round_of(1, 1, 5), round_of(1, 2, 5), round_of(1, 3, 5)});
  EXPECT_TRUE(std::isnan(plateau.ci95.low));
  EXPECT_FALSE(plateau.supported());
  EXPECT_TRUE(std::isnan(fast_plateau({}).seconds));
  EXPECT_EQ(fast_plateau(std::vector{Round{}}).rounds, 0);
}

TEST(FastPlateau, AtTheLimitNothingIsLeftToBeSeen) {
  const FastPlateau plateau = fast_plateau(std::vector{round_of(1, 1), round_of(1.05, 2), round_of(1.4, 3)});
  EXPECT_FALSE(plateau.reached(0.75)) << "one round of three agrees with itself";
  EXPECT_TRUE(plateau.reached(0.75, 0.995)) << "and could not have been faster";
  EXPECT_FALSE(plateau.reached(0.75, 0.98)) << "it could, by 2 %";
  const FastPlateau few = fast_plateau(std::vector{round_of(1, 1, 3), round_of(1.05, 2, 3), round_of(1.4, 3, 3)});
  EXPECT_FALSE(few.reached(0.75, 0.995)) << "three readings prove nothing";
  EXPECT_TRUE(fast_plateau(std::vector{round_of(1, 1)}).reached(0.75, 0.995)) << "in any number of rounds";
}

TEST(FastPlateau, IsReachedOnceItIsUnlikelyThatAllRoundsWereSlowed) {
  std::vector<Round> rounds = {round_of(1, 1), round_of(1, 2)};
  EXPECT_FALSE(fast_plateau(rounds).reached(0)) << "two rounds are too few, however quiet";
  rounds.push_back(round_of(1, 3));
  EXPECT_TRUE(fast_plateau(rounds).reached(0));
  EXPECT_FALSE(fast_plateau(rounds).reached(0.5)) << "0.5^3";
  for (std::uint64_t seed = 4; rounds.size() < 10; ++seed) rounds.push_back(round_of(1, seed));
  EXPECT_TRUE(fast_plateau(rounds).reached(0.5)) << "0.5^10 is less than 0.1 %";
  EXPECT_FALSE(fast_plateau(rounds).reached(0.75));
}

TEST(FastPlateau, TheClockIsThatOfItsSupport) {
  std::vector<Round> rounds = {round_of(1, 1), round_of(1, 2), round_of(1.5, 3)};
  rounds[0].clock_hz.assign(100, 3e9);
  rounds[2].clock_hz.assign(100, 2e9);
  EXPECT_EQ(fast_plateau(rounds).clock_hz, 3e9);
}

/// One cycle count at two clocks, both on the plateau; a tenth of the readings was interrupted.
TEST(FastPlateau, TheClockInTheWorkIsThatOfEachSamplesOwnCycles) {
  std::vector<Round> rounds;
  for (const double hz : {3e9, 2.985e9, 2.4e9}) {
    Round& round = rounds.emplace_back();
    round.seconds.assign(100, 3e6 / hz);
    round.work_clock_hz.assign(100, hz);
    for (std::size_t i = 0; i < 100; i += 10) round.work_clock_hz[i] *= 0.6;
  }
  const FastPlateau plateau = fast_plateau(rounds);
  ASSERT_TRUE(plateau.work_clock_hz);
  EXPECT_NEAR(plateau.seconds * *plateau.work_clock_hz, 3e6, 1);
  EXPECT_EQ(plateau.clock_hz, std::nullopt);
  EXPECT_EQ(fast_plateau(std::vector{round_of(1, 1)}).work_clock_hz, std::nullopt);
}

TEST(FastPlateau, TheIntervalCoversTheTenth) {
  for (const double correlation : {0.0, 0.5}) {
    int covered = 0;
    constexpr int kSeries = 1000;
    for (std::uint64_t seed = 1; seed <= kSeries; ++seed) {
      NoisySeries series({.deviation = 0.005, .correlation = correlation}, seed);
      const FastPlateau plateau = fast_plateau(std::vector{Round{series.take(200), {}}, Round{series.take(200), {}}});
      const double tenth = 1 - 1.2816 * 0.005;
      covered += plateau.ci95.low <= tenth && tenth <= plateau.ci95.high ? 1 : 0;
    }
    EXPECT_GE(covered, 0.93 * kSeries) << "correlation " << correlation;
  }
}

TEST(Slowdowns, IsTheShareOfSlowedRoundsAtTheMost) {
  Slowdowns slowdowns;
  EXPECT_EQ(slowdowns.slowed_share(), 0);
  slowdowns.add(fast_plateau(std::vector{round_of(1, 1), round_of(1.5, 2)}));
  slowdowns.add(fast_plateau(std::vector{round_of(1, 3), round_of(1, 4)}));
  EXPECT_DOUBLE_EQ(slowdowns.slowed_share(), 0.25 + 2 * std::sqrt(0.25 * 0.75 / 4));
}

}  // namespace
}  // namespace roofline
