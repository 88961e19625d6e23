// Rounds are compared by the tenth percentile of their times; those that agree are pooled, and the tenth percentile
// of the pool is the plateau.
#include "measure/fast_plateau.hpp"

#include <algorithm>
#include <cmath>

#include "measure/statistics.hpp"

namespace roofline {
namespace {

/// Low enough to be on the plateau if nine of ten samples are disturbed, and high enough not to follow one lucky
/// reading: on 1 % Gaussian noise it is 1.3 % below the median, where the fastest of 1,000 is 3.2 % below.
constexpr double kFast = 0.1;
constexpr double kAgreeing = 1.01;
constexpr double kSlowed = 1.03;
constexpr double kKnownWithin = 0.01;
constexpr std::int64_t kLeastAgreeing = 2;
constexpr std::int64_t kLeastRounds = 3;
constexpr std::int64_t kLeastSupport = 10;
constexpr double kLeastDoubt = 0.001;

double fast_tenth(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return quantile(seconds, kFast);
}

/// Effective sample size for the share of samples up to `level`: by the lag-1 autocorrelation of that indicator.
double worth_of(std::span<const double> series, double level) {
  const auto n = static_cast<double>(series.size());
  const auto below = [&](std::size_t i) { return series[i] <= level ? 1.0 : 0.0; };
  double share = 0;
  for (std::size_t i = 0; i < series.size(); ++i) share += below(i) / n;
  double covariance = 0;
  for (std::size_t i = 0; i + 1 < series.size(); ++i) covariance += (below(i) - share) * (below(i + 1) - share);
  const double variance = n * share * (1 - share);
  return effective_samples(static_cast<std::int64_t>(series.size()), variance > 0 ? covariance / variance : 0);
}

/// The clock of the fastest tenth, as far as readings after each sample show it.
std::optional<double> clock_of_support(std::span<const Round> rounds, double most_s) {
  std::vector<double> clocks;
  for (const Round& round : rounds) {
    for (std::size_t i = 0; i < round.clock_hz.size() && i < round.seconds.size(); ++i) {
      if (round.seconds[i] <= most_s) clocks.push_back(round.clock_hz[i]);
    }
  }
  if (clocks.empty()) return std::nullopt;
  std::sort(clocks.begin(), clocks.end());
  return quantile(clocks, 1 - kFast);
}

/// Cycles of the samples of up to `most_s` seconds.
std::optional<double> work_clock_of_support(std::span<const Round> rounds, double seconds, double most_s) {
  std::vector<double> times, clocks;
  for (const Round& round : rounds) {
    for (std::size_t i = 0; i < round.work_clock_hz.size() && i < round.seconds.size(); ++i) {
      if (round.seconds[i] > most_s) continue;
      times.push_back(round.seconds[i]);
      clocks.push_back(round.work_clock_hz[i]);
    }
  }
  return clock_of_cycles(times, clocks, seconds);
}

}  // namespace

bool FastPlateau::supported() const {
  const bool known = ci95.low >= seconds * (1 - kKnownWithin) && ci95.high <= seconds * (1 + kKnownWithin);
  return agreeing >= kLeastAgreeing && support >= kLeastSupport && known;
}

double FastPlateau::chance_of_missing(double slowed_share) const {
  return std::pow(slowed_share, static_cast<double>(rounds));
}

bool FastPlateau::at_limit(double least_s) const {
  return support >= kLeastSupport && seconds <= least_s * (1 + kKnownWithin);
}

bool FastPlateau::reached(double slowed_share, double least_s) const {
  const bool seen = rounds >= kLeastRounds && supported() && chance_of_missing(slowed_share) < kLeastDoubt;
  return seen || at_limit(least_s);
}

FastPlateau fast_plateau(std::span<const Round> rounds) {
  FastPlateau plateau;
  std::vector<double> levels;  // of each round: infinite without samples
  std::vector<double> medians;
  std::vector<double> all;
  for (const Round& round : rounds) {
    levels.push_back(round.seconds.empty() ? std::numeric_limits<double>::infinity() : fast_tenth(round.seconds));
    if (!round.seconds.empty()) medians.push_back(median(round.seconds));
    all.insert(all.end(), round.seconds.begin(), round.seconds.end());
  }
  if (all.empty()) return plateau;

  const double fastest = *std::min_element(levels.begin(), levels.end());
  std::vector<double> series;  // of the rounds that agree
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    if (levels[i] > kSlowed * fastest && !rounds[i].seconds.empty()) ++plateau.slowed;
    if (levels[i] > kAgreeing * fastest) continue;
    ++plateau.agreeing;
    series.insert(series.end(), rounds[i].seconds.begin(), rounds[i].seconds.end());
  }
  std::vector<double> ascending = series;
  std::sort(ascending.begin(), ascending.end());
  plateau.seconds = quantile(ascending, kFast);
  plateau.ci95 = quantile_interval(ascending, kFast, worth_of(series, plateau.seconds));
  plateau.rounds = static_cast<std::int64_t>(medians.size());
  plateau.median_s = median(std::move(medians));
  plateau.samples = static_cast<std::int64_t>(all.size());
  const double most_s = kAgreeing * plateau.seconds;
  plateau.support = std::count_if(all.begin(), all.end(), [most_s](double seconds) { return seconds <= most_s; });
  plateau.clock_hz = clock_of_support(rounds, most_s);
  plateau.work_clock_hz = work_clock_of_support(rounds, plateau.seconds, most_s);
  return plateau;
}

void Slowdowns::add(const FastPlateau& plateau) {
  rounds_ += plateau.rounds;
  slowed_ += plateau.slowed;
}

double Slowdowns::slowed_share() const {
  if (rounds_ == 0) return 0;
  const auto count = static_cast<double>(rounds_);
  const double share = static_cast<double>(slowed_) / count;
  return std::min(1.0, share + 2 * std::sqrt(share * (1 - share) / count));
}

}  // namespace roofline
