// A separate registry, filled before main like those of ops and probes.
#include "op/link_probe.hpp"

#include <algorithm>
#include <iterator>

namespace roofline {
namespace {

std::vector<LinkProbe>& registered_link_probes() {
  static std::vector<LinkProbe> instance;
  return instance;
}

}  // namespace

LinkProbeRegistrar::LinkProbeRegistrar(std::vector<LinkProbe> probes) {
  std::move(probes.begin(), probes.end(), std::back_inserter(registered_link_probes()));
}

std::vector<LinkProbe> link_probes(DeviceKind device) {
  std::vector<LinkProbe> probes = registered_link_probes();
  std::erase_if(probes, [&](const LinkProbe& probe) { return probe.device != device; });
  const auto place = [](const LinkProbe& probe) {
    return std::find(std::begin(kLinkCeilings), std::end(kLinkCeilings), probe.name) - std::begin(kLinkCeilings);
  };
  std::stable_sort(probes.begin(), probes.end(),
                   [&](const LinkProbe& a, const LinkProbe& b) { return place(a) < place(b); });
  return probes;
}

}  // namespace roofline
