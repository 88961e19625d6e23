// What distance costs: the workers of one NUMA node read memory of their own node, and of another one.
#include <fmt/format.h>

#include <memory>
#include <vector>

#include "device/cpu/mapped_buffer.hpp"
#include "kernels/calibration/cpu/dram.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

/// Logical CPUs of the workers on each node.
std::vector<std::vector<int>> worker_cpus(const CpuDevice& cpu) {
  std::vector<std::vector<int>> nodes;
  for (const std::vector<int>& group : grouped(cpu.cpus(), cpu.topology().numa_nodes)) {
    std::vector<int>& cpus = nodes.emplace_back();
    for (const int worker : group) cpus.push_back(cpu.cpus()[static_cast<std::size_t>(worker)]);
  }
  return nodes;
}

std::optional<ProbeCase> make(bool remote, Device& device, const ProbeRequest& request, int variant) {
  if (variant > 0) return std::nullopt;
  CpuDevice& cpu = as_cpu(device);
  const std::vector<std::vector<int>> nodes = worker_cpus(cpu);
  const auto pool = std::make_shared<ThreadPool>(nodes[0]);
  const StreamPlan plan = dram_plan(cpu, pool->size(), request.scale);
  // Pages lie where they are touched first.
  ThreadPool owners(nodes[remote ? 1 : 0]);
  const auto memory = std::make_shared<MappedBuffer>(StreamSet::memory_bytes(plan, pool->size()), owners);
  return stream_case(std::make_shared<StreamSet>(pool, memory, plan), Level::dram,
                     fmt::format("{}, prefetched loads, {} threads on one node, memory on {}", to_string(plan.isa),
                                 pool->size(), remote ? "the next" : "the same"));
}

std::optional<std::string> unsupported(const Device& device) {
  const std::size_t nodes = worker_cpus(as_cpu(device)).size();
  if (nodes >= 2) return std::nullopt;
  return "the threads run on one NUMA node: there is no other to compare with";
}

Probe numa_probe(bool remote) {
  Probe probe;
  probe.name = remote ? "numa.remote" : "numa.local";
  probe.device = DeviceKind::cpu;
  probe.kind = CeilingKind::bandwidth;
  probe.level = Level::dram;
  probe.pattern = Pattern::read;
  probe.role = Role::reference;
  probe.unsupported = unsupported;
  probe.make = [remote](Device& device, const ProbeRequest& request, int variant) {
    return make(remote, device, request, variant);
  };
  return probe;
}

const ProbeRegistrar kRegistrar({numa_probe(false), numa_probe(true)});

}  // namespace
}  // namespace roofline
