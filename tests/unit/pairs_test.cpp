// Paired ratios on simulated machines whose speed wanders and whose true ratio is known: what they find, that their
// interval contains it, and what ends them.
#include "measure/pairs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "measure/summary.hpp"

namespace roofline {
namespace {

class RandomDraws {
 public:
  explicit RandomDraws(std::uint64_t seed) : random_(seed) {}
  double uniform() { return (static_cast<double>(random_() >> 11) + 1) * 0x1p-53; }  // in (0, 1]
  double gaussian() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform()); }

 private:
  std::mt19937_64 random_;
};

/// A machine at a speed between `slowest` and 1 that changes at random, on average after `change_s`. It has a clock,
/// and two kernels with 0.5 % noise.
class WanderingMachine {
 public:
  WanderingMachine(double slowest, double change_s, std::uint64_t seed)
      : slowest_(slowest), change_s_(change_s), random_(seed) {}

  double now() const { return now_s_; }

  /// Runs work of that many seconds at full speed.
  double run(double work_s) {
    const double start_s = now_s_;
    work_s *= 1 + 0.005 * random_.gaussian();
    while (work_s > 0) {
      if (now_s_ >= until_s_) {
        until_s_ = now_s_ - change_s_ * std::log(random_.uniform());
        speed_ = slowest_ + (1 - slowest_) * random_.uniform();
      }
      const double part_s = std::min(work_s / speed_, until_s_ - now_s_);
      work_s -= part_s * speed_;
      now_s_ += part_s;
      if (part_s <= 0) now_s_ = std::nextafter(now_s_, std::numeric_limits<double>::infinity());
    }
    return now_s_ - start_s;
  }

  PairedSide kernel(double launch_s) {
    return {.batch =
                [this, launch_s](std::int64_t n) {
                  return Reading{run(launch_s * static_cast<double>(n)), {}};
                },
            .launch_s = launch_s};
  }

 private:
  double slowest_, change_s_;
  RandomDraws random_;
  double now_s_ = 0, until_s_ = 0, speed_ = 1;
};

/// A kernel beside a reference that needs `ratio` of its time for the same work, in launches of a millisecond or less.
/// The kernel's limit is a ratio of 1.
PairedRatio paired(WanderingMachine& machine, double launch_s, double ratio) {
  const double parts = std::ceil(launch_s / 1e-3);  // launches of the reference for the kernel's work
  PairedSide reference = machine.kernel(launch_s * ratio / parts);
  reference.longest_s = 0.1;
  PairedRatio pairs =
      sample_pairs_up_to(
          1 / parts, machine.kernel(launch_s), reference, [&] { return machine.now(); }, [] { return false; }, {})
          .value();
  return {parts * pairs.ratio, {parts * pairs.ci95.low, parts * pairs.ci95.high}, pairs.pairs};
}

constexpr int kMachines = 200;

struct Found {
  int contained = 0;    ///< intervals that contain the true ratio
  int above_one = 0;    ///< intervals that are above 1
  double worst = 0;     ///< relative error of a ratio
  double unpaired = 0;  ///< worst relative error of the kernel's time against the reference's at full speed
};

Found simulate_pairs(double launch_s, double ratio, double slowest, double change_s) {
  Found found;
  for (int seed = 1; seed <= kMachines; ++seed) {
    WanderingMachine machine(slowest, change_s, static_cast<std::uint64_t>(seed));
    const PairedRatio pairs = paired(machine, launch_s, ratio);
    found.contained += pairs.ci95.low <= ratio && ratio <= pairs.ci95.high ? 1 : 0;
    found.above_one += pairs.ci95.low > 1 ? 1 : 0;
    found.worst = std::max(found.worst, std::abs(pairs.ratio / ratio - 1));
    WanderingMachine other(slowest, change_s, static_cast<std::uint64_t>(seed));
    found.unpaired = std::max(found.unpaired, std::abs(launch_s / other.run(launch_s) - 1));
  }
  return found;
}

TEST(Pairs, AWideIntervalGetsMoreTime) {
  const auto pairs_of = [](double slowest, double patience_s) {
    WanderingMachine machine(slowest, 0.03, 1);
    return sample_pairs(
               machine.kernel(0.04), machine.kernel(0.004), [&] { return machine.now(); }, [] { return false; },
               {.max_time_s = 0.6, .patience_s = patience_s})
        .value();
  };
  EXPECT_GT(pairs_of(0.3, 3).pairs, pairs_of(0.3, 0.6).pairs);
  EXPECT_EQ(pairs_of(1, 3).pairs, pairs_of(1, 0.6).pairs) << "a steady machine needs none";
}

