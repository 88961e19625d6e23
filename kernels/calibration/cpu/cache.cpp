// Cache ceilings of the CPU: every worker repeatedly reads, writes, copies, runs a triad, or updates or accumulates in
// place over its own set, which fits in the level and not in the level before it.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "device/cpu/cpu_device.hpp"
#include "kernels/calibration/cpu/memory_plan.hpp"
#include "kernels/calibration/cpu/stream_set.hpp"
#include "kernels/calibration/probes.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

// Bytes per worker and launch: 0.2 ms from L1, 0.4 ms from L3.
constexpr double kLaunchBytes = 64 * kMebibyte;
constexpr double kLaunchBytesL3 = 16 * kMebibyte;

/// One round of all sets if they are read in turn, without a barrier in between: workers at equal speed access each
/// line at the same distance and never share it.
double launch_bytes(const CpuDevice& cpu, Level level, bool in_turn, double set_bytes) {
  constexpr std::int64_t kMostPasses = 16;
  if (level != Level::l3) return kLaunchBytes;
  if (!in_turn) return kLaunchBytesL3;
  return set_bytes * static_cast<double>(std::clamp<std::int64_t>(cpu.info().units, 8, kMostPasses));
}

struct Variant {
  bool in_turn = false;
  const SveKernels* sve = nullptr;
};

/// Every worker reads its own set, and L3 is also read in turn where that is not necessary: a non-inclusive L3
/// (Intel since 2017) moves a line to the only core that uses it and back later, but keeps a line that several
/// cores use. 524 instead of 450 GB/s on 16 cores of an Emerald Rapids. Wide registers come first where there is
/// SVE, because they load at least as fast.
std::vector<Variant> variants_of(const CachePlan& planned, bool quick) {
  std::vector<Variant> variants;
  if (planned.own) variants.push_back({.in_turn = false, .sve = sve_kernels()});
  if (planned.in_turn && !(quick && planned.own)) variants.push_back({.in_turn = true, .sve = sve_kernels()});
  if (sve_kernels() != nullptr && !quick) {
    for (const Variant wide : std::vector(variants)) variants.push_back({.in_turn = wide.in_turn});
  }
  return variants;
}

std::optional<ProbeCase> make(Level level, Pattern pattern, Device& device, const ProbeRequest& request, int index) {
  CpuDevice& cpu = as_cpu(device);
  const CachePlan planned = plan_cache(planned_machine(cpu), level, pattern);
  const std::vector<Variant> variants = variants_of(planned, request.quick);
  if (index >= static_cast<int>(variants.size())) return std::nullopt;
  const auto [in_turn, sve] = variants[static_cast<std::size_t>(index)];
  const int threads = cpu.pool().size();
  StreamPlan plan;
  plan.pattern = pattern;
  plan.isa = cpu.isa();
  plan.sve = sve;
  plan.set_bytes = planned.set_bytes;
  plan.launch_bytes = launch_bytes(cpu, level, in_turn, plan.set_bytes);
  plan.chunks = kStreamChunks;
  plan.scale = whole_scale(request.scale);
  if (in_turn) plan.rotate_within = planned.groups;
  const std::shared_ptr<StreamSet> set = make_stream_set(cpu, plan);
  const double kib = set->working_set_bytes() / threads / 1024;
  ProbeCase probe = stream_case(set, level,
                                fmt::format("{}, {:.0f} KiB per thread{}, {} threads", registers_of(plan), kib,
                                            in_turn ? " in turn" : "", threads));
  if (in_turn && !planned.own) probe.nearer_cache_bytes = planned.nearer_bytes;
  return probe;
}

/// The caches as one thread alone has them.
CachePlan plan_one_core(const CpuDevice& cpu, Level level, Pattern pattern) {
  const std::vector<int> first = {cpu.cpus().front()};
  return plan_cache({.topology = cpu.topology(), .cpus = first, .free_memory_bytes = cpu.free_memory_at_opening()},
                    level, pattern);
}

std::optional<ProbeCase> make_one_core(Level level, Pattern pattern, Device& device, const ProbeRequest& request,
                                       int index) {
  if (index > 0) return std::nullopt;
  CpuDevice& cpu = as_cpu(device);
  StreamPlan plan;
  plan.pattern = pattern;
  plan.isa = cpu.isa();
  plan.sve = sve_kernels();
  plan.set_bytes = plan_one_core(cpu, level, pattern).set_bytes;
  plan.launch_bytes = launch_bytes(cpu, level, false, plan.set_bytes);
  plan.chunks = kStreamChunks;
  plan.scale = whole_scale(request.scale);
  const std::shared_ptr<StreamSet> set = make_stream_set(cpu, plan, 1);
  ProbeCase probe = stream_case(
      set, level, fmt::format("{}, {:.0f} KiB, one core", registers_of(plan), set->working_set_bytes() / 1024));
  probe.below_peak = "one core";
  DeviceInfo core;
  core.caches = caches_under(cpu.topology(), {cpu.cpus().front()});
  probe.nearer_cache_bytes = nearer_cache_bytes(core, level);
  return probe;
}

std::optional<std::string> one_core_unsupported(const Device& device, Level level, Pattern pattern) {
  if (device.info().units == 1) return "single thread: the roof is already that of one core";
  const CachePlan planned = plan_one_core(as_cpu(device), level, pattern);
  return planned.refusal.empty() ? std::nullopt : std::optional(planned.refusal);
}

std::optional<std::string> unsupported(const Device& device, Level level, Pattern pattern) {
  const CachePlan planned = plan_cache(planned_machine(as_cpu(device)), level, pattern);
  return planned.refusal.empty() ? std::nullopt : std::optional(planned.refusal);
}

std::vector<Probe> cache_probes() {
  std::vector<Probe> probes;
  for (const Level level : {Level::l3, Level::l2, Level::l1}) {
    for (const Pattern pattern :
         {Pattern::read, Pattern::write, Pattern::copy, Pattern::triad, Pattern::update, Pattern::accumulate}) {
      const std::string name = fmt::format("{}.{}", to_string(level), to_string(pattern));
      Probe& probe = probes.emplace_back(bandwidth_probe(DeviceKind::cpu, name, level, pattern));
      probe.unsupported = [=](const Device& device) { return unsupported(device, level, pattern); };
      probe.make = [=](Device& device, const ProbeRequest& request, int variant) {
        return make(level, pattern, device, request, variant);
      };
      // No limit: no CPU register gives the loads per cycle or the width of the L2.
    }
    for (const Pattern pattern : {Pattern::read, Pattern::copy, Pattern::triad, Pattern::update, Pattern::accumulate}) {
      const std::string name = fmt::format("{}.{}{}", to_string(level), to_string(pattern), kOneCore);
      Probe& probe = probes.emplace_back(bandwidth_probe(DeviceKind::cpu, name, level, pattern));
      probe.role = Role::reference;
      probe.unsupported = [=](const Device& device) { return one_core_unsupported(device, level, pattern); };
      probe.make = [=](Device& device, const ProbeRequest& request, int variant) {
        return make_one_core(level, pattern, device, request, variant);
      };
    }
  }
  return probes;
}

const ProbeRegistrar kRegistrar(cache_probes());

}  // namespace
}  // namespace roofline
