// A node: the devices of one host, their rates when all are active, and the links between them. Plain data, and the
// arithmetic of pairs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine.hpp"

namespace roofline {

/// A rate, with the clock and sensor readings.
struct LoadedRate {
  double value = 0;
  Interval ci95;  /// interval of the median; for strongly correlated samples, the range of nine tenths of them
  std::optional<double> core_hz;
  std::optional<double> watts;
  std::optional<double> temperature_c;
  std::optional<std::string> limiter;  /// clock-limit reason; empty: none
};

/// A ceiling of one device, measured while the other devices are idle, and again while all are active.
struct SharedCeiling {
  int device = 0;  ///< its index, as in DeviceInfo
  std::string name;
  CeilingKind kind = CeilingKind::bandwidth;
  Regime regime = Regime::burst;
  std::string variant;
  LoadedRate alone, together;

  /// Pipe of a compute ceiling, which has the pipe's name.
  std::optional<Pipe> pipe() const { return kind == CeilingKind::compute ? parse_pipe(name) : std::nullopt; }
  /// together / alone: below 1 is slower.
  double ratio() const { return together.value / alone.value; }
  Interval ratio_ci95() const;
  /// True if it drops by more than the run-to-run difference of one machine, beyond both intervals.
  bool falls() const;
};

/// How a device accesses another's memory. none: no direct access, copies are staged through host memory.
enum class LinkKind : std::uint8_t { nvlink, pcie, none };
std::string_view to_string(LinkKind kind);
std::optional<LinkKind> parse_link_kind(std::string_view text);

/// The common part of two devices' PCIe paths, from the nearest to the farthest.
enum class PciePath : std::uint8_t { board, one_switch, several_switches, host_bridge, numa_node, interconnect };
std::string_view to_string(PciePath path);  ///< display name and id in files: "one PCIe switch"
std::optional<PciePath> parse_pcie_path(std::string_view text);

/// A directed link: `from` reads and writes the memory of `to`.
struct Link {
  int from = 0;
  int to = 0;
  LinkKind kind = LinkKind::pcie;
  int nvlinks = 0;                      /// number of NVLinks; 0 if there are none or the driver does not report them
  std::optional<PciePath> across = {};  ///< absent if unknown
  std::vector<Ceiling> ceilings = {};   ///< link.read, link.write, link.both (each way at once), link.latency
  std::vector<Unmeasured> unmeasured = {};

  const Ceiling* find(std::string_view name) const;
};

/// Location of a device.
struct DevicePlace {
  int device = 0;
  std::string pci_address;       ///< "0000:3b:00.0"
  std::optional<int> numa_node;  ///< absent where the system does not report it
  std::string cpus;              ///< those near it, "0-31"; empty: unknown
};

struct NodeTopology {
  std::vector<DevicePlace> places;
  std::vector<int> numa_nodes;                   ///< NUMA nodes of the host, ascending
  std::vector<std::vector<int>> numa_distances;  /// from firmware: 10 is the distance of a node to itself
};

struct Node {
  std::string host_name;  ///< host name in its network; may be empty
  std::string host;       ///< operating system and kernel
  std::string measured_at, tool_version;
  bool quick = false;
  bool cancelled = false;
  std::vector<Machine> machines;  ///< sorted by device index
  NodeTopology topology;
  std::vector<SharedCeiling> together;  ///< sorted by ceiling, then by device
  std::vector<Link> links;              ///< all ordered pairs, sorted by `from`, then by `to`
  std::vector<Unmeasured> unmeasured;   ///< "cuda:3", "cuda:1 hbm.read together", "links"; see whole_part()

  const Machine* machine(int device) const;
  const Link* link(int from, int to) const;
  const DevicePlace* place(int device) const;
};

/// The ceilings that links have, in the order in which they are shown.
inline constexpr std::string_view kLinkCeilings[] = {"link.read", "link.write", "link.both", "link.latency"};

/// True if the entry of Node::unmeasured is a device ("cuda:3") or a part of the calibration ("links"), as opposed to
/// one ceiling of a device ("cuda:1 hbm.read together").
bool whole_part(const Unmeasured& missing);
/// True if it is a device.
bool whole_device(const Unmeasured& missing);

/// Two devices, of which the first one initiates the transfer.
struct DevicePair {
  int from = 0;
  int to = 0;
  bool operator==(const DevicePair&) const = default;
};

/// Every ordered pair once, in rounds of pairs that may be measured at the same time: no two pairs of a round have
/// a device in common, and a pair that `shares` its path with others (PCIe) has its own round. The minimum number
/// of rounds if none shares: 2 (n-1) for n devices, with one pausing in each round if n is odd.
std::vector<std::vector<DevicePair>> schedule_pairs(std::span<const int> devices,
                                                    const std::function<bool(DevicePair)>& shares);

}  // namespace roofline