TEST(PairsEvidence, ASpeedThatWandersByAThirdCancelsOut) {
  for (const double launch_s : {20e-6, 3e-3, 40e-3, 0.3}) {
    for (const double change_s : {0.05, 1.0, 30.0}) {
      if (launch_s > change_s) continue;
      const Found found = simulate_pairs(launch_s, 0.83, 0.7, change_s);
      const std::string where =
          "launches of " + std::to_string(launch_s) + " s, changes after " + std::to_string(change_s) + " s";
      // A phase no longer than a few blocks is noise of each pair. The interval then states it.
      if (10 * launch_s < change_s) {
        EXPECT_LT(found.worst, 0.03) << where;
      }
      EXPECT_GE(found.contained, 0.93 * kMachines) << where;
      EXPECT_GT(found.unpaired, 0.2) << where;
    }
  }
}

TEST(PairsEvidence, AKernelThatIsFasterThanItsModelIsStillAboveItsRoof) {
  EXPECT_EQ(simulate_pairs(3e-3, 1.06, 0.7, 0.5).above_one, kMachines);
}

TEST(PairsEvidence, EqualSpeedsAreNotTakenForDifferentOnes) {
  const Found found = simulate_pairs(3e-3, 1, 0.7, 0.5);
  EXPECT_LE(found.above_one, 0.005 * kMachines);
  EXPECT_GE(found.contained, 0.93 * kMachines);
}

/// A quarter of the time stolen in slices of 4 ms: blocks of equal duration lose the same on average, where a short
/// launch of the reference would mostly lose nothing.
TEST(PairsEvidence, StolenSlicesWeighEquallyOnBoth) {
  double sum = 0;
  int contained = 0;
  for (int seed = 1; seed <= kMachines; ++seed) {
    RandomDraws random(static_cast<std::uint64_t>(seed));
    double now_s = 0, stolen_at_s = 0;
    const auto run = [&](double work_s) {
      const double start_s = now_s;
      for (;;) {
        if (now_s >= stolen_at_s) {
          now_s += 4e-3;
          stolen_at_s = now_s - 12e-3 * std::log(random.uniform());
        }
        const double free_s = stolen_at_s - now_s;
        now_s += std::min(work_s, free_s);
        if (work_s < free_s) return now_s - start_s;
        work_s -= free_s;
        now_s = stolen_at_s;
      }
    };
    const auto side = [&](double launch_s) {
      const auto batch = [&run, launch_s](std::int64_t n) {
        return Reading{run(launch_s * static_cast<double>(n)), {}};
      };
      return PairedSide{.batch = batch, .launch_s = launch_s};
    };
    const PairedRatio pairs = sample_pairs(
                                  side(30e-3), side(0.3e-3), [&] { return now_s; }, [] { return false; }, {})
                                  .value();
    sum += 100 * pairs.ratio;
    contained += 100 * pairs.ci95.low <= 1 && 1 <= 100 * pairs.ci95.high ? 1 : 0;
  }
  EXPECT_NEAR(sum / kMachines, 1, 0.03);
  EXPECT_GE(contained, 0.93 * kMachines);
}

/// Writes down which side ran how many launches. Each launch takes a millisecond.
struct Tape {
  std::string blocks;
  std::vector<std::int64_t> launches;
  double now_s = 0;

  PairedSide side(char name, double launch_s) {
    return {.batch =
                [this, name, launch_s](std::int64_t n) {
                  blocks += name;
                  launches.push_back(n);
                  now_s += launch_s * static_cast<double>(n);
                  return Reading{launch_s * static_cast<double>(n), {}};
                },
            .launch_s = launch_s};
  }

  std::optional<PairedRatio> pairs(
      const PairedSide& a, const PairedSide& b, const PairOptions& options,
      const std::function<bool()>& cancelled = [] { return false; }) {
    return sample_pairs(
        a, b, [this] { return now_s; }, cancelled, options);
  }
};

