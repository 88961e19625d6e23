// The evidence for fast plateaus and rounds, recomputed: whole calibrations of a simulated machine whose neighbours
// take its time away in known ways. Prints the table of docs/method.md and holds it to its figures.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "calibrate/sampling_plan.hpp"
#include "measure/fast_plateau.hpp"
#include "measure/rounds.hpp"
#include "measure/sampler.hpp"
#include "measure/statistics.hpp"
#include "measure/stop_rule.hpp"
#include "sampler_series.hpp"

namespace roofline {
namespace {

using synthetic::FakeDevice;

/// Someone else on the machine: at work for `on_s`, then idle for `off_s`, each exponential with that mean. Meanwhile
/// we run at `speed` of what the machine can do; at 0, not at all.
struct Neighbour {
  double on_s = 0;
  double off_s = 1;
  double speed = 0;
};

class Random {
 public:
  explicit Random(std::uint64_t seed) : random_(seed) {}
  double uniform() { return (static_cast<double>(random_() >> 11) + 1) * 0x1p-53; }  // in (0, 1]
  double exponential(double mean) { return -mean * std::log(uniform()); }
  double gaussian() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform()); }

 private:
  std::mt19937_64 random_;
};

/// A machine and its neighbours over time, which only goes on.
class World {
 public:
  World(const std::vector<Neighbour>& neighbours, std::uint64_t seed) : random_(seed) {
    for (const Neighbour& neighbour : neighbours) {
      const bool on = random_.uniform() < neighbour.on_s / (neighbour.on_s + neighbour.off_s);
      states_.push_back({neighbour, on, random_.exponential(on ? neighbour.on_s : neighbour.off_s)});
    }
  }

  /// When work of so many undisturbed seconds is done that begins at `now`.
  double finish(double now, double work) {
    for (;;) {
      double speed = 1;
      double change = std::numeric_limits<double>::infinity();
      for (State& state : states_) {
        while (state.until <= now) {
          state.on = !state.on;
          state.until += random_.exponential(state.on ? state.who.on_s : state.who.off_s);
        }
        if (state.on) speed *= state.who.speed;
        change = std::min(change, state.until);
      }
      if (work <= (change - now) * speed) return now + work / speed;
      work -= (change - now) * speed;
      now = change;
    }
  }

  Random& random() { return random_; }

 private:
  struct State {
    Neighbour who;
    bool on = false;
    double until = 0;
  };

  Random random_;
  std::vector<State> states_;
};

constexpr double kNoise = 0.005;
constexpr std::size_t kMembers = 8;

/// Undisturbed seconds a launch: 0.2 to 2.3 ms.
double clean_seconds(std::size_t member) { return 0.2e-3 * std::pow(std::sqrt(2.0), static_cast<double>(member)); }

/// One calibration's clock and kernels.
class SharedHost {
 public:
  SharedHost(const std::vector<Neighbour>& neighbours, std::uint64_t seed)
      : world_(neighbours, seed), device_([this](std::int64_t launches, int, double now) {
          const double noise = 1 + kNoise * world_.random().gaussian();
          return world_.finish(now, noise * clean_seconds(member_) * static_cast<double>(launches)) - now;
        }) {
    device_.now_s = 0;
  }

  Samples sample(std::size_t member, const SamplerOptions& options, StopRule& rule) {
    member_ = member;
    constexpr double kMaking = 0.03;  // of a case, before it can be timed
    device_.now_s = world_.finish(device_.now_s, kMaking);
    return roofline::sample(device_.bench(), options, rule);
  }

  Samples visit(std::size_t member) {
    StopAtLeast rule;
    return sample(member, visit_options({}), rule);
  }

  double now() const { return device_.now_s; }

 private:
  World world_;
  std::size_t member_ = 0;
  FakeDevice device_;
};

struct Calibration {
  std::vector<FastPlateau> plateaus;
  double share = 0;
  double took_s = 0;
};

Calibration calibrate_in_rounds(SharedHost& machine) {
  std::vector<std::vector<Round>> rounds(kMembers);
  Calibration found{.plateaus = std::vector<FastPlateau>(kMembers)};
  // They are slowed by the same causes, so that they settle together.
  const auto settled = [&](std::size_t) {
    return machine.now() >= 20 && std::all_of(found.plateaus.begin(), found.plateaus.end(),
                                              [&](const FastPlateau& plateau) { return plateau.reached(found.share); });
  };
  Rounds order(kMembers, kMembers, {.roofs_end_s = 55, .end_s = 55});
  while (const auto member = order.next(machine.now(), settled)) {
    // The others of some thirty probes are visited in between: their time passes, and they tell nothing here.
    Samples samples = machine.visit(*member);
    for (int other = 0; other < 3; ++other) machine.visit(*member);
    rounds[*member].push_back({std::move(samples.seconds), {}});
    found.plateaus[*member] = fast_plateau(rounds[*member]);
    Slowdowns slowdowns;
    for (const FastPlateau& plateau : found.plateaus) slowdowns.add(plateau);
    found.share = slowdowns.slowed_share();
  }
  found.took_s = machine.now();
  return found;
}

/// What a table row says, of all members of all calibrations. Errors are those of the rate: below 0 is too low.
struct RoundsRow {
  double reached = 0;        ///< share of ceilings that are not marked
  double silently_low = 0;   ///< share that are not marked and more than 2 % too low
  double plateau_low = 0;    ///< 5th percentile of the error of what is not marked
  double plateau_high = 0;   ///< 95th percentile
  double median_low = 0;     ///< 5th percentile of the error of the classical median, in one stretch
  double best_high = 0;      ///< 95th percentile of the error of the best of the same samples
  double best_low = 0;       ///< 5th percentile
  double typical_share = 0;  ///< median of typical / plateau
  double took_s = 0;         ///< median
};

