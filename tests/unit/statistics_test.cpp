// The pure functions of measure/statistics, on inputs with known answers.
#include "measure/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "measure/stop_rule.hpp"
#include "measure/summary.hpp"
#include "sampler_series.hpp"

namespace roofline {
namespace {

using synthetic::Noise;
using synthetic::NoisySeries;

std::vector<double> counting(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

double pearson_lag1(const std::vector<double>& x) {
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
  double variance = 0;
  double covariance = 0;
  for (std::size_t i = 0; i < x.size(); ++i) variance += (x[i] - mean) * (x[i] - mean);
  for (std::size_t i = 0; i + 1 < x.size(); ++i) covariance += (x[i] - mean) * (x[i + 1] - mean);
  return covariance / variance;
}

TEST(Statistics, QuantilesInterpolateBetweenOrderStatistics) {
  const std::vector<double> values{10, 20, 30, 40, 50};
  EXPECT_DOUBLE_EQ(quantile(values, 0), 10);
  EXPECT_DOUBLE_EQ(quantile(values, 0.25), 20);
  EXPECT_DOUBLE_EQ(quantile(values, 0.5), 30);
  EXPECT_DOUBLE_EQ(quantile(values, 0.9), 46);
  EXPECT_DOUBLE_EQ(quantile(values, 1), 50);
  EXPECT_DOUBLE_EQ(quantile(std::vector<double>{7}, 0.3), 7);
  EXPECT_TRUE(std::isnan(quantile({}, 0.5)));
}

TEST(Statistics, MedianOfOddEvenAndNone) {
  EXPECT_DOUBLE_EQ(median({5, 1, 3}), 3);
  EXPECT_DOUBLE_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_DOUBLE_EQ(median({9}), 9);
  EXPECT_TRUE(std::isnan(median({})));
}

TEST(Statistics, MedianRanksAreThoseOfTheTables) {
  using Ranks = std::pair<std::int64_t, std::int64_t>;
  for (int n = 0; n < 6; ++n) EXPECT_FALSE(quantile_ranks(n, 0.5, 0.95)) << n;
  EXPECT_EQ(quantile_ranks(6, 0.5, 0.95), Ranks(1, 6));
  EXPECT_EQ(quantile_ranks(10, 0.5, 0.95), Ranks(2, 9));
  EXPECT_EQ(quantile_ranks(20, 0.5, 0.95), Ranks(6, 15));
  EXPECT_EQ(quantile_ranks(25, 0.5, 0.95), Ranks(8, 18));
  EXPECT_EQ(quantile_ranks(50, 0.5, 0.95), Ranks(18, 33));
  EXPECT_EQ(quantile_ranks(100, 0.5, 0.95), Ranks(40, 61));
  EXPECT_FALSE(quantile_ranks(7, 0.5, 0.99));
  EXPECT_EQ(quantile_ranks(8, 0.5, 0.99), Ranks(1, 8));
}

TEST(Statistics, QuantileRanksOfATenth) {
  using Ranks = std::pair<std::int64_t, std::int64_t>;
  EXPECT_FALSE(quantile_ranks(35, 0.1, 0.95)) << "0.9^35 = 2.503 %";
  const auto fewest = quantile_ranks(36, 0.1, 0.95);
  ASSERT_TRUE(fewest);
  EXPECT_EQ(fewest->first, 1);
  // Binomial(100, 0.1): P(< 5) = 2.37 %, P(< 6) = 5.76 %; P(>= 17) = 2.06 %, P(>= 16) = 3.99 %.
  EXPECT_EQ(quantile_ranks(100, 0.1, 0.95), Ranks(5, 17));
}

// Against Pascal's triangle, whose entries below 2^53 are exact.
TEST(Statistics, MedianRanksAreTheNarrowestThatHoldTheConfidence) {
  std::vector<double> row{1};
  for (int n = 1; n <= 54; ++n) {
    std::vector<double> next(row.size() + 1, 1.0);
    for (std::size_t k = 1; k < row.size(); ++k) next[k] = row[k - 1] + row[k];
    row = next;
    double tail = 0;
    std::int64_t expected = 0;
    for (std::size_t k = 0; k <= static_cast<std::size_t>(n) / 2; ++k) {
      tail += std::ldexp(row[k], -n);
      if (tail <= 0.025) expected = static_cast<std::int64_t>(k) + 1;
    }
    const auto ranks = quantile_ranks(n, 0.5, 0.95);
    ASSERT_EQ(ranks.has_value(), expected >= 1) << n;
    if (ranks) {
      EXPECT_EQ(*ranks, std::pair(expected, n + 1 - expected)) << n;
    }
  }
}

TEST(Statistics, MedianRanksOfManySamplesFollowTheNormalLaw) {
  for (const std::int64_t n : {1000, 20000, 1000000}) {
    const auto ranks = quantile_ranks(n, 0.5, 0.95);
    ASSERT_TRUE(ranks);
    const double expected = static_cast<double>(n) / 2 - 1.959964 * std::sqrt(static_cast<double>(n)) / 2;
    EXPECT_NEAR(static_cast<double>(ranks->first), expected, 1.5) << n;
  }
}

TEST(Statistics, IndependentSamplesGetTheExactInterval) {
  const Interval interval = median_interval(counting(100), 100);
  EXPECT_DOUBLE_EQ(interval.low, 40);
  EXPECT_DOUBLE_EQ(interval.high, 61);
}

TEST(Statistics, FewerEffectiveSamplesWidenTheIntervalSymmetrically) {
  const std::vector<double> values = counting(1000);
  double narrower = 0;
  for (const double effective : {1000.0, 500.0, 100.0, 30.0, 10.0, 6.0}) {
    const Interval interval = median_interval(values, effective);
    EXPECT_GT(interval.high - interval.low, narrower) << effective;
    EXPECT_DOUBLE_EQ(interval.low + interval.high, 1001) << effective;
    narrower = interval.high - interval.low;
  }
  // Rank 40 of 100 estimates the quantile 40/101, which 1,000 samples hold at rank 396.4.
  EXPECT_DOUBLE_EQ(median_interval(values, 100.9).low, 396);
}

TEST(Statistics, TooFewEffectiveSamplesGiveNoInterval) {
  for (const double effective : {5.99, 1.0, 0.2, 0.0, -3.0, std::numeric_limits<double>::quiet_NaN()}) {
    const Interval interval = median_interval(counting(1000), effective);
    EXPECT_TRUE(std::isnan(interval.low) && std::isnan(interval.high)) << effective;
  }
  EXPECT_TRUE(std::isnan(median_interval({}, 100).low));
}

TEST(Statistics, EffectiveSamplesNeverExceedThoseTaken) {
  EXPECT_DOUBLE_EQ(effective_samples(90, 0.5), 30);
  EXPECT_DOUBLE_EQ(effective_samples(190, 0.9), 10);
  EXPECT_DOUBLE_EQ(effective_samples(100, 0), 100);
  EXPECT_DOUBLE_EQ(effective_samples(100, -0.8), 100);
  EXPECT_DOUBLE_EQ(effective_samples(100, 1), 0);
}

TEST(Statistics, AutocorrelationOfKnownSeries) {
  for (const double r : {0.0, 0.3, 0.6, 0.9}) {
    EXPECT_NEAR(lag1_autocorrelation(NoisySeries({.correlation = r}, 5).take(20000)), r, 0.02) << r;
  }
  std::vector<double> alternating(200, 1.0);
  for (std::size_t i = 1; i < alternating.size(); i += 2) alternating[i] = 2.0;
  EXPECT_LT(lag1_autocorrelation(alternating), -0.98);
  EXPECT_GT(lag1_autocorrelation(counting(200)), 0.98);
  EXPECT_EQ(lag1_autocorrelation(std::vector<double>(100, 3.5)), 0);
  EXPECT_EQ(lag1_autocorrelation(counting(5)), 0);
}

TEST(Statistics, ShortSeriesDoNotUnderstateTheirCorrelation) {
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    sum += lag1_autocorrelation(NoisySeries({.correlation = 0.6}, seed).take(32));
  }
  EXPECT_NEAR(sum / 2000, 0.6, 0.04);
}

TEST(Statistics, SpikesDoNotHideTheCorrelation) {
  const std::vector<double> series = NoisySeries({.correlation = 0.9, .spike_share = 0.02}, 9).take(5000);
  EXPECT_LT(pearson_lag1(series), 0.1) << "the usual estimate sees nothing but the spikes";
  EXPECT_GT(lag1_autocorrelation(series), 0.8);
}

TEST(Statistics, AQuietSeriesHasAnIntervalHoweverCorrelated) {
  std::vector<double> creeping(100);
  for (std::size_t i = 0; i < creeping.size(); ++i) creeping[i] = 1 + 1e-5 * static_cast<double>(i);
  const MedianEstimate quiet = estimate_median(creeping);
  EXPECT_LT(quiet.effective_samples, 6);
  EXPECT_TRUE(quiet.quiet);
  EXPECT_DOUBLE_EQ(quiet.ci95.low, 1 - 1e-5 * 99);
  EXPECT_DOUBLE_EQ(quiet.ci95.high, 1 + 1e-5 * 198);

  const MedianEstimate loud = estimate_median(counting(100));
  EXPECT_FALSE(loud.quiet);
  EXPECT_TRUE(std::isnan(loud.ci95.low));
}

TEST(Statistics, TheIntervalOfAMean) {
  std::vector<double> series = {9, 11, 9, 11, 9, 11, 9, 11, 9, 11};
  // A standard deviation of 1.054 and, of ten values, t = 2.262.
  const Interval even = mean_interval(series);
  EXPECT_NEAR(std::log(even.high / 10), 2.262 * 1.0541 / std::sqrt(10.0) / 10, 1e-4);
  EXPECT_NEAR(even.low * even.high, 100, 1e-9);
  series.back() = 60;  // one that is slow may be chance
  const double mean = 14.9;
  const Interval spiked = mean_interval(series);
  EXPECT_LT(spiked.low, 10);
  EXPECT_GT(spiked.low, 0);
  EXPECT_GT(spiked.high, mean);
  EXPECT_EQ(mean_interval(std::vector<double>(8, 3.0)).width(), 0);
  EXPECT_FALSE(mean_interval(std::vector<double>(5, 3.0)).known());
  EXPECT_FALSE(mean_interval({}).known());
}

TEST(Statistics, SummaryOfAKnownSeries) {
  const Summary summary = summarize(std::vector<double>{3, 1, 2, 5, 4});
  EXPECT_EQ(summary.samples, 5);
  EXPECT_DOUBLE_EQ(summary.median, 3);
  EXPECT_DOUBLE_EQ(summary.min, 1);
  EXPECT_DOUBLE_EQ(summary.q05, 1.2);
  EXPECT_DOUBLE_EQ(summary.q25, 2);
  EXPECT_DOUBLE_EQ(summary.q75, 4);
  EXPECT_DOUBLE_EQ(summary.q95, 4.8);
  EXPECT_DOUBLE_EQ(summary.max, 5);
  EXPECT_TRUE(std::isnan(summary.ci95.low)) << "five samples have no 95 % interval";
  const Summary none = summarize({});
  EXPECT_EQ(none.samples, 0);
  EXPECT_TRUE(std::isnan(none.median) && std::isnan(none.min) && std::isnan(none.ci95.high));
}

TEST(Statistics, DriftIsFoundInTrendsAndSteps) {
  for (const double deviation : {0.0, 0.001, 0.01}) {
    std::vector<double> trend = NoisySeries({.deviation = deviation}, 3).take(600);
    std::vector<double> step = trend;
    std::vector<double> slight = trend;
    for (std::size_t i = 0; i < trend.size(); ++i) {
      trend[i] *= 1 + 0.06 * static_cast<double>(i) / 600;
      step[i] *= i < 290 ? 1.04 : 1.0;
      slight[i] *= 1 + 0.009 * static_cast<double>(i) / 600;
    }
    EXPECT_TRUE(drifts(trend)) << deviation;
    EXPECT_TRUE(drifts(step)) << deviation;
    EXPECT_FALSE(drifts(slight)) << "thirds that differ by 0.6 % are no drift, deviation " << deviation;
  }
}

TEST(Statistics, StationarySeriesRarelyLookLikeDrift) {
  for (const Noise& noise : {Noise{}, Noise{.deviation = 0.1}, Noise{.spike_share = 0.02}, Noise{.correlation = 0.9}}) {
    int flagged = 0;
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) flagged += drifts(NoisySeries(noise, seed).take(150)) ? 1 : 0;
    EXPECT_LE(flagged, 25) << "deviation " << noise.deviation << ", r " << noise.correlation;
  }
}

TEST(Statistics, TheStopRuleLooksAtGrowingLengthsOnly) {
  MedianStop rule(1e-9, 32);
  NoisySeries noise({}, 1);
  std::vector<double> series;
  int looks = 0;
  for (int n = 1; n <= 20000; ++n) {
    series.push_back(noise());
    if (n < 32 || !rule.due(n)) continue;
    ++looks;
    EXPECT_FALSE(rule.converged(series));
  }
  EXPECT_GT(looks, 40);
  EXPECT_LT(looks, 80) << "each look sorts the series";
}

TEST(Statistics, StopReasonsAreSpelledBothWays) {
  for (const StopReason reason : {StopReason::converged, StopReason::time_limit, StopReason::sample_limit,
                                  StopReason::cancelled, StopReason::bad_reading}) {
    EXPECT_EQ(parse_stop_reason(to_string(reason)), reason);
  }
  EXPECT_FALSE(parse_stop_reason("tired"));
}

}  // namespace
}  // namespace roofline
