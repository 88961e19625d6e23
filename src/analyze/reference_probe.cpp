// The fastest variant of the calibration's probe, verified once and then only timed.
#include "analyze/reference_probe.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "host/host.hpp"
#include "model/error.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

constexpr int kBatches = 3;       // median of three, robust against one interruption
constexpr double kPeriod = 30;    // times the duration of a measurement
constexpr double kLeastFree = 4;  // times its working set: rows need memory too

/// The roof's probe in the roof's variant, verified; nothing if it fails.
std::optional<ProbeCase> made_again(const Ceiling& roof, Device& device) {
  const std::vector<const Probe*> probes = all_probes(device.info().kind);
  const auto probe =
      std::find_if(probes.begin(), probes.end(), [&](const Probe* one) { return one->name == roof.name; });
  if (probe == probes.end()) return std::nullopt;
  for (int variant = 0;; ++variant) {
    std::optional<ProbeCase> made = (*probe)->make(device, ProbeRequest{}, variant);
    if (!made) return std::nullopt;
    if (made->variant != roof.variant) continue;
    made->run();
    device.synchronize();
    if (made->verify && made->verify()) return std::nullopt;
    return made;
  }
}

}  // namespace

ReferenceRates between(const ReferenceRates& before, const ReferenceRates& after) {
  return {.copy = std::min(before.copy, after.copy), .arithmetic = std::min(before.arithmetic, after.arithmetic)};
}

class ReferenceProbe::Gauge {
 public:
  Gauge(const Ceiling& roof, ProbeCase probe_case, Device& device)
      : roof_(roof), case_(std::move(probe_case)), timer_(device.timer([this](std::int64_t) { case_.run(); })) {}
  Gauge(const Gauge&) = delete;
  Gauge& operator=(const Gauge&) = delete;

  /// Share of the roof reached now; for a compute roof at the current clock, because a lower clock has a known
  /// cause.
  double share() {
    timer_->time(1);
    std::array<double, kBatches> shares{};
    for (double& share : shares) {
      const Reading reading = timer_->time(1);
      const std::optional<double>& roof_hz = roof_.clocks.core_hz;
      const bool by_clock = roof_.kind == CeilingKind::compute && reading.clock_hz && roof_hz;
      const double slower = by_clock ? std::min(1.0, *reading.clock_hz / *roof_hz) : 1;
      share = case_.amount / reading.seconds / (roof_.value * slower);
    }
    std::nth_element(shares.begin(), shares.begin() + kBatches / 2, shares.end());
    return shares[kBatches / 2];
  }

 private:
  Ceiling roof_;
  ProbeCase case_;
  std::unique_ptr<Timer> timer_;
};

ReferenceProbe::ReferenceProbe(const Machine& machine, Device& device) {
  if (device.info().kind != DeviceKind::cpu || machine.device.identity != device.info().identity) return;
  const Ceiling* copy = machine.find("dram.copy");
  const Ceiling* arithmetic = machine.compute(Pipe::fp32);
  if (copy == nullptr || arithmetic == nullptr) return;
  try {
    std::vector<std::unique_ptr<Gauge>> gauges;
    for (const Ceiling* roof : {copy, arithmetic}) {
      std::optional<ProbeCase> made = made_again(*roof, device);
      if (!made || device.free_memory_bytes() < kLeastFree * made->working_set_bytes) return;
      gauges.push_back(std::make_unique<Gauge>(*roof, *std::move(made), device));
    }
    gauges_ = std::move(gauges);
  } catch (const Error&) {  // no memory for the copy: rows have no reference rates
  }
}

ReferenceProbe::~ReferenceProbe() = default;

std::optional<ReferenceRates> ReferenceProbe::latest() {
  const double begin_s = wall_seconds();
  if (gauges_.empty() || begin_s < due_s_) return last_;
  last_ = ReferenceRates{.copy = gauges_[0]->share(), .arithmetic = gauges_[1]->share()};
  const double end_s = wall_seconds();
  due_s_ = end_s + kPeriod * (end_s - begin_s);
  return last_;
}

}  // namespace roofline
