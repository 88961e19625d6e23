// Attainable over measured times.
#include "report/roof_share.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "model/nan.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

/// The interval of attainable over measured time: each end of one by the other end of the other.
RoofShare share_of(const Bound& bound, const Summary& time) {
  RoofShare share{.fraction = fraction_of_roof(bound, time.median), .ci95 = {}};
  const Interval roof = bound.resources.front().ci95;
  if (time.ci95.known() && time.ci95.low > 0 && roof.known() && roof.low > 0) {
    share.ci95 = quotient(roof, time.ci95);
  }
  return share;
}

bool is_cache(std::optional<Level> level) { return level == Level::l3 || level == Level::l2 || level == Level::l1; }

bool has_roof(const Bound& bound) {
  return bound.label != BoundLabel::unknown && !bound.resources.empty() && bound.attainable_time_s > 0;
}

/// The attainable time on all threads, over that on the row's own.
double time_on_all_threads(const Point& point, const Machine& machine) {
  if (point.work.threads == 0 || !has_roof(point.bound)) return 1;
  Work work = point.work;
  work.threads = 0;
  work.launches = std::max<std::int64_t>(1, work.launches);
  return bound_of(work, machine).attainable_time_s / point.bound.attainable_time_s;
}

/// On GPUs only rows that were measured badly are paired: the others are the rule there.
bool mostly_paired(const Report& report) {
  std::int64_t paired = 0, roofed = 0;
  for (const Point& point : report.points) {
    roofed += point.time && has_roof(point.bound) ? 1 : 0;
    paired += point.paired_with_roof() != nullptr ? 1 : 0;
  }
  return 2 * paired >= roofed;
}

}  // namespace

RoofShare share_of_roof(const Point& point) {
  if (!point.time || !(point.time->median > 0) || !has_roof(point.bound)) return {.fraction = kNaN, .ci95 = {}};
  if (const PairedFraction* pairs = point.paired_with_roof()) return {.fraction = pairs->fraction, .ci95 = pairs->ci95};
  return share_of(point.bound, *point.time);
}

ShareBasis share_basis(const Point& point, const Report& report) {
  if (report.profile || !point.time || !has_roof(point.bound) || !(point.time->median > 0)) return ShareBasis::roof;
  if (const PairedFraction* pairs = point.paired_with_roof()) {
    const double pace = fraction_of_roof(point.bound, point.time->median) / pairs->fraction;
    return std::abs(pace - 1) > kOtherPace ? ShareBasis::probe : ShareBasis::roof;
  }
  return has_pairs(report) && mostly_paired(report) ? ShareBasis::unpaired : ShareBasis::roof;
}

bool has_pairs(const Report& report) {
  return std::ranges::any_of(report.points, [](const Point& point) { return point.paired_with_roof() != nullptr; });
}

std::string probe_rates_text(const Point& point) {
  const PairedFraction* pairs = point.paired_with_roof();
  if (pairs == nullptr || !std::isfinite(pairs->probe_value) || !has_roof(point.bound)) return {};
  const ResourceTime& limiting = point.bound.resources.front();
  return fmt::format("{} beside it, roof {}", rate(pairs->probe_value, limiting.kind),
                     rate(limiting.amount / limiting.time_s, limiting.kind));
}

std::string beside_probe(const Point& point) {
  const std::string rates = probe_rates_text(point);
  return rates.empty() ? " beside it" : ": " + rates;
}

std::optional<RoofShare> share_of_burst_roof(const Point& point, const Machine& machine) {
  if (!point.time || !(point.time->median > 0) || !has_roof(point.bound)) return std::nullopt;
  const ResourceTime& limiting = point.bound.resources.front();
  if (limiting.regime == Regime::burst && !limiting.at_clock_hz) return std::nullopt;
  const Bound burst = bound_of(point.work, machine);
  if (!has_roof(burst)) return std::nullopt;
  const PairedFraction* pairs = point.paired_with_roof();
  if (pairs == nullptr) return share_of(burst, *point.time);
  const double lower = burst.attainable_time_s / point.bound.attainable_time_s;
  return RoofShare{.fraction = lower * pairs->fraction, .ci95 = {lower * pairs->ci95.low, lower * pairs->ci95.high}};
}

std::optional<double> replay_clock_hz(const Point& point) {
  if (!point.profiled || point.profiled->time_source != TimeSource::replayed || !point.counters) return std::nullopt;
  const auto clock = point.counters->find("sm.clock_hz");
  return clock && *clock > 0 ? clock : std::nullopt;
}

std::optional<double> clock_of_roof(const Ceiling& roof, const Machine& machine) {
  if (roof.kind != CeilingKind::compute) return std::nullopt;
  if (roof.clocks.core_hz) return roof.clocks.core_hz;
  return roof.origin == kAttributesOrigin ? machine.device.max_core_hz : std::nullopt;
}

