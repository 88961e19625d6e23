// Nodes of any number of devices that nobody has at hand: as measured where nothing is wrong, for tests to spoil.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "model/node.hpp"

namespace roofline {

inline Ceiling fake_ceiling(std::string name, CeilingKind kind, double value) {
  Ceiling ceiling;
  ceiling.name = std::move(name);
  ceiling.kind = kind;
  ceiling.value = value;
  ceiling.ci95 = {value * 0.999, value * 1.001};
  ceiling.origin = "probe";
  ceiling.variant = "as fast as it goes";
  ceiling.amount = 1e9;
  ceiling.samples = 64;
  ceiling.stop = "converged";
  ceiling.audit.checks = {{"result", CheckStatus::pass, ""}};
  if (kind == CeilingKind::bandwidth) ceiling.level = Level::hbm, ceiling.pattern = Pattern::read;
  if (kind == CeilingKind::latency) ceiling.level = Level::nvlink, ceiling.role = Role::reference;
  if (kind == CeilingKind::compute) ceiling.pipe = Pipe::tensor_bf16;
  return ceiling;
}

inline Machine fake_gpu(int index) {
  // Devices differ by some tenths of a per cent.
  const double own = 1 + 0.002 * std::sin(7.0 * index);
  Machine machine;
  machine.device.kind = DeviceKind::cuda;
  machine.device.index = index;
  machine.device.name = "NVIDIA H200";
  machine.device.identity = fmt::format("cuda-nvidia-h200-{:08x}", 0xabc0 + index);
  machine.device.units = 132;
  machine.device.memory_bytes = 150e9;
  machine.device.isa = "sm_90";
  machine.device.driver = "580.1";
  machine.device.attributes = {{"UUID", fmt::format("GPU-{:08x}-0000", 0xabc0 + index)}, {"host name", "node017"}};
  machine.measured_at = "2026-01-15T09:32:10Z";
  machine.tool_version = "0.2.0";
  machine.host = "Linux";
  machine.ceilings = {fake_ceiling("tensor.bf16", CeilingKind::compute, 800e12 * own),
                      fake_ceiling("hbm.read", CeilingKind::bandwidth, 4.67e12 * own)};
  return machine;
}

inline SharedCeiling fake_shared(int device, std::string name, CeilingKind kind, double alone, double ratio) {
  SharedCeiling shared;
  shared.device = device;
  shared.name = std::move(name);
  shared.kind = kind;
  shared.variant = "as fast as it goes";
  shared.alone = {.value = alone,
                  .ci95 = {alone * 0.999, alone * 1.001},
                  .core_hz = 1.98e9,
                  .watts = 400,
                  .temperature_c = 40,
                  .limiter = ""};
  shared.together = shared.alone;
  shared.together.value = alone * ratio;
  shared.together.ci95 = {alone * ratio * 0.999, alone * ratio * 1.001};
  return shared;
}

/// GPUs linked by NVSwitch: reads and writes of 390 GB/s each, as many NVLinks as an H200 has.
inline Node fake_node(int devices) {
  Node node;
  node.host_name = "node017";
  node.host = "Linux";
  node.measured_at = "2026-01-15T09:40:00Z";
  node.tool_version = "0.2.0";
  for (int i = 0; i < devices; ++i) {
    node.machines.push_back(fake_gpu(i));
    node.topology.places.push_back({.device = i,
                                    .pci_address = fmt::format("0000:{:02x}:00.0", 0x18 + i),
                                    .numa_node = i < devices / 2 ? 0 : 1,
                                    .cpus = "0-31"});
  }
  node.topology.numa_nodes = {0, 1};
  node.topology.numa_distances = {{10, 21}, {21, 10}};
  for (const char* name : {"hbm.read", "tensor.bf16"}) {
    for (int i = 0; i < devices; ++i) {
      const bool memory = std::string(name) == "hbm.read";
      node.together.push_back(fake_shared(i, name, memory ? CeilingKind::bandwidth : CeilingKind::compute,
                                          memory ? 4.67e12 : 800e12, 1 - 0.002 * (i % 3)));
    }
  }
  for (int from = 0; from < devices; ++from) {
    for (int to = 0; to < devices; ++to) {
      if (from == to) continue;
      const double own = 1 + 0.004 * std::sin(3.0 * from + 5.0 * to);
      Link link{.from = from, .to = to, .kind = LinkKind::nvlink, .nvlinks = 18};
      for (const char* name : {"link.read", "link.write"})
        link.ceilings.push_back(fake_ceiling(name, CeilingKind::bandwidth, 390e9 * own));
      link.ceilings.push_back(fake_ceiling("link.both", CeilingKind::bandwidth, 770e9 * own));
      link.ceilings.push_back(fake_ceiling("link.latency", CeilingKind::latency, 1 / (680e-9 * own)));
      node.links.push_back(std::move(link));
    }
  }
  return node;
}

/// Of `node`, to be spoiled.
inline Link& link_between(Node& node, int from, int to) { return *const_cast<Link*>(node.link(from, to)); }
inline void slow_down(Link& link, double factor) {
  for (Ceiling& ceiling : link.ceilings) {
    ceiling.value *= factor;
    ceiling.ci95 = {ceiling.value * 0.999, ceiling.value * 1.001};
  }
}

}  // namespace roofline
