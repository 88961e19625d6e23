// The evidence for the sampler's statistics, recomputed: 2,000 seeded series of each kind of noise, with
// and without what protects against it. Prints the table of docs/method.md and holds it to its figures.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>

#include "measure/sampler.hpp"
#include "measure/statistics.hpp"
#include "measure/stop_rule.hpp"
#include "sampler_series.hpp"

namespace roofline {
namespace {

using synthetic::FakeDevice;
using synthetic::Noise;
using synthetic::NoisySeries;

constexpr double kHalfWidth = 0.005;

/// An estimate and its interval, as some rule sees them.
struct Claim {
  double centre = 0;
  Interval ci95;
};

/// Looks as often as MedianStop does and stops as soon as its claim is narrow: the rules compared below.
class ClaimStop : public StopRule {
 public:
  bool due(std::int64_t samples) const override { return samples >= next_look_; }
  bool converged(std::span<const double> series) override {
    const auto n = static_cast<std::int64_t>(series.size());
    next_look_ = n + std::max<std::int64_t>(1, n / 10);
    last = claim(series);
    const double room = kHalfWidth * last.centre;
    return last.centre - last.ci95.low <= room && last.ci95.high - last.centre <= room;
  }
  Claim last;

 protected:
  virtual Claim claim(std::span<const double> series) const = 0;

