// Synthetic series and a fake device for the sampler's tests: seeded noise with known truth, and a bench
// whose clock moves only by what its launches take.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include "measure/sampler.hpp"

namespace roofline::synthetic {

/// Times around 1 (times `scale`): Gaussian with lag-1 correlation `correlation`, a share of them spiked.
struct Noise {
  double deviation = 0.01;
  double correlation = 0;
  double spike_share = 0;
  double spike_factor = 3;
  double scale = 1;

  /// The median of the distribution: spikes push it up by a little.
  double true_median() const {
    const double quantile_of_clean = 0.5 / (1 - spike_share);
    return scale * (1 + deviation * (quantile_of_clean - 0.5) * std::sqrt(2 * std::numbers::pi));
  }
};

/// A stationary series. The same for every standard library: only the generator is the library's.
class NoisySeries {
 public:
  NoisySeries(const Noise& noise, std::uint64_t seed) : noise_(noise), random_(seed), state_(gaussian()) {}

  double operator()() {
    const double fresh = std::sqrt(1 - noise_.correlation * noise_.correlation);
    state_ = noise_.correlation * state_ + fresh * gaussian();
    const double value = noise_.scale * (1 + noise_.deviation * state_);
    return noise_.spike_share > 0 && uniform() < noise_.spike_share ? value * noise_.spike_factor : value;
  }

  std::vector<double> take(int count) {
    std::vector<double> values;
    values.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) values.push_back((*this)());
    return values;
  }

 private:
  /// In (0, 1].
  double uniform() { return (static_cast<double>(random_() >> 11) + 1) * 0x1p-53; }
  double gaussian() {  // Box and Muller
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

  Noise noise_;
  std::mt19937_64 random_;
  double state_;
};

/// A device whose batches last what `seconds_of(launches, batch number, now)` says.
class FakeDevice {
 public:
  using Seconds = std::function<double(std::int64_t launches, int batch, double now_s)>;

  explicit FakeDevice(Seconds seconds_of) : seconds_of_(std::move(seconds_of)) {}
  FakeDevice(const FakeDevice&) = delete;
  FakeDevice& operator=(const FakeDevice&) = delete;

  Bench bench() {
    Bench bench;
    bench.batch = [this](std::int64_t launches) {
      const double seconds = seconds_of_(launches, static_cast<int>(launches_of.size()), now_s);
      launches_of.push_back(launches);
      seconds_read.push_back(seconds);
      if (std::isfinite(seconds) && seconds > 0 && !frozen) now_s += seconds;
      Reading reading{seconds, clock_of ? clock_of(now_s) : std::nullopt};
      if (work_clock_of) reading.work_clock_hz = work_clock_of(seconds / static_cast<double>(launches));
      return reading;
    };
    bench.now = [this] { return now_s; };
    return bench;
  }

  double now_s = 100;   ///< wall clocks have any origin
  bool frozen = false;  ///< the wall clock stands still
  std::function<std::optional<double>(double now_s)> clock_of;
  std::function<std::optional<double>(double launch_s)> work_clock_of;  ///< by the time of a launch in that batch
  std::vector<std::int64_t> launches_of;                                ///< of each batch that was run
  std::vector<double> seconds_read;                                     ///< of each batch that was run

 private:
  Seconds seconds_of_;
};

}  // namespace roofline::synthetic
