// What a lane of PCI Express carries, by generation: arithmetic from the PCI-SIG's base specifications.
#pragma once

#include <optional>

namespace roofline {

struct PcieLane {
  double transfers_per_s = 0;  ///< bits on the wire, in one direction
  int payload_bits = 0;        ///< of every `sent_bits`, after the line code
  int sent_bits = 0;

  double bytes_per_s() const { return transfers_per_s * payload_bits / sent_bits / 8; }
};

/// Generations 1 to 6; std::nullopt for others. Headers and acknowledgements of packets are not taken off.
std::optional<PcieLane> pcie_lane(unsigned generation);

}  // namespace roofline
