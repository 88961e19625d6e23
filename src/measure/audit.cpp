// Audit rules of a ceiling. Each detects a fault found in published roofline figures (docs/method.md).
#include "measure/audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "model/nan.hpp"

namespace roofline {
namespace {

constexpr double kClearOfRidge = 10;
constexpr double kDoublingWithin = 0.02;
constexpr double kIntervalWithin = 0.01;
constexpr double kRegulatedWithin = 0.02;

/// Equal except for the rounding of sums.
bool same(double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(b) && b > 0; }

CheckStatus passed_if(bool good) { return good ? CheckStatus::pass : CheckStatus::fail; }

/// "4.67 Tbyte/s": four digits and an SI prefix.
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
  Check check{std::string(kIntensityCheck), CheckStatus::not_run, {}};
  if (kind == CeilingKind::overhead || kind == CeilingKind::latency) {
    check.detail = "not applicable: no ridge";
  } else if (std::isnan(ridge) || std::isnan(probe_intensity)) {
    check.detail = "no ridge: the other ceiling is missing";
  } else if (kind == CeilingKind::compute) {
    check.status = passed_if(probe_intensity >= kClearOfRidge * ridge);
    check.detail = fmt::format("{:.4g} FLOP/byte, required >= {:.4g} ({:g} x the ridge of {:.4g})", probe_intensity,
                               kClearOfRidge * ridge, kClearOfRidge, ridge);
  } else {
    check.status = passed_if(probe_intensity * kClearOfRidge <= ridge);
    check.detail = fmt::format("{:.4g} FLOP/byte, required <= {:.4g} (1/{:g} of the ridge of {:.4g})", probe_intensity,
                               ridge / kClearOfRidge, kClearOfRidge, ridge);
  }
  return check;
}

Check audit_doubling(const Summary& once, const Summary& twice) {
  Check check{std::string(kDoublingCheck), CheckStatus::not_run, {}};
  const double ratio = twice.median / once.median;
  if (!std::isfinite(ratio) || ratio <= 0) {
    check.detail = "one of the two times is missing";
    return check;
  }
  constexpr double kLeast = 2 * (1 - kDoublingWithin);
  constexpr double kMost = 2 * (1 + kDoublingWithin);
  const Interval between{twice.ci95.low / once.ci95.high, twice.ci95.high / once.ci95.low};
  check.detail = fmt::format("{:.4g} x the time, required {:g} to {:g}", ratio, kLeast, kMost);
  if (ratio >= kLeast && ratio <= kMost) {
    check.status = CheckStatus::pass;
  } else if (between.low <= kMost && between.high >= kLeast) {
    check.detail += fmt::format("; undecided: 95 % interval {:.4g} to {:.4g}", between.low, between.high);
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

Check audit_doubling(const FastPlateau& once, const FastPlateau& twice, bool reached, bool in_cycles) {
  const auto summary_of = [](const FastPlateau& plateau) {
    Summary summary;
    summary.median = plateau.seconds;
    summary.ci95 = plateau.ci95;
    summary.clock_hz = plateau.clock_hz;
    return summary;
  };
  Check check = in_cycles ? audit_doubling_in_cycles(summary_of(once), summary_of(twice))
                          : audit_doubling(summary_of(once), summary_of(twice));
  if (reached) return check;
  if (check.status == CheckStatus::fail) check.status = CheckStatus::not_run;
  check.detail += fmt::format("; not both plateaus reached after {} and {} rounds", once.rounds, twice.rounds);
  return check;
}

Check audit_working_set(double working_set_bytes, const NearerCache& nearer, std::optional<double> own_capacity_bytes,
                        double least_times) {
  Check check{std::string(kWorkingSetCheck), CheckStatus::not_run, {}};
  if (nearer.bytes <= 0 && !own_capacity_bytes) {
    check.detail = "no inner cache, and the level's size is unknown";
    return check;
  }
  const double cache = std::max(nearer.bytes, 0.0);
  const bool past = working_set_bytes >= least_times * cache;
  const bool fits = !own_capacity_bytes || working_set_bytes <= *own_capacity_bytes;
  check.status = passed_if(past && fits);
  if (!past && fits && working_set_bytes >= kPastNearerCache * cache) check.status = CheckStatus::provisional;
  check.detail = mebibytes(working_set_bytes);
  if (cache > 0) {
    const std::string reported =
        nearer.reported_bytes ? fmt::format(" (measured; {} reported)", mebibytes(*nearer.reported_bytes)) : "";
    check.detail += fmt::format(", {:.4g} x the inner cache of {}{}, required >= {:g} x", working_set_bytes / cache,
                                mebibytes(cache), reported, least_times);
  }
  if (own_capacity_bytes) {
    check.detail += fmt::format(", capacity {}{}", mebibytes(*own_capacity_bytes), fits ? "" : ": too large");
  }
  return check;
}

Check audit_limit(double value, const Interval& ci95, const std::optional<Limit>& limit, std::string_view unit,
                  double least, double clock_error) {
  Check check{std::string(kLimitCheck), CheckStatus::not_run, {}};
  if (!limit || !(limit->value > 0)) {
    check.detail = "no hardware limit known for this device";
    return check;
  }
  const double most = limit->value * (1 + clock_error);
  const bool below = value <= most || ci95.low <= most;  // no interval (NaN): no tolerance
  const bool reached = value >= least * limit->value;
  check.status = passed_if(below && reached);
  check.detail =
      fmt::format("{:.2f} % of {} = {}", 100 * value / limit->value, with_prefix(limit->value, unit), limit->basis);
  if (!reached) check.detail += fmt::format("; required >= {:g} %", 100 * least);
  return check;
}

Check audit_accounting(const Ceiling& ceiling, const Work& work) {
  Check check{std::string(kAccountingCheck), CheckStatus::not_run, {}};
  double modelled = 0;
  if (ceiling.kind == CeilingKind::bandwidth && ceiling.level) {
    const auto found = work.bytes.find(*ceiling.level);
    const Traffic traffic = found == work.bytes.end() ? Traffic{} : found->second;
    modelled = traffic.total();
    const double wanted = ceiling.pattern ? write_share(*ceiling.pattern).value_or(kNaN) : kNaN;
    const double share = traffic.write / modelled;
    check.detail = fmt::format("{:.6g} bytes per launch, {:.6g} in the work model", ceiling.amount, modelled);
    if (!std::isnan(wanted))
      check.detail += fmt::format("; {:.1f} % writes, required {:.1f} %", 100 * share, 100 * wanted);
    check.status = passed_if(same(ceiling.amount, modelled) && (std::isnan(wanted) || std::abs(share - wanted) < 1e-6));
  } else if (ceiling.kind == CeilingKind::compute && ceiling.pipe) {
    const auto found = work.flops.find(*ceiling.pipe);
    modelled = found == work.flops.end() ? 0 : found->second;
    check.detail = fmt::format("{:.6g} operations per launch, {:.6g} in the work model", ceiling.amount, modelled);
    check.status = passed_if(same(ceiling.amount, modelled));
  } else {
    check.detail = "not applicable: no bytes or operations";
  }
  return check;
}

Check audit_operands(std::span<const std::byte> sample) {
  std::array<double, 256> counts{};
  for (const std::byte byte : sample) ++counts[std::to_integer<std::size_t>(byte)];
  double bits = 0;
  for (const double count : counts) {
    if (count > 0)
      bits -= count / static_cast<double>(sample.size()) * std::log2(count / static_cast<double>(sample.size()));
  }
  return {std::string(kOperandsCheck), passed_if(!sample.empty() && bits >= kRandomBits),
          fmt::format("{:.2f} bits of entropy per byte ({} bytes sampled), required >= {:g}", bits, sample.size(),
                      kRandomBits)};
}

Check audit_instruction(std::string_view instruction, std::optional<int> found, std::string_view where) {
  Check check{std::string(kInstructionCheck), CheckStatus::not_run, std::string(where)};
  if (!found) return check;
  check.status = passed_if(*found > 0);
  check.detail = fmt::format("{} found {} times in {}", instruction, *found, where);
  return check;
}

Check audit_duration(double sampled_s, double wanted_s) {
  return {std::string(kLongEnoughCheck), passed_if(sampled_s >= wanted_s),
          fmt::format("sampled for {:.2f} s after warm-up, required {:g} s", sampled_s, wanted_s)};
}

Check audit_interval(double value, const Interval& ci95) {
  Check check{std::string(kIntervalCheck), CheckStatus::fail, {}};
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
  return {std::string(kResultCheck), passed_if(!failure), failure.value_or("result correct")};
}

Check audit_regulation(const Summary& time, std::string_view limiter, double shift, bool same_in_a_cycle) {
  return {std::string(kRegulatedCheck), passed_if(same_in_a_cycle || std::abs(shift) <= kRegulatedWithin),
          fmt::format("clock limited by {}: second half of {} samples {:+.2f} % from the first; 90 % within "
                      "-{:.1f} % to +{:.1f} % of the median, after {:.2f} s of warm-up",
                      limiter, time.samples, 100 * shift, 100 * (1 - time.q05 / time.median),
                      100 * (time.q95 / time.median - 1), time.warm_up_s)};
}

Check audit_plateau(const FastPlateau& plateau, double slowed_share, double least_s) {
  Check check{std::string(kPlateauCheck), passed_if(plateau.reached(slowed_share, least_s)), {}};
  check.detail = fmt::format("{} of {} rounds agree within 1 %, {} of {} samples are on the plateau", plateau.agreeing,
                             plateau.rounds, plateau.support, plateau.samples);
  if (plateau.at_limit(least_s)) {
    check.detail += fmt::format("; {:.1f} % of the clock-derived limit, which no round can exceed",
                                100 * least_s / plateau.seconds);
    return check;
  }
  if (plateau.slowed == 0 && slowed_share == 0) return check;
  check.detail += fmt::format(
      "; {} rounds slowed, up to {:.0f} % across similar probes: {:.3g} % chance that every round was slowed",
      plateau.slowed, 100 * slowed_share, 100 * plateau.chance_of_missing(slowed_share));
  return check;
}

/// Why sampling stopped. A narrow interval does not imply a stable level.
std::string why_stopped(StopReason stop) {
  std::string words(to_string(stop));
  if (stop == StopReason::converged) return "convergence";
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

Check audit_cycles(const Ceiling& sustained, const Ceiling& burst) {
  Check check{std::string(kCyclesCheck), CheckStatus::not_run, "core clock unknown"};
  const double share = share_in_a_cycle(sustained, burst);
  if (std::isnan(share)) return check;
  check.detail = fmt::format("{:.3f} of the burst rate per cycle, at {:.3f} and {:.3f} GHz", share,
                             *sustained.clocks.core_hz * 1e-9, *burst.clocks.core_hz * 1e-9);
  if (share > 1 + kSameInACycle) {
    check.detail += ": the burst measurement was slowed, or a clock reading is wrong";
    return check;
  }
  check.status = passed_if(share >= 1 - kSameInACycle);
  return check;
}

Check audit_history(const Ceiling& ceiling) {
  Check check{std::string(kHistoryCheck), CheckStatus::not_run, "no earlier calibration reached more"};
  if (!ceiling.past_best) return check;
  const double share = ceiling.value / ceiling.past_best->value;
  const double in_a_cycle = follows_core_clock(ceiling) ? share_in_a_cycle_of_before(ceiling) : kNaN;
  // A machine whose speed varies during a calibration also varies between two.
  constexpr double kTwoSided = 2, kMostVariation = 0.1;
  const double variation = 1 - ceiling.median_rate.value_or(ceiling.value) / ceiling.value;
  const double allowed = std::clamp(kTwoSided * variation, kSameAsBefore, kMostVariation);
  const bool same = share >= 1 - allowed || in_a_cycle >= 1 - kSameAsBefore;
  check.status = same                    ? CheckStatus::pass
                 : ceiling.provisional() ? CheckStatus::provisional  // more rounds may reach it yet
                                         : CheckStatus::fail;
  check.detail = fmt::format("{:.3f} of {} on {}", share, with_prefix(ceiling.past_best->value, unit_of(ceiling.kind)),
                             ceiling.past_best->measured_at);
  if (allowed > kSameAsBefore) check.detail += fmt::format("; the median of its rounds is {:.3f} of it", 1 - variation);
  if (!std::isnan(in_a_cycle)) {
    check.detail += fmt::format("; {:.3f} per cycle, at {:.3f} and {:.3f} GHz", in_a_cycle,
                                *ceiling.clocks.core_hz * 1e-9, *ceiling.past_best->core_hz * 1e-9);
  }
  return check;
}

bool is_only_slower_than_before(const Ceiling& ceiling) {
  return ceiling.suspect() && std::ranges::all_of(ceiling.audit.checks, [](const Check& check) {
           return check.status != CheckStatus::fail || check.name == kHistoryCheck;
         });
}

bool is_noise_check(const Check& check) {
  constexpr std::array kNoiseChecks = {kIntervalCheck,  kPlateauCheck,    kSteadyCheck,
                                       kRegulatedCheck, kLongEnoughCheck, kCyclesCheck};
  return std::find(kNoiseChecks.begin(), kNoiseChecks.end(), check.name) != kNoiseChecks.end();
}

void settle_noise_checks(Ceiling& ceiling) {
  if (ceiling.contention) return;
  const auto failed = [](const Check& check) { return check.status == CheckStatus::fail; };
  auto& checks = ceiling.audit.checks;
  const bool noise = std::any_of(checks.begin(), checks.end(),
                                 [&](const Check& check) { return failed(check) && is_noise_check(check); });
  if (!noise) return;
  for (Check& check : checks) {
    if (failed(check) && (is_noise_check(check) || check.name == kDoublingCheck))
      check.status = CheckStatus::provisional;
  }
}

Check audit_steadiness(const Summary& time) {
  Check check{std::string(kSteadyCheck), passed_if(!time.drifting), {}};
  check.detail =
      fmt::format("{} after {:.2f} s of warm-up, {} samples, stopped by {}", time.drifting ? "drifting" : "steady",
                  time.warm_up_s, time.samples, why_stopped(time.stop));
  if (time.samples == 0) check.status = CheckStatus::fail;
  return check;
}

}  // namespace roofline
