// Paired ratios: two kernels timed in alternation, so that a machine whose speed wanders slows both and their ratio
// stays. Like the sampler it is given functions that time batches and a clock, so that tests run it on simulated
// machines.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "measure/sampler.hpp"
#include "model/ceiling.hpp"

namespace roofline {

/// One of the two kernels.
struct PairedSide {
  /// Runs that many launches back to back and returns their total time.
  std::function<Reading(std::int64_t launches)> batch;
  double launch_s = 0;     ///< approximate time of one launch, which determines the number of launches per block
  bool lead_in = false;    ///< run an untimed launch before each block, because the other kernel has evicted its data
  double longest_s = 1e9;  ///< maximum duration of a block, unless one launch is longer
  std::int64_t launch_quantum = 1;  ///< launches per block are a multiple of it, as in Bench
};

struct PairOptions {
  double block_s = 4e-3;    ///< minimum duration of a block; a longer launch is a block by itself
  double min_time_s = 0.1;  ///< minimum wall time of all blocks
  double max_time_s = 0.5;  ///< maximum wall time, if there are kFewestForInterval pairs by then
  double patience_s = 0.5;  ///< maximum wall time while their interval is wider than `wide` times the ratio
  double wide = 0.1;
  double longest_s = 10;  ///< maximum in any case: no pairs if that is too short for kFewestForInterval
  std::int64_t max_pairs = 4000;
  double relative_half_width = 0.005;  ///< half width of the ratio's interval at which sampling stops early
};

/// Seconds per launch of the reference over those of the kernel.
struct PairedRatio {
  double ratio = 0;  ///< median over the pairs
  Interval ci95;     ///< of that median
  std::int64_t pairs = 0;
  double kernel_s = 0, reference_s = 0;  ///< median seconds per launch of each; 0 if unknown

  /// The ratio with both sides exchanged.
  PairedRatio inverted() const;
};

/// The median of at least kFewestForInterval ratios. Its interval is that of estimate_median(). If correlation leaves
/// fewer than six effective pairs, it is the range of all, which contains every interval of order statistics.
PairedRatio summarize_pairs(std::span<const double> ratios);

/// Times blocks of both in the order kernel, reference, reference, kernel, kernel, … (ABBA), so that a steady drift has
/// opposite signs in adjacent pairs. The reference's blocks last as long as the kernel's, because interruptions have
/// the same weight only in equal durations. std::nullopt if cancelled, if a reading is invalid, or if there is no time
/// for kFewestForInterval pairs.
std::optional<PairedRatio> sample_pairs(const PairedSide& kernel, const PairedSide& reference,
                                        const std::function<double()>& now, const std::function<bool()>& cancelled,
                                        const PairOptions& options);

/// As sample_pairs(); what is above `most` with its whole interval is sampled anew, and the second result counts: of
/// kernels that are exactly at their limit, one interval in forty is above it by chance.
std::optional<PairedRatio> sample_pairs_up_to(double most, const PairedSide& kernel, const PairedSide& reference,
                                              const std::function<double()>& now,
                                              const std::function<bool()>& cancelled, const PairOptions& options);

}  // namespace roofline
