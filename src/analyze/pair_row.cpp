// Which probe a row is paired with, and for how long.
#include "analyze/pair_row.hpp"

#include <algorithm>

#include "host/host.hpp"
#include "model/error.hpp"
#include "model/nan.hpp"
#include "report/roof_share.hpp"

namespace roofline {
namespace {

/// A row whose interval is too wide for conclusions is paired this many times as long.
constexpr double kPatience = 2.5;
constexpr double kRoomForRows = 4;  // times its working set: the next row needs memory too
/// Limit of a probe's block beside one long launch: several slices of a hypervisor's scheduler.
constexpr double kLongestProbeBlockS = 0.1;

/// By more than its interval.
bool is_above(const PairedFraction& paired) { return paired.ci95.low > 1; }

}  // namespace

PairOptions pair_options(const SamplerOptions& sampler) {
  PairOptions options;
  options.max_time_s = std::clamp(sampler.max_time_s, 0.05, 1.0);
  options.min_time_s = std::min(options.min_time_s, options.max_time_s);
  options.patience_s = kPatience * options.max_time_s;
  options.wide = kWidestInterval;
  return options;
}

double equal_launches(const ResourceTime& limiting, const Ceiling& roof, double probe_amount) {
  const double as_much_work = limiting.amount / probe_amount;
  return limiting.mixed_with ? as_much_work * limiting.time_s * roof.value / limiting.amount : as_much_work;
}

void RowPairs::make_room() {
  if (current_ && device_.free_memory_bytes() < kRoomForRows * current_->working_set_bytes()) current_.reset();
}

/// Made again whenever the roof changes: all streams share the device's scratch memory, and a triad on what a write has
/// left there would add subnormal numbers.
RoofProbe* RowPairs::probe_of(const Bound& bound) {
  const Ceiling* roof = machine_.find(bound.limiting_ceiling, bound.regime);
  if (roof == nullptr || roof->is_data_sheet_limit()) return nullptr;
  if (RoofProbe* shared = reference_.probe_of(*roof)) return shared;
  if (!current_ || current_->roof().name != roof->name || current_->roof().variant != roof->variant) {
    current_.reset();
    current_ = RoofProbe::make(*roof, device_);
  }
  return current_.get();
}

std::optional<PairedFraction> RowPairs::measure(const Point& row, const Bench& bench, const PairOptions& options) {
  const DeviceInfo& device = device_.info();
  if (machine_.device.identity != device.identity) return std::nullopt;
  // A GPU's speed is its own, and only a power or temperature limit makes it wander.
  if (device.kind != DeviceKind::cpu && !badly_measured(row)) return std::nullopt;
  if (!row.time || row.bound.label == BoundLabel::unknown || row.work.collective) return std::nullopt;
  try {
    RoofProbe* probe = probe_of(row.bound);
    if (probe == nullptr || !(probe->roof().value > 0)) return std::nullopt;
    std::optional<PairedFraction> paired = pair(row, bench, *probe, options);
    if (device.kind != DeviceKind::cpu || !paired || !is_above(*paired)) return paired;
    // Where others use the machine, too, another variant of the probe may be the fastest.
    const Ceiling roof = probe->roof();
    RoofProbe::for_other_variants(roof, device_, [&](RoofProbe& other) {
      const std::optional<PairedFraction> again = is_above(*paired) ? pair(row, bench, other, options) : std::nullopt;
      if (again && again->fraction < paired->fraction) paired = again;
    });
    return paired;
  } catch (const PoisonedDevice&) {
    throw;
  } catch (const Error&) {  // no memory for the probe: the row has its time, without pairs
    return std::nullopt;
  }
}

std::optional<PairedFraction> RowPairs::pair(const Point& row, const Bench& bench, RoofProbe& probe,
                                             const PairOptions& options) {
  const ResourceTime& limiting = row.bound.resources.front();
  // A launch longer than a block has brought its own data into the caches soon, unless it is meant to find all there.
  const bool short_launch = row.time->median < options.block_s;
  const PairedSide kernel{.batch = bench.batch,
                          .launch_s = row.time->median,
                          .lead_in = short_launch || row.workload.cache == CacheMode::hot,
                          .launch_quantum = bench.launch_quantum};
  const PairedSide reference{.batch = [&](std::int64_t launches) { return probe.time(launches); },
                             .launch_s = probe.amount() / probe.roof().value,
                             .lead_in = true,
                             .longest_s = kLongestProbeBlockS};
  const double launches = equal_launches(limiting, probe.roof(), probe.amount());
  const std::optional<PairedRatio> pairs =
      sample_pairs_up_to(1 / launches, kernel, reference, wall_seconds, bench.cancelled, options);
  if (!pairs) return std::nullopt;
  return PairedFraction{.ceiling = limiting.ceiling,
                        .fraction = launches * pairs->ratio,
                        .ci95 = {launches * pairs->ci95.low, launches * pairs->ci95.high},
                        .pairs = pairs->pairs,
                        .probe_value = pairs->reference_s > 0 ? probe.amount() / pairs->reference_s : kNaN};
}

}  // namespace roofline
