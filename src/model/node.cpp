// Look-ups, ratios, and the circle method for rounds of pairs.
#include "model/node.hpp"

#include <algorithm>
#include <array>

#include "model/compare_machines.hpp"
#include "model/find.hpp"
#include "model/spelling.hpp"

namespace roofline {
namespace {

constexpr std::array<std::string_view, 3> kLinkKinds = {"nvlink", "pcie", "none"};
constexpr std::array<std::string_view, 6> kPciePaths = {"one board",
                                                        "one PCIe switch",
                                                        "several PCIe switches",
                                                        "one host bridge",
                                                        "one NUMA node's host bridges",
                                                        "the CPUs' interconnect"};

}  // namespace

std::string_view to_string(LinkKind kind) { return spell(kLinkKinds, kind); }
std::optional<LinkKind> parse_link_kind(std::string_view text) { return unspell<LinkKind>(kLinkKinds, text); }

std::string_view to_string(PciePath path) { return spell(kPciePaths, path); }
std::optional<PciePath> parse_pcie_path(std::string_view text) { return unspell<PciePath>(kPciePaths, text); }

bool whole_part(const Unmeasured& missing) { return missing.name.find(' ') == std::string::npos; }
bool whole_device(const Unmeasured& missing) { return whole_part(missing) && missing.name.starts_with("cuda:"); }

Interval SharedCeiling::ratio_ci95() const {
  return quotient(together.ci95.or_exact(together.value), alone.ci95.or_exact(alone.value));
}

bool SharedCeiling::falls() const { return ratio() < 1 - kRunToRun && ratio_ci95().high < 1; }

const Ceiling* Link::find(std::string_view name) const { return find_by(ceilings, &Ceiling::name, name); }

const Machine* Node::machine(int device) const {
  return find_in(machines, [&](const Machine& known) { return known.device.index == device; });
}

const Link* Node::link(int from, int to) const {
  return find_in(links, [&](const Link& known) { return known.from == from && known.to == to; });
}

const DevicePlace* Node::place(int device) const { return find_by(topology.places, &DevicePlace::device, device); }

// Circle method: one device stays, the others rotate by one place per round; opposite devices are pairs. With an odd
// number one device pauses.
std::vector<std::vector<DevicePair>> schedule_pairs(std::span<const int> devices,
                                                    const std::function<bool(DevicePair)>& shares) {
  constexpr int kNoPartner = -1;
  std::vector<int> circle(devices.begin(), devices.end());
  if (circle.size() % 2 != 0) circle.push_back(kNoPartner);
  std::vector<std::vector<DevicePair>> rounds, own;
  for (std::size_t turn = 0; turn + 1 < circle.size(); ++turn) {
    std::vector<DevicePair> forth, back;
    for (std::size_t i = 0; i < circle.size() / 2; ++i) {
      const int a = circle[i], b = circle[circle.size() - 1 - i];
      if (a == kNoPartner || b == kNoPartner) continue;
      for (const DevicePair pair : {DevicePair{std::min(a, b), std::max(a, b)}, {std::max(a, b), std::min(a, b)}}) {
        if (shares(pair)) {
          own.push_back({pair});
        } else {
          (pair.from < pair.to ? forth : back).push_back(pair);
        }
      }
    }
    for (auto* const round : {&forth, &back}) {
      if (!round->empty()) rounds.push_back(std::move(*round));
    }
    std::rotate(circle.begin() + 1, circle.end() - 1, circle.end());
  }
  rounds.insert(rounds.end(), own.begin(), own.end());
  return rounds;
}

}  // namespace roofline