bool has_roof_of_own_threads(const Point& point) { return point.bound.limiting_ceiling.ends_with(kOneCore); }

double fraction_on_all_threads(const Point& point, const Machine& machine) {
  return point.fraction_of_roof() * time_on_all_threads(point, machine);
}

std::optional<double> saving_on_all_threads(const Point& point, const Machine& machine) {
  if (point.work.threads == 0 || !has_roof(point.bound)) return std::nullopt;
  const double saving = has_roof_of_own_threads(point) ? 1 - time_on_all_threads(point, machine)
                                                       : 1 - fraction_on_all_threads(point, machine);
  const double most = 1 - static_cast<double>(point.work.threads) / static_cast<double>(machine.device.units);
  return std::min(saving, std::max(0.0, most));
}

double saving_on_own_threads(const Point& point, const Machine& machine) {
  const double fraction = point.fraction_of_roof();
  if (point.work.threads == 0 || has_roof_of_own_threads(point)) return 1 - fraction;
  const double part = static_cast<double>(point.work.threads) / static_cast<double>(machine.device.units);
  return 1 - std::min(1.0, fraction / part);
}

bool lacks_more_than_idle_threads_cost(const Point& point, const Machine& machine) {
  const std::optional<double> saving = saving_on_all_threads(point, machine);
  return saving && saving_on_own_threads(point, machine) > *saving;
}

std::optional<double> reference_rate_of_roof(const Point& point) {
  if (!point.reference_rates || !has_roof(point.bound)) return std::nullopt;
  double at_reference_s = 0;
  for (const ResourceTime& resource : point.bound.resources) {
    double reference_rate = 1;
    if (resource.kind == CeilingKind::compute || is_cache(level_of(resource.ceiling))) {
      reference_rate = point.reference_rates->arithmetic;
    } else if (resource.kind == CeilingKind::bandwidth) {
      reference_rate = point.reference_rates->copy;
    }
    if (std::isfinite(resource.time_s)) at_reference_s = std::max(at_reference_s, resource.time_s / reference_rate);
  }
  return point.bound.attainable_time_s / at_reference_s;
}

double time_at_roof_speed(const Point& point) {
  if (!point.time) return kNaN;
  const PairedFraction* pairs = point.paired_with_roof();
  return pairs != nullptr ? point.bound.attainable_time_s / pairs->fraction : point.time->median;
}

bool is_slowed(const Point& point) {
  const std::optional<double> reference_rate = reference_rate_of_roof(point);
  return reference_rate && *reference_rate < kSlowReference;
}

bool is_under_contention(const Point& point) {
  return point.contention || (is_slowed(point) && point.paired_with_roof() == nullptr);
}

std::string interval_text(const RoofShare& share) {
  if (!std::isfinite(share.fraction) || !share.ci95.known()) return {};
  constexpr double kWide = 0.02;
  const int digits = share.ci95.width() >= kWide ? 0 : 1;
  const auto rounded = [&](double fraction) { return fmt::format("{:.{}f}", 100 * fraction, digits); };
  const std::string low = rounded(share.ci95.low), high = rounded(share.ci95.high);
  // An interval narrower than the last digit adds nothing.
  return low == high ? "" : low + "\u2013" + high;
}

std::string share_text(const RoofShare& share) {
  if (!std::isfinite(share.fraction)) return kAbsent;
  const std::string interval = interval_text(share);
  return percent(share.fraction) + (interval.empty() ? "" : fmt::format(" ({} %)", interval));
}

bool badly_measured(const Point& point) {
  // A program's kernels have all launches timed, so sampling statistics do not apply.
  if (!point.time || point.profiled) return false;
  if (const PairedFraction* pairs = point.paired_with_roof()) {
    return !(pairs->ci95.width() <= kWidestInterval * pairs->fraction);
  }
  const Summary& time = *point.time;
  if (time.drifting) return true;
  return time.ci95.known() ? !(time.ci95.width() <= kWidestInterval * time.median) : !has_small_spread(time);
}

double uncertainty_of_time(const Point& point) {
  if (!badly_measured(point)) return 0;
  if (const PairedFraction* pairs = point.paired_with_roof(); pairs != nullptr && pairs->ci95.known())
    return pairs->ci95.width() * point.time->median;
  const Summary& time = *point.time;
  return time.drifting || !time.ci95.known() ? time.q95 - time.q05 : time.ci95.width();
}

bool has_small_spread(const Summary& time) {
  return time.samples >= kFewestForInterval && time.q95 - time.q05 <= kWidestInterval * time.median;
}

}  // namespace roofline
