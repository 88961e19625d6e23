// Blocks in ABBA order, a ratio for each pair, and when there are enough.
#include "measure/pairs.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "measure/statistics.hpp"
#include "measure/summary.hpp"

namespace roofline {
namespace {

/// Fewer pairs do not end the sampling by their interval, which may be narrow by chance.
constexpr std::int64_t kLeastToConverge = 16;
constexpr double kMostLaunches = 1 << 20;

/// One side, with the launches of its blocks.
class Blocks {
 public:
  Blocks(const PairedSide& side, double block_s)
      : side_(side), launches_(whole_quanta(std::clamp(std::round(block_s / side.launch_s), 1.0, kMostLaunches))) {}

  double block_s() const { return side_.launch_s * static_cast<double>(launches_); }
  double cost_s() const {
    return block_s() + (side_.lead_in ? side_.launch_s * static_cast<double>(side_.launch_quantum) : 0);
  }

  /// Seconds per launch; std::nullopt for an invalid reading.
  std::optional<double> time(bool after_itself) const {
    if (side_.lead_in && !after_itself) static_cast<void>(side_.batch(side_.launch_quantum));
    const double seconds = side_.batch(launches_).seconds;
    if (!std::isfinite(seconds) || !(seconds > 0)) return std::nullopt;
    return seconds / static_cast<double>(launches_);
  }

 private:
  std::int64_t whole_quanta(double launches) const {
    const auto quantum = static_cast<double>(side_.launch_quantum);
    return static_cast<std::int64_t>(std::ceil(launches / quantum) * quantum);
  }

  const PairedSide& side_;
  std::int64_t launches_;
};

bool converged(std::span<const double> ratios, const PairOptions& options) {
  const PairedRatio now = summarize_pairs(ratios);
  const double room = options.relative_half_width * now.ratio;
  return now.ratio - now.ci95.low <= room && now.ci95.high - now.ratio <= room;
}

bool is_wide(std::span<const double> ratios, const PairOptions& options) {
  const PairedRatio now = summarize_pairs(ratios);
  return !(now.ci95.width() <= options.wide * now.ratio);
}

/// Decides if to end at that number of ratios and that time. An interval is computed once per tenth more pairs.
class Stop {
 public:
  explicit Stop(const PairOptions& options) : options_(options) {}

  bool now(std::span<const double> ratios, double elapsed_s) {
    const auto n = static_cast<std::int64_t>(ratios.size());
    if (elapsed_s >= options_.longest_s || n >= options_.max_pairs) return true;
    if (n >= kFewestForInterval && elapsed_s >= options_.max_time_s)
      return elapsed_s >= options_.patience_s || !is_wide(ratios, options_);
    if (n < next_look_ || elapsed_s < options_.min_time_s) return false;
    next_look_ = n + std::max<std::int64_t>(1, n / 10);
    return converged(ratios, options_);
  }

 private:
  const PairOptions& options_;
  std::int64_t next_look_ = kLeastToConverge;
};

}  // namespace

PairedRatio PairedRatio::inverted() const {
  return {1 / ratio, {1 / ci95.high, 1 / ci95.low}, pairs, reference_s, kernel_s};
}

PairedRatio summarize_pairs(std::span<const double> ratios) {
  const MedianEstimate estimate = estimate_median(ratios);
  PairedRatio paired{estimate.median, estimate.ci95, static_cast<std::int64_t>(ratios.size())};
  if (!paired.ci95.known() && paired.pairs >= kFewestForInterval) {
    const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
    paired.ci95 = {*least, *most};
  }
  return paired;
}

std::optional<PairedRatio> sample_pairs(const PairedSide& kernel, const PairedSide& reference,
                                        const std::function<double()>& now, const std::function<bool()>& cancelled,
                                        const PairOptions& options) {
  if (!(kernel.launch_s > 0) || !(reference.launch_s > 0)) return std::nullopt;
  const Blocks a(kernel, std::min(options.block_s, kernel.longest_s));
  const Blocks b(reference, std::min(a.block_s(), reference.longest_s));
  if (static_cast<double>(kFewestForInterval) * (a.cost_s() + b.cost_s()) > options.longest_s) return std::nullopt;
  std::vector<double> ratios, kernel_s, reference_s;
  Stop stop(options);
  const double start_s = now();
  do {
    if (cancelled()) return std::nullopt;
    const bool kernel_first = ratios.size() % 2 == 0;
    const bool continues = !ratios.empty();  // the block before was of the same side
    const std::optional<double> first = (kernel_first ? a : b).time(continues);
    const std::optional<double> second = (kernel_first ? b : a).time(/*after_itself=*/false);
    if (!first || !second) return std::nullopt;
    kernel_s.push_back(kernel_first ? *first : *second);
    reference_s.push_back(kernel_first ? *second : *first);
    ratios.push_back(reference_s.back() / kernel_s.back());
  } while (!stop.now(ratios, now() - start_s));
  if (static_cast<std::int64_t>(ratios.size()) < kFewestForInterval) return std::nullopt;
  PairedRatio paired = summarize_pairs(ratios);
  paired.kernel_s = median(std::move(kernel_s));
  paired.reference_s = median(std::move(reference_s));
  return paired;
}

std::optional<PairedRatio> sample_pairs_up_to(double most, const PairedSide& kernel, const PairedSide& reference,
                                              const std::function<double()>& now,
                                              const std::function<bool()>& cancelled, const PairOptions& options) {
  std::optional<PairedRatio> first = sample_pairs(kernel, reference, now, cancelled, options);
  if (!first || !(first->ci95.low > most)) return first;
  const std::optional<PairedRatio> second = sample_pairs(kernel, reference, now, cancelled, options);
  return second ? second : first;
}

}  // namespace roofline
