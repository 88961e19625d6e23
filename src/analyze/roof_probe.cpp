// Looks the probe up by the ceiling's name and its variants by theirs.
#include "analyze/roof_probe.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "op/registry.hpp"

namespace roofline {

namespace {

/// The probe of a roof; null if there is none.
const Probe* probe_named(const std::string& name, DeviceKind device) {
  const std::vector<const Probe*> probes = all_probes(device);
  const auto probe = std::ranges::find_if(probes, [&](const Probe* one) { return one->name == name && !one->sweep; });
  return probe == probes.end() ? nullptr : *probe;
}

/// Runs it once. Null if its result is wrong.
std::unique_ptr<RoofProbe> verified(const Ceiling& roof, ProbeCase made, Device& device) {
  made.run();
  device.synchronize();
  if (made.verify && made.verify()) return nullptr;
  return std::make_unique<RoofProbe>(roof, std::move(made), device);
}

}  // namespace

std::unique_ptr<RoofProbe> RoofProbe::make(const Ceiling& roof, Device& device) {
  const Probe* const probe = probe_named(roof.name, device.info().kind);
  for (int variant = 0; probe != nullptr; ++variant) {
    std::optional<ProbeCase> made = probe->make(device, ProbeRequest{}, variant);
    if (!made) return nullptr;
    if (made->variant == roof.variant) return verified(roof, *std::move(made), device);
  }
  return nullptr;
}

void RoofProbe::for_other_variants(const Ceiling& roof, Device& device, const std::function<void(RoofProbe&)>& use) {
  const Probe* const probe = probe_named(roof.name, device.info().kind);
  for (int variant = 0; probe != nullptr; ++variant) {
    std::optional<ProbeCase> made = probe->make(device, ProbeRequest{}, variant);
    if (!made) return;
    if (made->variant == roof.variant) continue;
    if (const std::unique_ptr<RoofProbe> other = verified(roof, *std::move(made), device)) use(*other);
  }
}

RoofProbe::RoofProbe(const Ceiling& roof, ProbeCase probe_case, Device& device)
    : roof_(roof), case_(std::move(probe_case)), timer_(device.timer([this](std::int64_t) { case_.run(); })) {}

}  // namespace roofline
