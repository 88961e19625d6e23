// NUMA distance: the workers of one node read memory of their own node, and of another one.
#include <fmt/format.h>

#include <memory>

#include "device/cpu/mapped_buffer.hpp"
#include "kernels/calibration/cpu/dram.hpp"
#include "kernels/calibration/cpu/memory_plan.hpp"
#include "kernels/calibration/probes.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

std::optional<ProbeCase> make(bool remote, Device& device, const ProbeRequest& request, int variant) {
  if (variant > 0) return std::nullopt;
  CpuDevice& cpu = as_cpu(device);
  const NumaPlan nodes = plan_numa(planned_machine(cpu));
  const auto pool = std::make_shared<ThreadPool>(nodes.local);
  StreamPlan plan = dram_plan(cpu, pool->size(), Pattern::read, request.scale);
  plan.set_bytes = nodes.bytes / pool->size();
  // Pages are placed on the node that touches them first.
  ThreadPool owners(remote ? nodes.remote : nodes.local);
  const auto memory = std::make_shared<MappedBuffer>(StreamSet::memory_bytes(plan, pool->size()), owners);
  return stream_case(std::make_shared<StreamSet>(pool, memory, plan), Level::dram,
                     fmt::format("{}, prefetched loads, {} threads on one node, memory on {} node", to_string(plan.isa),
                                 pool->size(), remote ? "the next" : "the same"));
}

std::optional<std::string> numa_unsupported(const Device& device) {
  const NumaPlan nodes = plan_numa(planned_machine(as_cpu(device)));
  if (!nodes.refusal.empty()) return nodes.refusal;
  return no_room_for_dram(as_cpu(device), Pattern::read);
}

Probe numa_probe(bool remote) {
  Probe probe = bandwidth_probe(DeviceKind::cpu, remote ? "numa.remote" : "numa.local", Level::dram, Pattern::read);
  probe.role = Role::reference;
  probe.unsupported = numa_unsupported;
  probe.make = [remote](Device& device, const ProbeRequest& request, int variant) {
    return make(remote, device, request, variant);
  };
  return probe;
}

const ProbeRegistrar kRegistrar({numa_probe(false), numa_probe(true)});

}  // namespace
}  // namespace roofline
