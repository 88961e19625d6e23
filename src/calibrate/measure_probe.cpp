// Search, first run and verification, full sampling, audit: the life of one probe on an open device.
#include "calibrate/measure_probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "device/host.hpp"
#include "measure/audit.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

/// A few samples are enough to rank variants that differ by more than a percent.
SamplerOptions search_options() {
  SamplerOptions options;
  options.settle_s = 0.02;
  options.min_samples = 7;
  options.min_time_s = 0.01;
  options.max_time_s = 0.1;
  options.relative_half_width = 0.01;
  return options;
}

/// Ceilings are divided by, so they are sampled longer and tighter than points.
SamplerOptions ceiling_options(bool quick) {
  SamplerOptions options;
  options.settle_s = quick ? 0.05 : 0.2;
  options.min_time_s = quick ? 0.05 : 0.3;
  options.max_time_s = quick ? 0.3 : 2.0;
  options.relative_half_width = quick ? 0.005 : 0.002;
  return options;
}

/// A probe that draws so much power that the limiter lowers the clock within milliseconds rests before every
/// sample, so that all samples are taken in one state. Price and limit: nine tenths of the time are rests, and
/// a launch of cuBLAS 8192^3 on an H200 is long enough to be slowed within itself: 1.57 to 1.69 GHz were measured
/// with rests, 1.33 to 1.57 without, of 1.98.
constexpr std::chrono::milliseconds kRest(30);

SamplerOptions burst_options(SamplerOptions options) {
  options.settle_s = 0;
  options.min_time_s = 0;
  options.max_time_s = 4 * options.max_time_s;  // nine tenths of the time are rests
  options.relative_half_width = std::max(options.relative_half_width, 0.005);
  return options;
}

/// Doubling needs no tight interval: it is judged against 2 %.
SamplerOptions doubling_options(bool quick) {
  SamplerOptions options = ceiling_options(quick);
  options.settle_s = 0.02;
  options.min_time_s = 0.05;
  options.max_time_s = quick ? 0.2 : 0.6;
  return options;
}

class ProbeRun {
 public:
  ProbeRun(const Probe& probe, Device& device, bool quick, const std::function<bool()>& cancelled)
      : probe_(probe), device_(device), quick_(quick), cancelled_(cancelled) {}

  ProbeOutcome run() {
    const int best = best_variant();
    if (best < 0) return cancelled_() ? "cancelled" : failure_.value_or("no variant of the probe runs here");
    ProbeCase winner = *make(best, 1);
    if (auto wrong = first_run(winner)) return "wrong result: " + *wrong;
    const Summary time = time_case(winner, ceiling_options(quick_));
    if (time.samples == 0 || !(time.median > 0)) return "no time could be measured";
    MeasuredProbe measured{.ceiling = describe(winner, time),
                           .intensity = arithmetic_intensity(winner.work, main_memory(probe_.device)),
                           .pipe = dominant_pipe(winner.work)};
    audit(measured.ceiling, winner, time);
    if (probe_.scalable && !cancelled_()) {
      winner = ProbeCase();  // frees its buffers before those of twice the work are made
      measured.ceiling.audit.checks.push_back(audit_doubled(best, time));
    }
    return measured;
  }

 private:
  std::optional<ProbeCase> make(int variant, double scale) const {
    return probe_.make(device_, ProbeRequest{.quick = quick_, .scale = scale}, variant);
  }

  std::optional<std::string> first_run(const ProbeCase& probe_case) const {
    probe_case.run();
    device_.synchronize();
    return probe_case.verify ? probe_case.verify() : std::nullopt;
  }

  Summary time_case(const ProbeCase& probe_case, const SamplerOptions& wanted) const {
    const std::unique_ptr<Timer> timer =
        probe_case.batch ? nullptr : device_.timer([&](std::int64_t) { probe_case.run(); });
    const auto batch = [&](std::int64_t launches) {
      if (probe_.power_hungry) std::this_thread::sleep_for(kRest);
      return probe_case.batch ? probe_case.batch(launches) : timer->time(launches);
    };
    Bench bench;
    bench.batch = batch;
    bench.now = wall_seconds;
    bench.cancelled = cancelled_;
    bench.timer_resolution_s = device_.timer_resolution_s();
    return sample(bench, probe_.power_hungry ? burst_options(wanted) : wanted).summary;
  }