 private:
  std::int64_t next_look_ = 0;
};

/// The median's interval as if all samples were independent.
class Unshrunk : public ClaimStop {
  Claim claim(std::span<const double> series) const override {
    std::vector<double> ascending(series.begin(), series.end());
    std::sort(ascending.begin(), ascending.end());
    return {quantile(ascending, 0.5), median_interval(ascending, static_cast<double>(ascending.size()))};
  }
};

/// Shrunk by the usual autocorrelation (sums of squares), which spikes blind.
class ShrunkBySquares : public ClaimStop {
  Claim claim(std::span<const double> series) const override {
    const double n = static_cast<double>(series.size());
    const double mean = std::accumulate(series.begin(), series.end(), 0.0) / n;
    double variance = 0;
    double covariance = 0;
    for (std::size_t i = 0; i < series.size(); ++i) variance += (series[i] - mean) * (series[i] - mean);
    for (std::size_t i = 0; i + 1 < series.size(); ++i) covariance += (series[i] - mean) * (series[i + 1] - mean);
    std::vector<double> ascending(series.begin(), series.end());
    std::sort(ascending.begin(), ascending.end());
    const double effective = effective_samples(static_cast<std::int64_t>(series.size()), covariance / variance);
    return {quantile(ascending, 0.5), median_interval(ascending, effective)};
  }
};

/// Mean ± 1.96 σ/√n: what most tools stop by.
class MeanStop : public ClaimStop {
  Claim claim(std::span<const double> series) const override {
    const double n = static_cast<double>(series.size());
    const double mean = std::accumulate(series.begin(), series.end(), 0.0) / n;
    double squares = 0;
    for (const double value : series) squares += (value - mean) * (value - mean);
    const double half = 1.96 * std::sqrt(squares / (n - 1) / n);
    return {mean, {mean - half, mean + half}};
  }
};

/// Options under which nothing but the stopping rule decides.
SamplerOptions rule_only() {
  SamplerOptions options;
  options.warm_up_s = 0;
  options.max_time_s = 1e9;
  options.relative_half_width = kHalfWidth;
  return options;
}

FakeDevice::Seconds launches_of(const Noise& noise, std::uint64_t seed) {
  return [series = NoisySeries(noise, seed)](std::int64_t launches, int, double) mutable {
    double seconds = 0;
    for (std::int64_t i = 0; i < launches; ++i) seconds += 0.01 * series();
    return seconds;
  };
}

struct EvidenceRow {
  double samples = 0;    ///< median number taken
  double coverage = 0;   ///< share of intervals that hold the true median
  double error95 = 0;    ///< 95th percentile of |estimate / clean time - 1|
  double converged = 0;  ///< share
  double drifting = 0;   ///< share that was (wrongly) called drifting
};

/// Samples `count` series; `Rule` void means the sampler's own.
template <class Rule>
EvidenceRow simulate(const std::string& title, const Noise& noise, int count = 2000) {
  std::vector<double> samples_taken;
  std::vector<double> errors;
  EvidenceRow row;
  for (int seed = 1; seed <= count; ++seed) {
    FakeDevice device(launches_of(noise, static_cast<std::uint64_t>(seed)));
    Samples samples;
    Claim claim;
    if constexpr (std::is_void_v<Rule>) {
      samples = sample(device.bench(), rule_only());
      claim = {samples.summary.median, samples.summary.ci95};
    } else {
      Rule rule;
      samples = sample(device.bench(), rule_only(), rule);
      claim = rule.last;
    }
    const double truth = 0.01 * noise.true_median();
    samples_taken.push_back(static_cast<double>(samples.summary.samples));
    errors.push_back(std::abs(claim.centre / (0.01 * noise.scale) - 1));
    row.coverage += claim.ci95.low <= truth && truth <= claim.ci95.high ? 1.0 / count : 0;
    row.converged += samples.summary.stop == StopReason::converged ? 1.0 / count : 0;
    row.drifting += samples.summary.drifting ? 1.0 / count : 0;
  }
  std::sort(errors.begin(), errors.end());
  row.samples = median(samples_taken);
  row.error95 = quantile(errors, 0.95);
  std::printf("%-46s %8.0f %9.1f %% %9.2f %% %9.1f %%\n", title.c_str(), row.samples, 100 * row.coverage,
              100 * row.error95, 100 * row.drifting);
  return row;
}

void print_header(const char* rule) {
  std::printf("%-46s %8s %11s %11s %11s\n", rule, "samples", "coverage", "95 % error", "drifting");
}

const Noise kGaussian{};
const Noise kSpiked{.spike_share = 0.02};
const Noise kCorrelated5{.correlation = 0.5};
const Noise kCorrelated9{.correlation = 0.9};
const Noise kCorrelated9Spiked{.correlation = 0.9, .spike_share = 0.02};

TEST(SamplerEvidence, TheIntervalCoversTheTrueMedian) {
  print_header("the sampler (median, ranks, n_eff >= 32)");
  const EvidenceRow gaussian = simulate<void>("1 % Gaussian noise", kGaussian);
  EXPECT_GE(gaussian.coverage, 0.95);
  EXPECT_LE(gaussian.samples, 55);
  EXPECT_LE(gaussian.error95, 0.004);
  const EvidenceRow spiked = simulate<void>("1 % Gaussian noise, 2 % spiked x3", kSpiked);
  EXPECT_GE(spiked.coverage, 0.95);
  EXPECT_LE(spiked.samples, 60);
  EXPECT_LE(spiked.error95, 0.004);
  const EvidenceRow half = simulate<void>("AR(1), r = 0.5", kCorrelated5);
  EXPECT_GE(half.coverage, 0.95);
  EXPECT_LE(half.error95, 0.005);
  const EvidenceRow high = simulate<void>("AR(1), r = 0.9", kCorrelated9);
  EXPECT_GE(high.coverage, 0.95);
  EXPECT_LE(high.error95, 0.005);
  const EvidenceRow both = simulate<void>("AR(1), r = 0.9, 2 % spiked x3", kCorrelated9Spiked);
  EXPECT_GE(both.coverage, 0.90);
  EXPECT_LE(both.error95, 0.005);
  for (const EvidenceRow& row : {gaussian, spiked, half, high, both}) {
    EXPECT_DOUBLE_EQ(std::round(row.converged * 2000), 2000);
    EXPECT_LE(row.drifting, 0.01) << "stationary noise is no drift";
  }
}

TEST(SamplerEvidence, WithoutTheEffectiveCountTheCoverageCollapses) {
  print_header("the median's interval with n for n_eff");
  EXPECT_GE(simulate<Unshrunk>("1 % Gaussian noise", kGaussian).coverage, 0.94);
  const EvidenceRow half = simulate<Unshrunk>("AR(1), r = 0.5", kCorrelated5);
  EXPECT_LE(half.coverage, 0.86);
  EXPECT_GE(half.coverage, 0.75);
  const EvidenceRow high = simulate<Unshrunk>("AR(1), r = 0.9", kCorrelated9);
  EXPECT_LE(high.coverage, 0.47);
  EXPECT_GE(high.coverage, 0.28);
}

TEST(SamplerEvidence, SpikesBlindTheUsualAutocorrelation) {
  print_header("n_eff from sums of squares, no least n_eff");
  EXPECT_GE(simulate<ShrunkBySquares>("1 % Gaussian noise", kGaussian).coverage, 0.95);
  EXPECT_LE(simulate<ShrunkBySquares>("AR(1), r = 0.9", kCorrelated9).coverage, 0.92);
  EXPECT_LE(simulate<ShrunkBySquares>("AR(1), r = 0.9, 2 % spiked x3", kCorrelated9Spiked).coverage, 0.60);
}

TEST(SamplerEvidence, TheMeanFollowsTheSpikes) {
  print_header("mean +- 1.96 sigma/sqrt(n) (400 series)");
  EXPECT_GE(simulate<MeanStop>("1 % Gaussian noise", kGaussian, 400).coverage, 0.92);
  const EvidenceRow spiked = simulate<MeanStop>("1 % Gaussian noise, 2 % spiked x3", kSpiked, 400);
  EXPECT_LE(spiked.coverage, 0.65);
  EXPECT_GE(spiked.error95, 0.02);
}

// Very slow but very small noise ends early with an interval that stands for it; slow and not small does not.
TEST(SamplerEvidence, SlowNoiseEndsEarlyOnlyWhereItIsSmall) {
  print_header("the sampler, slow noise (400 series)");
  EXPECT_LE(simulate<void>("0.02 % Gaussian noise", {.deviation = 0.0002}, 400).samples, 32);
  const EvidenceRow small =
      simulate<void>("0.05 % noise, AR(1), r = 0.99", {.deviation = 0.0005, .correlation = 0.99}, 400);
  EXPECT_LE(small.samples, 64);
  EXPECT_GE(small.coverage, 0.85);
  EXPECT_LE(small.error95, kHalfWidth / 2);
  const EvidenceRow great = simulate<void>("1 % noise, AR(1), r = 0.99", {.correlation = 0.99}, 100);
  EXPECT_GE(great.samples, 3000);
  EXPECT_GE(great.coverage, 0.90);
}

bool overlap(const Interval& a, const Interval& b) { return a.low <= b.high && b.low <= a.high; }

Interval interval_of(Noise noise, double scale, std::uint64_t seed) {
  noise.scale = scale;
  FakeDevice device(launches_of(noise, seed));
  return sample(device.bench(), rule_only()).summary.ci95;
}

// The two things that would make a sampler worse than useless: a difference between identical kernels, and
// a real one missed.
TEST(SamplerEvidence, IdenticalKernelsAreAlikeAndDifferentOnesAreTold) {
  constexpr int kComparisons = 500;
  for (const Noise& noise : {kGaussian, kSpiked, kCorrelated5, kCorrelated9}) {
    int alike = 0;
    int told = 0;
    for (std::uint64_t seed = 1; seed <= kComparisons; ++seed) {
      const Interval base = interval_of(noise, 1, 3 * seed);
      alike += overlap(base, interval_of(noise, 1, 3 * seed + 1)) ? 1 : 0;
      told += overlap(base, interval_of(noise, 1.03, 3 * seed + 2)) ? 0 : 1;
    }
    std::printf("r = %.1f, %.0f %% spiked: %5.1f %% of identical pairs overlap, %5.1f %% of pairs 3 %% apart do not\n",
                noise.correlation, 100 * noise.spike_share, 100.0 * alike / kComparisons, 100.0 * told / kComparisons);
    EXPECT_GE(alike, 0.97 * kComparisons);
    EXPECT_GE(told, 0.99 * kComparisons);
  }
}

}  // namespace
}  // namespace roofline
