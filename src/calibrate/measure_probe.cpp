// One probe on an open device: search, first run and verification, sampling, audit.
#include "calibrate/measure_probe.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "calibrate/probe_bench.hpp"
#include "calibrate/probe_ceiling.hpp"
#include "host/host.hpp"
#include "measure/audit.hpp"
#include "measure/latency_line.hpp"
#include "measure/plateaus.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

class ProbeRun {
 public:
  ProbeRun(const Probe& probe, Device& device, const Effort& effort, const std::function<bool()>& cancelled)
      : probe_(probe), effort_(effort), cancelled_(cancelled), device_(device), bench_{probe, device, cancelled} {}

  ProbeOutcome run() {
    const double begin_s = wall_seconds();
    const int best = best_variant();
    const auto contention = device_.watch_contention();
    TimedCase fastest = best < 0 ? TimedCase() : fastest_placement(best, 1, burst_options(effort_, probe_));
    const Contention seen = contention();
    if (fastest.wrong) return "wrong result: " + *fastest.wrong;
    if (!fastest.made) {
      return cancelled_() ? "cancelled" : failure_.value_or("no variant of this probe runs on this device");
    }
    ProbeCase& winner = *fastest.made;
    const Summary& time = fastest.time;
    if (time.samples == 0 || !(time.median > 0)) return cancelled_() ? "cancelled" : "no valid time measured";
    MeasuredProbe measured{.ceiling = describe(winner, time, interval_of(time), Regime::burst),
                           .sustained = std::nullopt,
                           .intensity = arithmetic_intensity(winner.work, main_memory(probe_.device)),
                           .pipe = dominant_pipe(winner.work)};
    if (is_significant(seen)) measured.ceiling.contention = seen;
    audit(measured.ceiling, winner, noise_checks(measured.ceiling, time));
    winner = ProbeCase();  // frees its buffers before those of twice the work are allocated
    // Before the sustained run, after which the device is hot and has another clock.
    if (probe_.scalable && !cancelled_()) measured.ceiling.audit.checks.push_back(audit_doubled(best, time));
    settle_noise_checks(measured.ceiling);
    if (probe_.sustained && !effort_.quick && effort_.sustain_s > 0 && !cancelled_())
      measured.sustained = sustain(best, measured.ceiling);
    measured.ceiling.took_s = wall_seconds() - begin_s;
    return measured;
  }

  ProbeOutcome sweep() {
    Sweep sweep{.name = probe_.name,
                .axis = *probe_.sweep,
                .variant = {},
                .points = {},
                .plateaus = {},
                .boundaries = {},
                .saturates_at = {}};
    for (int variant = 0; !cancelled_(); ++variant) {
      const std::optional<ProbeCase> point = make(variant, 1);
      if (!point) break;
      if (auto wrong = first_run(bench_, *point)) return fmt::format("{}: wrong result: {}", point->x, *wrong);
      const Summary time = time_case(bench_, *point, sweep_options());
      if (!(time.median > 0)) break;
      sweep.variant = point->variant;
      sweep.points.push_back({.x = point->x,
                              .value = point->amount / time.median,
                              .ci95 = rates_of(point->amount, interval_of(time)),
                              .ranks = point->ranks});
    }
    if (cancelled_()) return "cancelled";
    if (sweep.points.empty()) return "no point of this sweep runs on this device";
    if (sweep.axis == SweepAxis::threads) {
      sweep.saturates_at = saturation_point(sweep.points);
    } else if (sweep.axis == SweepAxis::message) {
      sweep.lines = fit_latency_lines(sweep.points);
    } else {
      sweep.plateaus = find_plateaus(sweep.points);
      sweep.boundaries = find_boundaries(sweep.points, sweep.plateaus);
    }
    return sweep;
  }

