// One kernel in the sampler: calibrate, warm up, calibrate again if it became faster, sample, summarise. Sample
// length and stopping are decided here; the statistics are elsewhere.
#include "measure/sampler.hpp"

#include <algorithm>
#include <cmath>

#include "measure/statistics.hpp"
#include "measure/stop_rule.hpp"

namespace roofline {
namespace {

/// More launches than a sample can need: a million of the fastest (1 ns) take 1 ms. A timer that still reads zero
/// then does not work.
constexpr std::int64_t kMaxLaunches = std::int64_t{1} << 20;
/// The warm-up ends by time; this bound ends it if neither the wall clock nor the readings advance.
constexpr std::size_t kMaxWarmUpBatches = 20000;
constexpr double kStableWithin = 0.005;
/// Sampling takes at most that many times its time limit to reach `least_samples`.
constexpr double kPatience = 3;

class Sampling {
 public:
  Sampling(const Bench& bench, const SamplerOptions& options, StopRule& rule)
      : bench_(bench),
        options_(options),
        rule_(rule),
        quantum_(std::max<std::int64_t>(1, bench.launch_quantum)),
        launches_(quantum_),
        target_s_(std::max(options.resolution_multiple * bench.timer_resolution_s, options.min_sample_s)) {}

  Samples run() {
    if (calibrate() && warm_up() && calibrate_anew()) take_samples();
    return sum_up();
  }

 private:
  /// A window of the warm-up: its readings, and its two clocks.
  struct Window {
    std::vector<double> seconds;
    std::vector<double> clock_hz;
    double start_s = 0;  ///< wall clock
    double busy_s = 0;   ///< sum of the readings
  };

  std::optional<Reading> read_batch(bool zero_allowed = false);
  bool calibrate();
  bool calibrate_anew();
  std::int64_t more_launches(double seconds) const;
  bool warm_up();
  bool warm_up_fixed();
  bool warm_up_until_stable();
  bool fill(Window& window, double duration_s);
  bool warm_up_is_over(double cap_s) const;
  void take_samples();
  bool finished(double elapsed_s);
  Samples sum_up();

  const Bench& bench_;
  const SamplerOptions& options_;
  StopRule& rule_;
  std::int64_t quantum_;
  std::int64_t launches_;
  double target_s_;  ///< that a sample has to last

