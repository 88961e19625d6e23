// The table of PCI Express generations.
#include "device/pcie.hpp"

#include <array>

namespace roofline {
namespace {

// 8b/10b until generation 2, 128b/130b until 5, then flits: 242 of 256 bytes are not check bits.
constexpr std::array kLanes = {PcieLane{2.5e9, 8, 10},   PcieLane{5e9, 8, 10},     PcieLane{8e9, 128, 130},
                               PcieLane{16e9, 128, 130}, PcieLane{32e9, 128, 130}, PcieLane{64e9, 242, 256}};

}  // namespace

std::optional<PcieLane> pcie_lane(unsigned generation) {
  if (generation < 1 || generation > kLanes.size()) return std::nullopt;
  return kLanes[generation - 1];
}

}  // namespace roofline
