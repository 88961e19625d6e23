// The audit rules of a ceiling. Each answers a fault found in published roofline figures (docs/method.md).
#include "measure/audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace roofline {
namespace {

constexpr double kClearOfRidge = 10;
constexpr double kCachesCovered = 4;
constexpr double kDoublingWithin = 0.02;
constexpr double kIntervalWithin = 0.01;

CheckStatus passed_if(bool good) { return good ? CheckStatus::pass : CheckStatus::fail; }

/// "4.67 Tbyte/s": four digits and a prefix, for a person who reads the detail.
std::string with_prefix(double value, std::string_view unit) {
  constexpr std::array kPrefixes{"", "k", "M", "G", "T", "P"};
  std::size_t step = 0;
  while (std::abs(value) >= 1000 && std::isfinite(value) && step + 1 < kPrefixes.size()) {
    value /= 1000;
    ++step;
  }
  return fmt::format("{:.4g} {}{}", value, kPrefixes[step], unit);
}

std::string mebibytes(double bytes) { return fmt::format("{:.4g} MiB", bytes / (1024.0 * 1024.0)); }

}  // namespace

Check audit_intensity(CeilingKind kind, double probe_intensity, double ridge) {
  Check check{"intensity clear of the ridge", CheckStatus::not_run, {}};
  if (kind == CeilingKind::overhead) {
    check.detail = "an overhead has no ridge";
  } else if (std::isnan(ridge) || std::isnan(probe_intensity)) {
    check.detail = "the other ceiling is missing: no ridge";
  } else if (kind == CeilingKind::compute) {
    check.status = passed_if(probe_intensity >= kClearOfRidge * ridge);
    check.detail = fmt::format("{:.4g} FLOP/byte, at least {:.4g} wanted: {:g} x the ridge of {:.4g}", probe_intensity,
                               kClearOfRidge * ridge, kClearOfRidge, ridge);
  } else {
    check.status = passed_if(probe_intensity * kClearOfRidge <= ridge);
    check.detail = fmt::format("{:.4g} FLOP/byte, at most {:.4g} wanted: 1/{:g} of the ridge of {:.4g}",
                               probe_intensity, ridge / kClearOfRidge, kClearOfRidge, ridge);
  }
  return check;
}

Check audit_doubling(const Summary& once, const Summary& twice) {
  Check check{"twice the work, twice the time", CheckStatus::not_run, {}};
  const double ratio = twice.median / once.median;
  if (!std::isfinite(ratio) || ratio <= 0) {
    check.detail = "one of the two times could not be measured";
    return check;
  }
  constexpr double kLeast = 2 * (1 - kDoublingWithin);
  constexpr double kMost = 2 * (1 + kDoublingWithin);
  const Interval between{twice.ci95.low / once.ci95.high, twice.ci95.high / once.ci95.low};
  check.detail = fmt::format("{:.4g} x the time, {:g} to {:g} wanted", ratio, kLeast, kMost);
  if (ratio >= kLeast && ratio <= kMost) {
    check.status = CheckStatus::pass;
  } else if (between.low <= kMost && between.high >= kLeast) {
    check.detail += fmt::format("; undecided, for the noise allows {:.4g} to {:.4g}", between.low, between.high);
  } else {
    check.status = CheckStatus::fail;
  }
  return check;
}

Check audit_doubling_in_cycles(const Summary& once, const Summary& twice) {
  if (!once.clock_hz || !twice.clock_hz) return audit_doubling(once, twice);
  const double slower = *twice.clock_hz / *once.clock_hz;
  Summary scaled = twice;
  scaled.median *= slower;
  scaled.ci95 = {twice.ci95.low * slower, twice.ci95.high * slower};
  Check check = audit_doubling(once, scaled);
  check.detail += fmt::format(" (in cycles: {:.0f} MHz, then {:.0f} MHz)", *once.clock_hz / 1e6, *twice.clock_hz / 1e6);
  return check;
}

Check audit_working_set(double working_set_bytes, double nearer_cache_bytes, std::optional<double> own_capacity_bytes) {
  Check check{"working set where it belongs", CheckStatus::not_run, {}};
  if (nearer_cache_bytes <= 0 && !own_capacity_bytes) {
    check.detail = "no cache is nearer, and the level's own size is unknown";
    return check;
  }
  const bool past = working_set_bytes >= kCachesCovered * std::max(nearer_cache_bytes, 0.0);
  const bool fits = !own_capacity_bytes || working_set_bytes <= *own_capacity_bytes;
  check.status = passed_if(past && fits);
  check.detail = mebibytes(working_set_bytes);
  if (nearer_cache_bytes > 0) {
    check.detail += fmt::format(", {:.4g} x the nearer cache of {}; at least {:g} x wanted",
                                working_set_bytes / nearer_cache_bytes, mebibytes(nearer_cache_bytes), kCachesCovered);
  }
  if (own_capacity_bytes) {
    check.detail += fmt::format(", in a level of {}{}", mebibytes(*own_capacity_bytes), fits ? "" : ": too large");
  }
  return check;
}

Check audit_limit(double value, const Interval& ci95, const std::optional<Limit>& limit, std::string_view unit) {
  Check check{"under the hardware's limit", CheckStatus::not_run, {}};
  if (!limit || !(limit->value > 0)) {
    check.detail = "no limit is known for this device";
    return check;
  }
  const bool beyond_noise = std::isnan(ci95.low) || ci95.low > limit->value;
  check.status = passed_if(value <= limit->value || (value > limit->value && !beyond_noise));
  check.detail =
      fmt::format("{:.2f} % of {} = {}", 100 * value / limit->value, with_prefix(limit->value, unit), limit->basis);
  return check;
}

Check audit_interval(double value, const Interval& ci95) {
  Check check{"interval within 1 %", CheckStatus::fail, {}};
  if (std::isnan(ci95.low) || std::isnan(ci95.high)) {
    check.detail = "too few samples for an interval";
    return check;
  }
  const double below = (value - ci95.low) / value;
  const double above = (ci95.high - value) / value;
  check.status = passed_if(below <= kIntervalWithin && above <= kIntervalWithin);
  check.detail = fmt::format("-{:.2f} % to +{:.2f} % at 95 % confidence", 100 * below, 100 * above);
  return check;
}

Check audit_result(const std::optional<std::string>& failure) {
  return {"result verified", passed_if(!failure), failure.value_or("what the probe computed is right")};
}

Check audit_steadiness(const Summary& time) {
  Check check{"steady while timed", passed_if(!time.drifting), {}};
  check.detail = fmt::format("{} after {:.2f} s of settling, {} samples, stopped by {}",
                             time.drifting ? "drifting" : "steady", time.settle_s, time.samples, to_string(time.stop));
  if (time.samples == 0) check.status = CheckStatus::fail;
  return check;
}

}  // namespace roofline