  /// Samples a case under load, after clock and power have stabilised, for the requested time.
  std::optional<Ceiling> sustain(int variant, const Ceiling& burst) const {
    const double begin_s = wall_seconds();
    const std::optional<ProbeCase> again = make(variant, 1);
    if (!again || first_run(bench_, *again)) return std::nullopt;
    const ProbeCase& winner = *again;
    const auto contention = device_.watch_contention();
    const LoadedTime loaded = time_under_load(bench_, winner, sustained_options(effort_, probe_));
    const Contention seen = contention();
    if (loaded.time.samples == 0 || !(loaded.time.median > 0)) return std::nullopt;
    Ceiling ceiling = describe(winner, loaded.time, interval_of(loaded.time), Regime::sustained);
    ceiling.power = loaded.power;
    if (is_significant(seen)) ceiling.contention = seen;
    const Check cycles = audit_cycles(ceiling, burst);
    const bool same_in_a_cycle = cycles.status == CheckStatus::pass;
    // If turbo is shared with neighbours the clock never stabilises, and no limiter is reported for it.
    const bool regulated = held(ceiling.power) || (burst.rounds > 0 && same_in_a_cycle);
    if (regulated) ceiling.ci95 = rates_of(winner.amount, range_of(loaded.time));
    std::vector<Check> noise;  // none if only the clock changed
    if (held(ceiling.power)) {
      noise = {audit_regulation(loaded.time, limiter_of(ceiling.power), loaded.shift, same_in_a_cycle)};
    } else if (!regulated) {
      noise = noise_checks(ceiling, loaded.time);
    }
    audit(ceiling, winner, noise);
    if (probe_.kind == CeilingKind::compute) ceiling.audit.checks.push_back(cycles);
    ceiling.audit.checks.push_back(audit_duration(loaded.sampled_s, sustained_options(effort_, probe_).min_time_s));
    settle_noise_checks(ceiling);
    ceiling.took_s = wall_seconds() - begin_s;
    return ceiling;
  }

 private:
  std::optional<ProbeCase> make(int variant, double scale) const {
    return probe_.make(device_, ProbeRequest{.quick = effort_.quick, .scale = scale}, variant);
  }

  /// A case with its time; without one if its variant does not exist, or its result is wrong.
  struct TimedCase {
    std::optional<ProbeCase> made = {};
    Summary time = {};
    std::optional<std::string> wrong = {};
  };

  TimedCase fastest_placement(int variant, double scale, const SamplerOptions& options) const {
    TimedCase fastest;
    std::vector<ProbeCase> held;  // until the last is made, which otherwise gets the same pages
    for (int i = 0; i < (effort_.quick ? 1 : probe_.placements) && !cancelled_(); ++i) {
      std::optional<ProbeCase> made = make(variant, scale);
      if (!made) break;
      if (auto wrong = first_run(bench_, *made)) return {.wrong = std::move(wrong)};
      const Summary time = time_case(bench_, *made, options);
      if (!fastest.made || time.median < fastest.time.median) {
        std::swap(fastest.made, made);
        fastest.time = time;
      }
      if (made) held.push_back(std::move(*made));
    }
    return fastest;
  }

  /// The interval of nine tenths of the samples.
  static Interval range_of(const Summary& time) { return {time.q05, time.q95}; }

  /// The interval of the median. With an effective sample size below six (a regulated clock) there is none; the
  /// range used instead is wider.
  static Interval interval_of(const Summary& time) {
    constexpr std::int64_t kEnoughForQuantiles = 20;
    return std::isnan(time.ci95.low) && time.samples >= kEnoughForQuantiles ? range_of(time) : time.ci95;
  }

  /// True if a limiter lowered the clock during the measurement.
  static bool held(const Power& power) { return !power.limiter.value_or("").empty(); }

  /// "power cap of 700 W, at 698 W"; other limiters by their name.
  std::string limiter_of(const Power& power) const {
    std::string text = power.limiter.value_or("");
    if (text != kPowerCap) return text;
    if (const std::string* limit = find_attribute(device_.info().attributes, AttributeKey::power_limit))
      text += " of " + *limit;
    if (power.watts) text += fmt::format(", at {:.0f} W", *power.watts);
    return text;
  }