  /// The index of the fastest variant that computes the right thing, or -1.
  int best_variant() {
    int best = -1;
    double best_rate = 0;
    for (int variant = 0; !cancelled_(); ++variant) {
      const std::optional<ProbeCase> candidate = make(variant, 1);
      if (!candidate) break;
      if (auto wrong = first_run(*candidate)) {
        failure_ = fmt::format("{}: wrong result: {}", candidate->variant, *wrong);
        continue;
      }
      const double rate = candidate->amount / time_case(*candidate, search_options()).median;
      if (rate > best_rate) {
        best = variant;
        best_rate = rate;
      }
    }
    return best;
  }

  Ceiling describe(const ProbeCase& winner, const Summary& time) const {
    Ceiling ceiling;
    ceiling.name = probe_.name;
    ceiling.kind = probe_.kind;
    ceiling.level = probe_.level;
    ceiling.pattern = probe_.pattern;
    ceiling.pipe = probe_.pipe;
    ceiling.value = winner.amount / time.median;
    ceiling.ci95 = {winner.amount / time.ci95.high, winner.amount / time.ci95.low};
    ceiling.regime = Regime::burst;
    ceiling.origin = probe_.origin;
    ceiling.variant = winner.variant;
    ceiling.clocks = device_.clocks();
    if (time.clock_hz) ceiling.clocks.core_hz = time.clock_hz;
    if (probe_.limit) ceiling.limit = probe_.limit(device_, time.clock_hz);
    ceiling.samples = time.samples;
    ceiling.stop = std::string(to_string(time.stop));
    return ceiling;
  }

  void audit(Ceiling& ceiling, const ProbeCase& winner, const Summary& time) const {
    auto& checks = ceiling.audit.checks;
    if (winner.verify) checks.push_back(audit_result(winner.verify()));
    checks.push_back(audit_interval(ceiling.value, ceiling.ci95));
    checks.push_back(audit_limit(ceiling.value, ceiling.ci95, ceiling.limit, unit_of(ceiling.kind)));
    checks.push_back(audit_steadiness(time));
    if (ceiling.kind == CeilingKind::bandwidth) {
      checks.push_back(audit_working_set(winner.working_set_bytes, nearer_cache_bytes(), own_capacity_bytes()));
    }
  }

  Check audit_doubled(int variant, const Summary& once) const {
    const std::optional<ProbeCase> twice = make(variant, 2);
    if (!twice) throw Error(fmt::format("{} makes no case of twice the work", probe_.name));
    if (auto wrong = first_run(*twice)) return audit_result("with twice the work: " + *wrong);
    const Summary time = time_case(*twice, doubling_options(quick_));
    return probe_.kind == CeilingKind::compute ? audit_doubling_in_cycles(once, time) : audit_doubling(once, time);
  }

  /// All instances together of the cache level just nearer to the cores than the probe's level.
  double nearer_cache_bytes() const {
    double nearer = 0;
    for (const CacheInfo& cache : device_.info().caches) {
      const double bytes = cache.bytes * static_cast<double>(cache.instances);
      // Levels are declared from the farthest to the nearest.
      if (probe_.level && cache.level > *probe_.level && cache.level != Level::shared) nearer = std::max(nearer, bytes);
    }
    return nearer;
  }

  std::optional<double> own_capacity_bytes() const {
    for (const CacheInfo& cache : device_.info().caches) {
      if (cache.level == probe_.level) return cache.bytes * static_cast<double>(cache.instances);
    }
    return std::nullopt;
  }

  const Probe& probe_;
  Device& device_;
  bool quick_;
  const std::function<bool()>& cancelled_;
  std::optional<std::string> failure_;
};

}  // namespace

ProbeOutcome measure_probe(const Probe& probe, Device& device, bool quick, const std::function<bool()>& cancelled) {
  try {
    if (probe.unsupported) {
      if (auto reason = probe.unsupported(device)) return *reason;
    }
    return ProbeRun(probe, device, quick, cancelled).run();
  } catch (const PoisonedDevice&) {
    throw;
  } catch (const std::exception& error) {
    return std::string(error.what());
  }
}

}  // namespace roofline
