// Batches, pauses and sensors around the sampler.
#include "calibrate/probe_bench.hpp"

#include <chrono>
#include <memory>
#include <thread>

#include "calibrate/sampling_plan.hpp"
#include "host/host.hpp"
#include "measure/statistics.hpp"
#include "op/case.hpp"

namespace roofline {
namespace {

/// Reading a sensor takes up to a millisecond, in which the device idles, so it is done rarely.
constexpr double kSensorPeriodS = 0.1;
/// Several periods of an energy counter (0.1 s on an H200).
constexpr std::chrono::milliseconds kIdleTime(500);

/// Reads the sensors at both ends of the sampling, and the clock-limit reason in between, under load.
class SensorWatch {
 public:
  explicit SensorWatch(Device& device) : device_(device) {}

  void start() {
    first_ = device_.power();
    start_s_ = last_look_s_ = wall_seconds();
    started_ = true;
  }

  void batch_done(std::int64_t launches) {
    if (!started_) return;
    launches_ += launches;
    const double now = wall_seconds();
    if (now - last_look_s_ < kSensorPeriodS) return;
    last_look_s_ = now;
    last_ = device_.power();
    end_s_ = wall_seconds();
    launches_at_end_ = launches_;
    if (last_.limiter && !(limiter_ && !limiter_->empty())) limiter_ = last_.limiter;
  }

  /// `amount` is that of one launch. Energy and amount are those between two sensor readings.
  Power power(double amount) const {
    Power power;
    power.temperature_c = last_.temperature_c;
    power.limiter = limiter_;
    const double done = amount * static_cast<double>(launches_at_end_);
    if (first_.energy_j && last_.energy_j && end_s_ > start_s_ && *last_.energy_j > *first_.energy_j && done > 0) {
      const double joules = *last_.energy_j - *first_.energy_j;
      power.seconds = end_s_ - start_s_;
      power.watts = joules / power.seconds;
      power.joules_per_unit = joules / done;
    }
    return power;
  }

  double elapsed_s() const { return started_ ? wall_seconds() - start_s_ : 0; }

 private:
  Device& device_;
  bool started_ = false;
  PowerReading first_, last_;
  std::optional<std::string> limiter_;
  double start_s_ = 0, end_s_ = 0, last_look_s_ = 0;
  std::int64_t launches_ = 0, launches_at_end_ = 0;
};

double shift_of(const std::vector<double>& seconds) {
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  return median({middle, seconds.end()}) / median({seconds.begin(), middle}) - 1;
}

using Batch = std::function<Reading(std::int64_t)>;

/// With the clock among the probe's instructions right after each batch, if it has one: the sample's own.
Batch batch_of(const ProbeBench& bench, const ProbeCase& probe_case) {
  Batch batch = probe_case.batch;
  if (!batch) {
    const std::shared_ptr<Timer> timer = bench.device.timer([&probe_case](std::int64_t) { probe_case.run(); });
    batch = [timer](std::int64_t launches) { return timer->time(launches); };
  }
  if (!probe_case.clock) return batch;
  return [batch = std::move(batch), &probe_case](std::int64_t launches) {
    Reading reading = batch(launches);
    reading.work_clock_hz = probe_case.clock();
    return reading;
  };
}

/// The same with the probe's pause before each batch, if it has one.
Batch rested_batch_of(const ProbeBench& bench, const ProbeCase& probe_case) {
  Batch batch = batch_of(bench, probe_case);
  if (!(bench.probe.rest_s > 0)) return batch;
  return [batch = std::move(batch), rest = std::chrono::duration<double>(bench.probe.rest_s)](std::int64_t launches) {
    std::this_thread::sleep_for(rest);
    return batch(launches);
  };
}

Bench sampler_bench(const ProbeBench& bench, const ProbeCase& probe_case, Batch batch) {
  return {.batch = std::move(batch),
          .now = wall_seconds,
          .cancelled = bench.cancelled,
          .timer_resolution_s = resolution_among(static_cast<int>(probe_case.ranks), bench.device)};
}

LoadedTime time_watched(const ProbeBench& bench, const ProbeCase& probe_case, const Batch& batch,
                        const SamplerOptions& options, StopRule& rule, const std::function<void()>& warmed_up) {
  SensorWatch watch(bench.device);
  Bench watched = sampler_bench(bench, probe_case, [&](std::int64_t launches) {
    const Reading reading = batch(launches);
    watch.batch_done(launches);
    return reading;
  });
  watched.warmed_up = [&] {
    warmed_up();
    watch.start();
  };
  LoadedTime loaded;
  const Samples samples = sample(watched, options, rule);
  loaded.time = samples.summary;
  loaded.shift = shift_of(samples.seconds);
  loaded.sampled_s = watch.elapsed_s();
  loaded.power = watch.power(probe_case.amount);
  return loaded;
}

}  // namespace

std::optional<std::string> first_run(const ProbeBench& bench, const ProbeCase& probe_case) {
  probe_case.run();
  bench.device.synchronize();
  return probe_case.verify ? probe_case.verify() : std::nullopt;
}

Samples sample_case(const ProbeBench& bench, const ProbeCase& probe_case, const SamplerOptions& options,
                    StopRule& rule) {
  return sample(sampler_bench(bench, probe_case, rested_batch_of(bench, probe_case)), options, rule);
}

Summary time_case(const ProbeBench& bench, const ProbeCase& probe_case, const SamplerOptions& options) {
  const SamplerOptions asked = bench.probe.rest_s > 0 ? rested(options) : options;
  MedianStop rule(asked.relative_half_width, asked.min_samples);
  return sample_case(bench, probe_case, asked, rule).summary;
}

LoadedTime time_under_load(const ProbeBench& bench, const ProbeCase& probe_case, const SamplerOptions& options) {
  MedianStop rule(options.relative_half_width, options.min_samples);
  return time_watched(bench, probe_case, batch_of(bench, probe_case), options, rule, [] {});
}

LoadedTime time_concurrently(const ProbeBench& bench, const ProbeCase& probe_case, const SamplerOptions& options,
                             StopRule& rule, Regime regime, const std::function<void()>& warmed_up) {
  const bool rests = regime == Regime::burst;
  return time_watched(bench, probe_case, rests ? rested_batch_of(bench, probe_case) : batch_of(bench, probe_case),
                      options, rule, warmed_up);
}

std::optional<double> measure_idle_watts(Device& device) {
  const PowerReading before = device.power();
  if (!before.energy_j) return std::nullopt;
  const double start_s = wall_seconds();
  std::this_thread::sleep_for(kIdleTime);
  const PowerReading after = device.power();
  if (!after.energy_j) return std::nullopt;
  return (*after.energy_j - *before.energy_j) / (wall_seconds() - start_s);
}

}  // namespace roofline
