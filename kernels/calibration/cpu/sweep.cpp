// Two curves of the CPU: read bandwidth over working-set size, which shows the levels of the memory hierarchy and
// their effective sizes, and DRAM read bandwidth over the number of threads, which saturates.
#include <fmt/format.h>

#include <memory>
#include <vector>

#include "kernels/calibration/cpu/dram.hpp"
#include "kernels/calibration/cpu/memory_plan.hpp"
#include "kernels/calibration/probes.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

/// Sets beyond L2 are read with prefetches, as DRAM is; in nearer levels prefetches would only cost instructions.
std::optional<ProbeCase> make_sweep(Device& device, const ProbeRequest& request, int index) {
  CpuDevice& cpu = as_cpu(device);
  const std::vector<double> points = plan_sweep(planned_machine(cpu));
  if (index >= static_cast<int>(points.size())) return std::nullopt;
  const double bytes = points[static_cast<std::size_t>(index)];
  const int threads = cpu.pool().size();
  const bool near = bytes <= 2 * cache_bytes(cpu.info(), Level::l2);
  StreamPlan plan;
  plan.isa = cpu.isa();
  plan.sve = near ? sve_kernels() : nullptr;
  plan.load = near ? LoadKind::plain : LoadKind::prefetched;
  if (index == 0) {
    // All memory at once: where it grew with the sets, a virtual machine's new pages took a dozen seconds.
    plan.set_bytes = points.back() / threads;
    static_cast<void>(cpu.scratch(StreamSet::memory_bytes(plan, threads)));
  }
  plan.set_bytes = bytes / threads;
  plan.launch_bytes = near ? 64 * kMebibyte : 16 * kMebibyte;
  plan.chunks = kStreamChunks;
  plan.scale = whole_scale(request.scale);
  const std::shared_ptr<StreamSet> set = make_stream_set(cpu, plan);
  ProbeCase probe = stream_case(
      set, Level::dram, fmt::format("{}, plain loads, prefetched beyond L2, {} threads", registers_of(plan), threads));
  probe.x = set->working_set_bytes();
  return probe;
}

/// 1, 2, 4, … and all.
std::optional<int> threads_of_point(int all, int index) {
  if (index > 30) return std::nullopt;
  const int threads = 1 << index;
  if (threads < all) return threads;
  if (threads < 2 * all) return all;
  return std::nullopt;
}

std::optional<ProbeCase> make_scaling(Device& device, const ProbeRequest& request, int index) {
  CpuDevice& cpu = as_cpu(device);
  const std::optional<int> threads = threads_of_point(cpu.pool().size(), index);
  if (!threads) return std::nullopt;
  const StreamPlan plan = dram_plan(cpu, *threads, Pattern::read, request.scale);
  ProbeCase probe = stream_case(make_stream_set(cpu, plan, *threads), Level::dram,
                                fmt::format("{}, prefetched loads, the first cores", to_string(plan.isa)));
  probe.x = *threads;
  return probe;
}

Probe sweep_probe() {
  Probe probe = bandwidth_probe(DeviceKind::cpu, "sweep.read", std::nullopt, Pattern::read);
  probe.sweep = SweepAxis::working_set;
  probe.comes_first = [](const Device& device) { return needs_measured_caches(planned_machine(as_cpu(device))); };
  probe.make = make_sweep;
  return probe;
}

Probe scaling_probe() {
  Probe probe = bandwidth_probe(DeviceKind::cpu, "scaling.dram.read", Level::dram, Pattern::read);
  probe.sweep = SweepAxis::threads;
  probe.unsupported = [](const Device& device) { return no_room_for_dram(as_cpu(device), Pattern::read); };
  probe.make = make_scaling;
  return probe;
}

const ProbeRegistrar kRegistrar({sweep_probe(), scaling_probe()});

}  // namespace
}  // namespace roofline