TEST(Pairs, AlternateAsABBAInBlocksOfEqualDuration) {
  Tape tape;
  const auto found =
      tape.pairs(tape.side('a', 1e-3), tape.side('b', 0.5e-3), {.block_s = 4e-3, .min_time_s = 0, .max_time_s = 0});
  ASSERT_TRUE(found);
  EXPECT_EQ(tape.blocks, "abbaabbaabba") << "six pairs, the least that have an interval";
  EXPECT_EQ(tape.launches[0], 4);
  EXPECT_EQ(tape.launches[1], 8);
  EXPECT_DOUBLE_EQ(found->ratio, 0.5);
  EXPECT_EQ(found->pairs, 6);
  EXPECT_TRUE(found->ci95.known());
}

TEST(Pairs, BeginABlockAfterTheOtherSideWithAnUntimedLaunch) {
  Tape tape;
  PairedSide a = tape.side('a', 4e-3), b = tape.side('b', 2e-3);
  a.lead_in = b.lead_in = true;
  ASSERT_TRUE(tape.pairs(a, b, {.block_s = 4e-3, .min_time_s = 0, .max_time_s = 0}));
  EXPECT_EQ(tape.blocks.substr(0, 12), "aabbbaaabbba");
  EXPECT_EQ(std::vector<std::int64_t>(tape.launches.begin(), tape.launches.begin() + 6),
            (std::vector<std::int64_t>{1, 1, 1, 2, 2, 1}));
}

TEST(Pairs, OfLongLaunchesHaveShorterBlocksOfTheReference) {
  Tape tape;
  PairedSide reference = tape.side('b', 1e-3);
  reference.longest_s = 0.1;
  ASSERT_TRUE(tape.pairs(tape.side('a', 0.5), reference, {.max_time_s = 0}));
  EXPECT_EQ(tape.launches[0], 1);
  EXPECT_EQ(tape.launches[1], 100);
}

TEST(Pairs, ThereAreNoneWithoutTimeForSix) {
  Tape tape;
  EXPECT_FALSE(tape.pairs(tape.side('a', 1), tape.side('b', 1e-3), {.longest_s = 5}));
  EXPECT_EQ(tape.blocks, "") << "nothing is run in vain";
}

TEST(Pairs, EndEarlyWhenTheirIntervalIsNarrow) {
  Tape tape;
  const auto found = tape.pairs(tape.side('a', 4e-3), tape.side('b', 4e-3), {.min_time_s = 0.2, .max_time_s = 10});
  ASSERT_TRUE(found);
  EXPECT_LT(tape.now_s, 1);
  EXPECT_GE(tape.now_s, 0.2);
}

TEST(Pairs, EndWithAClockThatStandsStill) {
  Tape tape;
  const PairedSide side = tape.side('a', 4e-3);
  const auto found = sample_pairs(
      side, side, [] { return 0.0; }, [] { return false; }, {.max_pairs = 50});
  EXPECT_EQ(found.value().pairs, 50);
}

TEST(Pairs, AreNoneWhenCancelledOrMisread) {
  Tape tape;
  int asked = 0;
  EXPECT_FALSE(tape.pairs(tape.side('a', 4e-3), tape.side('b', 4e-3), {}, [&] { return ++asked > 10; }));
  for (const double bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    PairedSide broken = tape.side('b', 4e-3);
    broken.batch = [bad](std::int64_t) { return Reading{bad, {}}; };
    EXPECT_FALSE(tape.pairs(tape.side('a', 4e-3), broken, {})) << bad;
    EXPECT_FALSE(tape.pairs(broken, tape.side('b', 4e-3), {})) << bad;
  }
  PairedSide unknown = tape.side('a', 0);
  EXPECT_FALSE(tape.pairs(unknown, tape.side('b', 4e-3), {}));
}

TEST(Pairs, OfAFewOrCorrelatedRatiosHaveTheirRangeAsInterval) {
  const std::vector<double> six = {0.5, 0.51, 0.52, 0.53, 0.54, 0.6};
  const PairedRatio found = summarize_pairs(six);
  EXPECT_DOUBLE_EQ(found.ratio, 0.525);
  EXPECT_DOUBLE_EQ(found.ci95.low, 0.5);
  EXPECT_DOUBLE_EQ(found.ci95.high, 0.6);
  EXPECT_FALSE(summarize_pairs(std::span(six).first(5)).ci95.known());
}

}  // namespace
}  // namespace roofline
