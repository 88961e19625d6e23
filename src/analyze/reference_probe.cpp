// The fastest variant of the calibration's probe, verified once and then only timed.
#include "analyze/reference_probe.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "host/host.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

constexpr int kBatches = 3;       // median of three, robust against one interruption
constexpr double kPeriod = 30;    // times the duration of a measurement
constexpr double kLeastFree = 4;  // times its working set: rows need memory too

/// Share of the roof reached now; for a compute roof at the current clock, because a lower clock has a known cause.
double share_now(RoofProbe& probe) {
  const Ceiling& roof = probe.roof();
  static_cast<void>(probe.time(1));
  std::array<double, kBatches> shares{};
  for (double& share : shares) {
    const Reading reading = probe.time(1);
    const std::optional<double>& roof_hz = roof.clocks.core_hz;
    const bool by_clock = roof.kind == CeilingKind::compute && reading.clock_hz && roof_hz;
    const double slower = by_clock ? std::min(1.0, *reading.clock_hz / *roof_hz) : 1;
    share = probe.amount() / reading.seconds / (roof.value * slower);
  }
  std::nth_element(shares.begin(), shares.begin() + kBatches / 2, shares.end());
  return shares[kBatches / 2];
}

}  // namespace

ReferenceRates between(const ReferenceRates& before, const ReferenceRates& after) {
  return {.copy = std::min(before.copy, after.copy), .arithmetic = std::min(before.arithmetic, after.arithmetic)};
}

ReferenceProbe::ReferenceProbe(const Machine& machine, Device& device) {
  if (device.info().kind != DeviceKind::cpu || machine.device.identity != device.info().identity) return;
  const Ceiling* copy = machine.find("dram.copy");
  const Ceiling* arithmetic = machine.compute(Pipe::fp32);
  if (copy == nullptr || arithmetic == nullptr) return;
  try {
    std::vector<std::unique_ptr<RoofProbe>> probes;
    for (const Ceiling* roof : {copy, arithmetic}) {
      std::unique_ptr<RoofProbe> made = RoofProbe::make(*roof, device);
      if (made == nullptr || device.free_memory_bytes() < kLeastFree * made->working_set_bytes()) return;
      probes.push_back(std::move(made));
    }
    probes_ = std::move(probes);
  } catch (const Error&) {  // no memory for the copy: rows have no reference rates
  }
}

ReferenceProbe::~ReferenceProbe() = default;

RoofProbe* ReferenceProbe::probe_of(const Ceiling& roof) {
  for (const auto& probe : probes_) {
    if (probe->roof().name == roof.name && probe->roof().variant == roof.variant) return probe.get();
  }
  return nullptr;
}

std::optional<ReferenceRates> ReferenceProbe::latest() {
  const double begin_s = wall_seconds();
  if (probes_.empty() || begin_s < due_s_) return last_;
  last_ = ReferenceRates{.copy = share_now(*probes_[0]), .arithmetic = share_now(*probes_[1])};
  const double end_s = wall_seconds();
  due_s_ = end_s + kPeriod * (end_s - begin_s);
  return last_;
}

}  // namespace roofline
