// Two curves of the CPU: read bandwidth against the working set, which shows the levels of the memory hierarchy and
// how large they are in practice, and DRAM read bandwidth against the number of threads, which saturates.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "device/cpu/mapped_buffer.hpp"
#include "kernels/calibration/cpu/dram.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

constexpr double kKiB = 1 << 10;
constexpr double kMiB = 1 << 20;
constexpr double kPointsPerOctave = 2;

double cache_bytes(const Device& device, Level level) {
  double bytes = 0;
  for (const CacheInfo& cache : device.info().caches) {
    if (cache.level == level) bytes = cache.bytes * static_cast<double>(cache.instances);
  }
  return bytes;
}

/// From 8 KiB a thread, well inside any L1, to four times the last-level cache.
std::optional<double> point_of_sweep(CpuDevice& cpu, int index) {
  const double first = std::max(16 * kKiB, 8 * kKiB * cpu.pool().size());
  const double most = std::max(4 * cpu.last_level_cache_bytes(), 512 * kMiB);
  const double last = std::min(most, cpu.free_memory_bytes() / 2);
  const int points = 1 + static_cast<int>(std::ceil(kPointsPerOctave * std::log2(last / first)));
  if (index >= points) return std::nullopt;
  return std::min(last, first * std::exp2(index / kPointsPerOctave));
}

/// Sets beyond L2 are read as DRAM is: with prefetches, which would only cost instructions where lines are near.
std::optional<ProbeCase> make_sweep(Device& device, const ProbeRequest& request, int index) {
  CpuDevice& cpu = as_cpu(device);
  const std::optional<double> bytes = point_of_sweep(cpu, index);
  if (!bytes) return std::nullopt;
  const int threads = cpu.pool().size();
  const bool near = *bytes <= 2 * cache_bytes(cpu, Level::l2);
  StreamPlan plan;
  plan.isa = cpu.isa();
  plan.load = near ? LoadKind::plain : LoadKind::prefetched;
  plan.set_bytes = *bytes / threads;
  plan.launch_bytes = near ? 64 * kMiB : 16 * kMiB;
  plan.scale = whole_scale(request.scale);
  const std::shared_ptr<StreamSet> set = make_stream_set(cpu, plan);
  ProbeCase probe =
      stream_case(set, Level::dram,
                  fmt::format("{}, plain loads, prefetched beyond L2, {} threads", to_string(cpu.isa()), threads));
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

/// With a pool of their own, so that workers who have nothing to do don't spin beside the others.
std::optional<ProbeCase> make_scaling(Device& device, const ProbeRequest& request, int index) {
  CpuDevice& cpu = as_cpu(device);
  const std::optional<int> threads = threads_of_point(cpu.pool().size(), index);
  if (!threads) return std::nullopt;
  const std::vector<int>& cpus = cpu.cpus();
  const auto pool = std::make_shared<ThreadPool>(std::vector<int>(cpus.begin(), cpus.begin() + *threads));
  const StreamPlan plan = dram_plan(cpu, *threads, request.scale);
  const std::size_t bytes = StreamSet::memory_bytes(plan, *threads);
  // On one node it does not matter who touched a page first; on several, those must who read it.
  const bool one_node = cpu.topology().numa_nodes.size() <= 1;
  const std::shared_ptr<Buffer> memory = one_node ? cpu.scratch(bytes) : std::make_shared<MappedBuffer>(bytes, *pool);
  ProbeCase probe = stream_case(std::make_shared<StreamSet>(pool, memory, plan), Level::dram,
                                fmt::format("{}, prefetched loads, the first cores", to_string(plan.isa)));
  probe.x = *threads;
  return probe;
}

Probe sweep_probe() {
  Probe probe;
  probe.name = "sweep.read";
  probe.device = DeviceKind::cpu;
  probe.kind = CeilingKind::bandwidth;
  probe.pattern = Pattern::read;
  probe.sweep = SweepAxis::working_set;
  probe.make = make_sweep;
  return probe;
}

Probe scaling_probe() {
  Probe probe;
  probe.name = "scaling.dram.read";
  probe.device = DeviceKind::cpu;
  probe.kind = CeilingKind::bandwidth;
  probe.level = Level::dram;
  probe.pattern = Pattern::read;
  probe.sweep = SweepAxis::threads;
  probe.make = make_scaling;
  return probe;
}

const ProbeRegistrar kRegistrar({sweep_probe(), scaling_probe()});

}  // namespace
}  // namespace roofline
