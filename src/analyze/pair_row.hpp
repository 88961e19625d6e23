// A row and the probe of its limiting roof, timed in alternation: its paired fraction.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "analyze/reference_probe.hpp"
#include "analyze/roof_probe.hpp"
#include "measure/pairs.hpp"
#include "report/report.hpp"

namespace roofline {

/// How long a row is paired: its own time limit, at most a second, 2.5 times as long while the interval is too wide for
/// conclusions, and at most five seconds for launches so long that six pairs take more.
PairOptions pair_options(const SamplerOptions& sampler);

/// Launches of the probe of `roof`, of `probe_amount` bytes or operations each, that are the bound of one launch of a
/// row: they do as much work. Between two mixes of reads and writes `roof` is the nearer one, and the launches are
/// scaled by the ratio of its calibrated rate to the interpolated one.
double equal_launches(const ResourceTime& limiting, const Ceiling& roof, double probe_amount);

class RowPairs {
 public:
  /// Uses a probe of `reference` if it measures the row's roof. All three must outlive it.
  RowPairs(const Machine& machine, Device& device, ReferenceProbe& reference)
      : machine_(machine), device_(device), reference_(reference) {}

  /// Frees the probe of the previous row if the next one may need its memory.
  void make_room();

  /// Fraction of the roof of a timed row with a known bound, from its own batch of launches. On a CPU a row above its
  /// roof is paired with the other variants of the probe, too, and has the fraction of the fastest. std::nullopt on a
  /// GPU unless its time alone allows no conclusion, under the ceilings of another machine, without a limiting roof, if
  /// its probe cannot be made, or if there is no time for six pairs.
  std::optional<PairedFraction> measure(const Point& row, const Bench& bench, const PairOptions& options);

 private:
  RoofProbe* probe_of(const Bound& bound);
  std::optional<PairedFraction> pair(const Point& row, const Bench& bench, RoofProbe& probe,
                                     const PairOptions& options);

  const Machine& machine_;
  Device& device_;
  ReferenceProbe& reference_;
  std::unique_ptr<RoofProbe> current_;  ///< of the latest roof that is none of the reference's
};

}  // namespace roofline
