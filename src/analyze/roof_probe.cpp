// Looks the probe up by the ceiling's name and its variants by theirs.
#include "analyze/roof_probe.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "op/registry.hpp"

namespace roofline {

std::unique_ptr<RoofProbe> RoofProbe::make(const Ceiling& roof, Device& device) {
  const std::vector<const Probe*> probes = all_probes(device.info().kind);
  const auto probe =
      std::find_if(probes.begin(), probes.end(), [&](const Probe* one) { return one->name == roof.name; });
  if (probe == probes.end() || (*probe)->sweep) return nullptr;
  for (int variant = 0;; ++variant) {
    std::optional<ProbeCase> made = (*probe)->make(device, ProbeRequest{}, variant);
    if (!made) return nullptr;
    if (made->variant != roof.variant) continue;
    made->run();
    device.synchronize();
    if (made->verify && made->verify()) return nullptr;
    return std::make_unique<RoofProbe>(roof, *std::move(made), device);
  }
}

RoofProbe::RoofProbe(const Ceiling& roof, ProbeCase probe_case, Device& device)
    : roof_(roof), case_(std::move(probe_case)), timer_(device.timer([this](std::int64_t) { case_.run(); })) {}

}  // namespace roofline
