// PCIe and NVLink: speed, traffic, and which GPUs they connect.
#include <array>
#include <limits>
#include <tuple>

#include "device/cuda/nvml_library.hpp"
#include "model/find.hpp"

namespace roofline {
namespace {

constexpr int kP2pOverNvLink = 2;  // of nvmlGpuP2PCapsIndex_t
constexpr int kRemoteIsSwitch = 2;

/// nvmlGpuTopologyLevel_t.
constexpr std::array<std::pair<int, PciePath>, 6> kSharedPaths = {{
    {0, PciePath::board},
    {10, PciePath::one_switch},
    {20, PciePath::several_switches},
    {30, PciePath::host_bridge},
    {40, PciePath::numa_node},
    {50, PciePath::interconnect},
}};

constexpr unsigned kFieldNvLinkSpeed = 164;            // MB/s of the link that `scope` names
constexpr unsigned kFieldNvLinkDataTransmitted = 138;  // KiB; the other direction is the next number, here and below
constexpr unsigned kFieldPcieTransmitted = 197;
constexpr unsigned kFieldNvLinkTransmitted = 202;  // bytes, of newer GPUs
constexpr unsigned kFieldNvLinkReceived = 204;
constexpr unsigned kAllLinks = std::numeric_limits<unsigned>::max();
constexpr unsigned kMostNvLinks = 36;  // GPUs so far have at most 18; a query for a missing link returns an error

}  // namespace

std::optional<PcieLink> Nvml::State::link(Question generation, Question lanes) const {
  PcieLink link;
  return ask(generation, &link.generation) && ask(lanes, &link.lanes) ? std::optional(link) : std::nullopt;
}

std::optional<PcieLink> Nvml::pcie_link() const { return state_->link(state_->pcie_generation, state_->pcie_lanes); }

std::optional<PcieLink> Nvml::best_pcie_link() const {
  return state_->link(state_->best_pcie_generation, state_->best_pcie_lanes);
}

std::optional<NvLinks> Nvml::nvlinks() const {
  if (state_->nvlink_state == nullptr) return std::nullopt;
  NvLinks all;
  for (unsigned link = 0; link < kMostNvLinks; ++link) {
    unsigned active = 0;
    if (!state_->ask(state_->nvlink_state, link, &active)) break;
    if (active == 0) continue;
    ++all.links;
    if (const auto speed = state_->field(kFieldNvLinkSpeed, link)) all.bytes_per_s = speed->value.small * 1e6;
  }
  return all;
}

std::optional<bool> Nvml::nvlink_to(const Nvml& other) const {
  int status = 0;
  if (!state_->ask(state_->p2p_status, other.state_->device, kP2pOverNvLink, &status)) return std::nullopt;
  return status == nvml::kSuccess;
}

std::optional<int> Nvml::nvlinks_to(const Nvml& other) const {
  nvml::RawPci there{};
  if (!other.state_->ask(other.state_->pci_info, &there)) return std::nullopt;
  int count = 0;
  for (unsigned link = 0; link < kMostNvLinks; ++link) {
    unsigned active = 0;
    if (!state_->ask(state_->nvlink_state, link, &active)) break;
    if (active == 0) continue;
    int kind = 0;
    nvml::RawPci remote{};
    if (state_->ask(state_->nvlink_remote_kind, link, &kind) && kind == kRemoteIsSwitch) {
      ++count;
    } else if (!state_->ask(state_->nvlink_remote, link, &remote)) {
      return std::nullopt;
    } else if (std::tuple(remote.domain, remote.bus, remote.device) ==
               std::tuple(there.domain, there.bus, there.device)) {
      ++count;
    }
  }
  return count;
}

std::optional<PciePath> Nvml::shared_path(const Nvml& other) const {
  int level = 0;
  if (!state_->ask(state_->common_ancestor, other.state_->device, &level)) return std::nullopt;
  const auto* known = find_in(kSharedPaths, [level](const auto& path) { return path.first == level; });
  return known == nullptr ? std::nullopt : std::optional(known->second);
}

std::optional<WrappingCounter> Nvml::pcie_bytes(Direction direction) const {
  const auto field = state_->field(kFieldPcieTransmitted + (direction == Direction::received ? 1 : 0));
  if (!field || field->type == nvml::kUnsignedValue) return std::nullopt;
  return WrappingCounter{nvml::number_of(*field), 0};
}

std::optional<double> Nvml::pcie_bytes_per_second(Direction direction) const {
  constexpr double kKilo = 1000;
  return state_->value<unsigned>(kKilo, state_->pcie_throughput, direction == Direction::received ? 1 : 0);
}

std::optional<WrappingCounter> Nvml::nvlink_bytes(Direction direction) const {
  constexpr double kKibi = 1024;
  const bool received = direction == Direction::received;
  if (const auto all = state_->field(kFieldNvLinkDataTransmitted + (received ? 1 : 0), kAllLinks)) {
    return WrappingCounter{nvml::number_of(*all) * kKibi, 0};
  }
  // Per link, on GPUs whose counters are in bytes.
  std::optional<WrappingCounter> sum;
  for (unsigned link = 0; link < kMostNvLinks; ++link) {
    const auto one = state_->field(received ? kFieldNvLinkReceived : kFieldNvLinkTransmitted, link);
    if (!one) break;
    if (!sum) sum.emplace();
    sum->value += nvml::number_of(*one);
  }
  return sum;
}

}  // namespace roofline
