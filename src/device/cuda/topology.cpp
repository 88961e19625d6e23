// What the CUDA runtime, NVML and the system say of each GPU and each pair.
#include "device/cuda/topology.hpp"

#include <cuda_runtime_api.h>

#include <array>
#include <map>
#include <memory>

#include "device/cuda/check.hpp"
#include "device/cuda/nvml.hpp"
#include "device/numa_place.hpp"

namespace roofline {
namespace {

/// Where the driver hides which GPU a link leads to (some virtual machines), links that are up are taken to lead there.
/// Without NVML, native peer atomics indicate NVLink: PCIe does not support them.
bool by_nvlink(int from, int to, const Nvml* here, const Nvml* there) {
  if (here == nullptr || there == nullptr) {
    int atomics = 0;
    check(cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, from, to),
          "reading support for peer atomics");
    return atomics != 0;
  }
  if (const auto kind = here->nvlink_to(*there)) return *kind;
  if (const auto links = here->nvlinks_to(*there)) return *links > 0;
  const auto links = here->nvlinks();
  return links && links->links > 0;
}

}  // namespace

std::string pci_address(int device) {
  std::array<char, 32> address{};
  check(cudaDeviceGetPCIBusId(address.data(), static_cast<int>(address.size()), device), "reading the PCI address");
  return address.data();
}

bool reaches(int from, int to) {
  int reachable = 0;
  check(cudaDeviceCanAccessPeer(&reachable, from, to), "reading peer access");
  return reachable != 0;
}

void describe_cuda_topology(std::span<const int> devices, Node& node) {
  std::map<int, std::unique_ptr<Nvml>> nvml;
  for (const int device : devices) {
    const std::string address = pci_address(device);
    node.topology.places.push_back(place_of(device, address));
    nvml[device] = Nvml::open(address);
  }
  read_numa_nodes(node.topology);
  for (const int from : devices) {
    for (const int to : devices) {
      if (from == to) continue;
      Link link{.from = from, .to = to};
      const Nvml *here = nvml[from].get(), *there = nvml[to].get();
      if (!reaches(from, to)) {
        link.kind = LinkKind::none;
      } else if (by_nvlink(from, to, here, there)) {
        link.kind = LinkKind::nvlink;
      }
      if (here != nullptr && there != nullptr) {
        if (link.kind == LinkKind::nvlink) link.nvlinks = here->nvlinks_to(*there).value_or(0);
        link.across = here->shared_path(*there);
      }
      node.links.push_back(std::move(link));
    }
  }
}

}  // namespace roofline