  /// The index of the fastest correct variant, or -1. Quick calibrations take the first, which is expected to be
  /// the fastest; with only one there is nothing to search.
  int best_variant() {
    if (effort_.quick || !make(1, 1)) return 0;
    int best = -1;
    double best_rate = 0;
    for (int variant = 0; !cancelled_(); ++variant) {
      const std::optional<ProbeCase> candidate = make(variant, 1);
      if (!candidate) break;
      if (auto wrong = first_run(bench_, *candidate)) {
        failure_ = fmt::format("{}: wrong result: {}", candidate->variant, *wrong);
        continue;
      }
      const double rate = candidate->amount / time_case(bench_, *candidate, search_options()).median;
      if (rate > best_rate) {
        best = variant;
        best_rate = rate;
      }
    }
    return best;
  }

  Ceiling describe(const ProbeCase& winner, const Summary& time, const Interval& seconds, Regime regime) const {
    Ceiling ceiling = ceiling_of(probe_, device_, winner, time.median, seconds, {time.clock_hz, time.work_clock_hz});
    ceiling.regime = regime;
    ceiling.samples = time.samples;
    ceiling.stop = std::string(to_string(time.stop));
    return ceiling;
  }

  static std::vector<Check> noise_checks(const Ceiling& ceiling, const Summary& time) {
    return {audit_interval(ceiling.value, ceiling.ci95), audit_steadiness(time)};
  }

  /// Adds the checks of the case to those of noise.
  void audit(Ceiling& ceiling, const ProbeCase& winner, const std::vector<Check>& noise) const {
    auto& checks = ceiling.audit.checks;
    if (winner.verify) checks.push_back(audit_result(winner.verify()));
    checks.insert(checks.end(), noise.begin(), noise.end());
    checks.push_back(audit_limit_of(probe_, ceiling));
    for (Check& check : audit_case(probe_, device_, winner)) checks.push_back(std::move(check));
  }

  Check audit_doubled(int variant, const Summary& once) const {
    const TimedCase twice = fastest_placement(variant, 2, doubling_options(effort_, probe_));
    if (twice.wrong) return audit_result("with twice the work: " + *twice.wrong);
    if (!twice.made) throw Error(fmt::format("{} cannot run twice the work", probe_.name));
    return probe_.kind == CeilingKind::compute ? audit_doubling_in_cycles(once, twice.time)
                                               : audit_doubling(once, twice.time);
  }

  const Probe& probe_;
  const Effort& effort_;
  const std::function<bool()>& cancelled_;
  Device& device_;
  ProbeBench bench_;
  std::optional<std::string> failure_;
};

}  // namespace

std::optional<Ceiling> measure_sustained(const Probe& probe, Device& device, const Effort& effort,
                                         const std::function<bool()>& cancelled, int variant, const Ceiling& burst) {
  return ProbeRun(probe, device, effort, cancelled).sustain(variant, burst);
}

ProbeOutcome measure_probe(const Probe& probe, Device& device, const Effort& effort,
                           const std::function<bool()>& cancelled) {
  try {
    if (probe.unsupported) {
      if (auto reason = probe.unsupported(device)) return *reason;
    }
    ProbeRun run(probe, device, effort, cancelled);
    return probe.sweep ? run.sweep() : run.run();
  } catch (const PoisonedDevice&) {
    throw;
  } catch (const std::exception& error) {
    return std::string(error.what());
  }
}

// Measured on an H200 and on a 2-core VM; accurate enough for progress.
double expected_seconds(const Probe& probe, const Effort& effort) {
  if (effort.quick) return 0.2;
  if (probe.sweep) return probe.sweep == SweepAxis::message ? 4 : 1;
  const double sustained = probe.sustained ? effort.sustain_s : 0;
  return (probe.role == Role::reference ? 0.4 : 0.6) + sustained;
}

}  // namespace roofline