  StopReason stop_ = StopReason::converged;
  double busy_s_ = 0;  ///< sum of all readings so far: includes the warm-up
  double warm_up_start_s_ = 0;
  double warm_up_s_ = 0;
  bool drifting_ = false;
  std::vector<double> warm_up_seconds_;  /// readings during the warm-up
  std::vector<double> clock_hz_, work_clock_hz_;
  Samples samples_;
};

/// std::nullopt if the run must end: cancelled, or an invalid reading.
std::optional<Reading> Sampling::read_batch(bool zero_allowed) {
  if (bench_.cancelled && bench_.cancelled()) {
    stop_ = StopReason::cancelled;
    return std::nullopt;
  }
  const Reading reading = bench_.batch(launches_);
  if (!std::isfinite(reading.seconds) || reading.seconds < 0 || (reading.seconds == 0 && !zero_allowed)) {
    stop_ = StopReason::bad_reading;
    return std::nullopt;
  }
  busy_s_ += reading.seconds;
  return reading;
}

/// Raises launches_ until two consecutive readings last long enough: a single one may contain an interruption or
/// one-time costs of the first launch, and would make every later sample too short.
bool Sampling::calibrate() {
  int crossed = 0;
  while (crossed < 2) {
    const bool at_most = launches_ + quantum_ > kMaxLaunches;
    // A timer may read zero for too few launches, but not for the maximum number.
    const std::optional<Reading> reading = read_batch(/*zero_allowed=*/!at_most);
    if (!reading) return false;
    if (reading->seconds >= target_s_) {
      ++crossed;
      continue;
    }
    if (at_most) return true;
    crossed = 0;
    launches_ = more_launches(reading->seconds);
  }
  return true;
}

/// Enough launches for a fifth more than needed, but 2 to 10 times the current number, because short readings are
/// too coarse for larger steps. A multiple of the quantum.
std::int64_t Sampling::more_launches(double seconds) const {
  const double factor = seconds > 0 ? std::clamp(1.2 * target_s_ / seconds, 2.0, 10.0) : 10.0;
  const double wanted = std::ceil(static_cast<double>(launches_ / quantum_) * factor);
  const std::int64_t most = std::max(quantum_, kMaxLaunches / quantum_ * quantum_);
  return std::min(static_cast<std::int64_t>(wanted) * quantum_, most);
}

bool Sampling::warm_up() {
  warm_up_start_s_ = bench_.now();
  const bool done = options_.warm_up == WarmUpMode::fixed ? warm_up_fixed() : warm_up_until_stable();
  warm_up_s_ = bench_.now() - warm_up_start_s_;
  return done;
}

/// The time of calibrating counts: a kernel longer than warm_up_s needs no third launch.
bool Sampling::warm_up_fixed() {
  while (!warm_up_is_over(options_.warm_up_s)) {
    const std::optional<Reading> reading = read_batch();
    if (!reading) return false;
    warm_up_seconds_.push_back(reading->seconds);
  }
  return true;
}

/// By the wall clock, or by the readings if it does not advance.
bool Sampling::warm_up_is_over(double cap_s) const {
  return bench_.now() - warm_up_start_s_ >= cap_s || busy_s_ >= cap_s || warm_up_seconds_.size() >= kMaxWarmUpBatches;
}

/// Windows must agree twice in a row: with one agreement the warm-up could end after two windows, 0.6 s, and power
/// limiters act at about that time.
bool Sampling::warm_up_until_stable() {
  const auto agree = [](double a, double b) { return std::abs(a - b) <= kStableWithin * std::min(a, b); };
  Window before;
  if (!fill(before, options_.warm_up_s)) return false;
  for (int agreed = 0; agreed < 2;) {
    if (warm_up_is_over(options_.max_warm_up_s)) {
      drifting_ = true;
      return true;
    }
    Window after;
    if (!fill(after, options_.warm_up_s)) return false;
    const bool clocks =
        before.clock_hz.empty() || after.clock_hz.empty() || agree(median(before.clock_hz), median(after.clock_hz));
    agreed = clocks && agree(median(before.seconds), median(after.seconds)) ? agreed + 1 : 0;
    before = std::move(after);
  }
  return true;
}

/// At least one batch, then more for that time, or until the cap.
bool Sampling::fill(Window& window, double duration_s) {
  window.start_s = bench_.now();
  do {
    const std::optional<Reading> reading = read_batch();
    if (!reading) return false;
    warm_up_seconds_.push_back(reading->seconds);
    window.seconds.push_back(reading->seconds);
    if (reading->clock_hz) window.clock_hz.push_back(*reading->clock_hz);
    window.busy_s += reading->seconds;
  } while (bench_.now() - window.start_s < duration_s && window.busy_s < duration_s &&
           !warm_up_is_over(options_.max_warm_up_s));
  return true;
}

/// A processor that was idle may run several times faster once warm, and samples would then be too short.
bool Sampling::calibrate_anew() {
  if (warm_up_seconds_.empty()) return true;
  const auto latest = static_cast<std::ptrdiff_t>((warm_up_seconds_.size() + 1) / 2);
  return median({warm_up_seconds_.end() - latest, warm_up_seconds_.end()}) >= target_s_ || calibrate();
}

void Sampling::take_samples() {
  if (bench_.warmed_up) bench_.warmed_up();
  const double start_s = bench_.now();
  do {
    const std::optional<Reading> reading = read_batch();
    if (!reading) return;
    samples_.seconds.push_back(reading->seconds / static_cast<double>(launches_));
    if (reading->clock_hz) clock_hz_.push_back(*reading->clock_hz);
    if (reading->work_clock_hz) work_clock_hz_.push_back(*reading->work_clock_hz);
  } while (!finished(bench_.now() - start_s));
}

/// Sets stop_ and returns true if sampling is over. At a limit the rule is evaluated once more, so that "converged"
/// is reported exactly if the interval in the summary is narrow enough.
bool Sampling::finished(double elapsed_s) {
  const auto n = static_cast<std::int64_t>(samples_.seconds.size());
  const double limit_s = (n < options_.least_samples ? kPatience : 1) * options_.max_time_s;
  const bool out_of_time = elapsed_s >= limit_s;
  const bool out_of_samples = n >= options_.max_samples;
  const bool enough = n >= options_.min_samples && elapsed_s >= options_.min_time_s;
  const bool at_limit = out_of_time || out_of_samples;
  stop_ = StopReason::converged;
  if (enough && (at_limit || rule_.due(n)) && rule_.converged(samples_.seconds)) return true;
  stop_ = out_of_time ? StopReason::time_limit : StopReason::sample_limit;
  return at_limit;
}

Samples Sampling::sum_up() {
  Summary& summary = samples_.summary;
  summary = summarize(samples_.seconds);
  summary.launches_per_sample = launches_;
  summary.warm_up_s = warm_up_s_;
  summary.drifting = summary.drifting || drifting_;
  summary.stop = stop_;
  if (!clock_hz_.empty()) summary.clock_hz = median(clock_hz_);
  // A list with gaps could not be matched with the samples.
  if (clock_hz_.size() == samples_.seconds.size()) samples_.clock_hz = std::move(clock_hz_);
  if (work_clock_hz_.size() == samples_.seconds.size()) samples_.work_clock_hz = std::move(work_clock_hz_);
  summary.work_clock_hz = clock_of_cycles(samples_.seconds, samples_.work_clock_hz, summary.median);
  return std::move(samples_);
}

}  // namespace

Samples sample(const Bench& bench, const SamplerOptions& options) {
  MedianStop rule(options.relative_half_width, options.min_samples);
  return sample(bench, options, rule);
}

Samples sample(const Bench& bench, const SamplerOptions& options, StopRule& rule) {
  return Sampling(bench, options, rule).run();
}

}  // namespace roofline