double at(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  return quantile(values, p);
}

RoundsRow simulate(const std::string& title, const std::vector<Neighbour>& neighbours, int calibrations = 50) {
  std::vector<double> plateau_errors, median_errors, best_errors, typical, took;
  RoundsRow row;
  const double weight = 1.0 / (calibrations * static_cast<double>(kMembers));
  for (int seed = 1; seed <= calibrations; ++seed) {
    SharedHost machine(neighbours, static_cast<std::uint64_t>(seed));
    const Calibration found = calibrate_in_rounds(machine);
    took.push_back(found.took_s);
    for (std::size_t member = 0; member < kMembers; ++member) {
      const FastPlateau& plateau = found.plateaus[member];
      const double error = clean_seconds(member) / plateau.seconds - 1;
      typical.push_back(plateau.seconds / plateau.median_s);
      if (!plateau.reached(found.share)) continue;
      row.reached += weight;
      plateau_errors.push_back(error);
      if (error < -0.02) row.silently_low += weight;
    }
    // The classical way: each in one stretch, one after another.
    SharedHost other(neighbours, static_cast<std::uint64_t>(seed));
    for (std::size_t member = 0; member < kMembers; member += 2) {
      SamplerOptions options;
      options.warm_up_s = 0.1;
      options.max_time_s = 0.6;
      MedianStop rule(options.relative_half_width, options.min_samples);
      const Samples samples = other.sample(member, options, rule);
      median_errors.push_back(clean_seconds(member) / samples.summary.median - 1);
      best_errors.push_back(clean_seconds(member) / samples.summary.min - 1);
    }
  }
  row.plateau_low = at(plateau_errors, 0.05);
  row.plateau_high = at(plateau_errors, 0.95);
  row.median_low = at(median_errors, 0.05);
  row.best_low = at(best_errors, 0.05);
  row.best_high = at(best_errors, 0.95);
  row.typical_share = at(typical, 0.5);
  row.took_s = at(took, 0.5);
  std::printf("%-40s %7.0f %% %6.1f %% %+6.1f to %+5.1f %% %8.2f %8.0f s %+8.1f %% %+8.1f to %+5.1f %%\n",
              title.c_str(), 100 * row.reached, 100 * row.silently_low, 100 * row.plateau_low, 100 * row.plateau_high,
              row.typical_share, row.took_s, 100 * row.median_low, 100 * row.best_low, 100 * row.best_high);
  std::fflush(stdout);
  return row;
}

void print_rounds_header() {
  std::printf("%-40s %9s %8s %18s %8s %10s %10s %21s\n", "neighbours", "reached", "low", "plateau's error", "typical",
              "took", "median", "best of the stretch");
}

TEST(RoundsEvidence, AQuietMachineEndsEarlyAndItsMedianIsThePlateau) {
  print_rounds_header();
  const RoundsRow quiet = simulate("none", {});
  EXPECT_NEAR(quiet.reached, 1, 1e-9);
  EXPECT_GE(quiet.plateau_low, 0);
  EXPECT_LE(quiet.plateau_high, 0.01);
  EXPECT_GE(quiet.typical_share, 0.99);
  EXPECT_LE(quiet.took_s, 25);
}

TEST(RoundsEvidence, ThePlateauIsReachedOrMarkedAndNeverSilentlyLow) {
  const double slice = 0.004;
  const RoundsRow bursts = simulate("bursts of 5 ms, five a second", {{0.005, 0.2, 0}});
  const RoundsRow quarter = simulate("25 % stolen in slices of 4 ms", {{slice, 3 * slice, 0}});
  const RoundsRow half = simulate("50 % stolen in slices of 4 ms", {{slice, slice, 0}});
  const RoundsRow most = simulate("75 % stolen in slices of 4 ms", {{slice, slice / 3, 0}});
  const RoundsRow quarter_phases = simulate("0.6 of the speed in phases of 1 s, 25 %", {{1, 3, 0.6}});
  const RoundsRow half_phases = simulate("0.6 of the speed in phases of 2 s, 50 %", {{2, 2, 0.6}});
  const RoundsRow most_phases = simulate("0.6 of the speed in phases of 3 s, 75 %", {{3, 1, 0.6}});
  const RoundsRow two_phases = simulate("two: 0.7 for 2 of 4 s, 0.6 for 1 of 4 s", {{2, 2, 0.7}, {1, 3, 0.6}});
  const RoundsRow mixed = simulate("two: slices of 4 in 12 ms, 0.7 for 2 of 4 s", {{slice, 2 * slice, 0}, {2, 2, 0.7}});
  for (const RoundsRow& row :
       {bursts, quarter, half, most, quarter_phases, half_phases, most_phases, two_phases, mixed}) {
    EXPECT_EQ(row.silently_low, 0);
    EXPECT_FALSE(row.plateau_high > 0.015);  // NaN where none is reached
  }
  for (const RoundsRow& row : {bursts, quarter, half, quarter_phases, half_phases}) {
    EXPECT_GE(row.reached, 0.9);
  }
  // What it replaces: a median that follows the neighbours.
  EXPECT_LE(half_phases.median_low, -0.3);
  EXPECT_LE(most_phases.median_low, -0.3);
}

}  // namespace
}  // namespace roofline
