// DRAM ceilings of the CPU: read, write, copy and triad over sets that exceed the last-level cache many times
// (memory_plan.cpp), with both kinds of stores, and update and accumulate in place, with regular ones. Bytes are
// compulsory ones: if a store first reads the line that it overwrites, that is a cost of the variant and not part of
// the work; in place that line is an input.
#include "kernels/calibration/cpu/dram.hpp"

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "device/cpu/mapped_buffer.hpp"
#include "kernels/calibration/cpu/memory_plan.hpp"
#include "kernels/calibration/probes.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

// 0.5 to 1 ms at 16 to 25 GB/s per thread: the barrier costs 2 us, and a second has a thousand samples.
constexpr double kDramLaunchBytes = 16.0 * (1 << 20);

struct DramVariant {
  LoadKind load = LoadKind::plain;
  StoreKind store = StoreKind::regular;
};

std::string name_of(Pattern pattern, const DramVariant& variant) {
  const char* load = variant.load == LoadKind::four_streams  ? "loads from four streams, prefetched"
                     : variant.load == LoadKind::two_streams ? "loads from two streams, prefetched"
                     : variant.load == LoadKind::prefetched  ? "prefetched loads"
                                                             : "plain loads";
  const char* store = variant.store == StoreKind::string         ? "string instructions"
                      : variant.store == StoreKind::non_temporal ? "non-temporal stores"
                                                                 : "regular stores";
  if (pattern == Pattern::read) return load;
  if (pattern == Pattern::write || variant.store == StoreKind::string) return store;
  return fmt::format("{}, {}", load, store);
}

/// Quick calibrations take the first two. Which of them is faster depends on the CPU: with software prefetches a Zen 4
/// reads 0.6 times as fast as without, an Emerald Rapids up to 1.25 times.
constexpr std::size_t kQuickVariants = 2;

std::vector<DramVariant> variants_of(Pattern pattern) {
  if (pattern == Pattern::read)
    return {{LoadKind::prefetched}, {LoadKind::plain}, {LoadKind::two_streams}, {LoadKind::four_streams}};
  if (pattern == Pattern::update) return {{LoadKind::prefetched}, {LoadKind::plain}, {LoadKind::two_streams}};
  if (pattern == Pattern::accumulate) return {{LoadKind::prefetched}, {LoadKind::plain}};  // has two streams already
#if defined(__x86_64__)
  if (pattern == Pattern::write) return {{.store = StoreKind::non_temporal}, {.store = StoreKind::string}};
  std::vector<DramVariant> variants = {{LoadKind::prefetched, StoreKind::non_temporal},
                                       {LoadKind::plain, StoreKind::non_temporal}};
  if (pattern == Pattern::copy) variants.push_back({.store = StoreKind::string});
  return variants;
#else
  // AArch64 cores detect writes of whole lines and do not read them; on some the non-temporal hint costs time.
  if (pattern == Pattern::write) return {{.store = StoreKind::non_temporal}, {}};
  return {{LoadKind::prefetched, StoreKind::non_temporal},
          {LoadKind::plain, StoreKind::non_temporal},
          {LoadKind::prefetched, StoreKind::regular},
          {}};
#endif
}

std::optional<DramVariant> variant_at(const std::vector<DramVariant>& variants, const ProbeRequest& request,
                                      int index) {
  const auto at = static_cast<std::size_t>(index);
  if (at >= variants.size() || (request.quick && at >= kQuickVariants)) return std::nullopt;
  return variants[at];
}

std::optional<ProbeCase> make(Pattern pattern, const std::vector<DramVariant>& variants, Device& device,
                              const ProbeRequest& request, int index) {
  const std::optional<DramVariant> variant = variant_at(variants, request, index);
  if (!variant) return std::nullopt;
  CpuDevice& cpu = as_cpu(device);
  const int threads = cpu.pool().size();
  StreamPlan plan = dram_plan(cpu, threads, pattern, request.scale);
  plan.load = variant->load;
  plan.store = variant->store;
  return stream_case(make_stream_set(cpu, plan), Level::dram,
                     fmt::format("{}, {}, {} threads", to_string(plan.isa), name_of(pattern, *variant), threads));
}

Probe dram_probe(Pattern pattern, std::vector<DramVariant> variants) {
  Probe probe = bandwidth_probe(DeviceKind::cpu, fmt::format("dram.{}", to_string(pattern)), Level::dram, pattern);
  probe.unsupported = [pattern](const Device& device) { return no_room_for_dram(as_cpu(device), pattern); };
  probe.make = [pattern, variants = std::move(variants)](Device& device, const ProbeRequest& request, int variant) {
    return make(pattern, variants, device, request, variant);
  };
  // No limit: without privileges a CPU does not report its memory channels and speed.
  return probe;
}

Probe roof(Pattern pattern) { return dram_probe(pattern, variants_of(pattern)); }

/// The copies with vectors on 4 KiB pages: the benefit of huge pages.
Probe small_pages() {
  Probe probe = dram_probe(Pattern::copy, {});
  probe.name += ".small_pages";
  probe.unsupported = [](const Device& device) -> std::optional<std::string> {
    if (!huge_pages_allowed()) return "no huge pages available: all ceilings were measured with small pages";
    return no_room_for_dram(as_cpu(device), Pattern::copy);
  };
  const std::vector<DramVariant> variants = {{LoadKind::prefetched, StoreKind::non_temporal},
                                             {LoadKind::plain, StoreKind::non_temporal}};
  probe.make = [variants](Device& device, const ProbeRequest& request, int index) -> std::optional<ProbeCase> {
    const std::optional<DramVariant> variant = variant_at(variants, request, index);
    if (!variant) return std::nullopt;
    CpuDevice& cpu = as_cpu(device);
    const int threads = cpu.pool().size();
    StreamPlan plan = dram_plan(cpu, threads, Pattern::copy, request.scale);
    plan.load = variant->load;
    plan.store = variant->store;
    const std::shared_ptr<ThreadPool> pool(std::shared_ptr<void>(), &cpu.pool());
    const auto memory =
        std::make_shared<MappedBuffer>(StreamSet::memory_bytes(plan, threads), cpu.pool(), Pages::small);
    return stream_case(
        std::make_shared<StreamSet>(pool, memory, plan), Level::dram,
        fmt::format("{}, {}, {} threads, small pages", to_string(plan.isa), name_of(Pattern::copy, *variant), threads));
  };
  return probe;
}

/// What one thread reaches alone. Regular stores too, which one core may do faster than non-temporal ones.
Probe one_core(Pattern pattern) {
  std::vector<DramVariant> variants;
  for (const StoreKind store : {StoreKind::non_temporal, StoreKind::regular}) {
    if (is_in_place(pattern) && store == StoreKind::non_temporal) continue;
    if (pattern == Pattern::read && store == StoreKind::regular) continue;
    variants.push_back({LoadKind::prefetched, store});
    if (pattern != Pattern::write) variants.push_back({LoadKind::plain, store});
  }
  Probe probe = dram_probe(pattern, {});
  probe.name += kOneCore;
  probe.unsupported = [pattern](const Device& device) -> std::optional<std::string> {
    if (device.info().units == 1) return "single thread: the roof is already that of one core";
    return no_room_for_dram(as_cpu(device), pattern);
  };
  probe.make = [pattern, variants](Device& device, const ProbeRequest& request, int index) -> std::optional<ProbeCase> {
    const std::optional<DramVariant> variant = variant_at(variants, request, index);
    if (!variant) return std::nullopt;
    CpuDevice& cpu = as_cpu(device);
    StreamPlan plan = dram_plan(cpu, 1, pattern, request.scale);
    plan.load = variant->load;
    plan.store = variant->store;
    ProbeCase made = stream_case(make_stream_set(cpu, plan, 1), Level::dram,
                                 fmt::format("{}, {}, one core", to_string(plan.isa), name_of(pattern, *variant)));
    made.below_peak = "one core";
    return made;
  };
  return probe;
}

std::vector<Probe> references() {
  std::vector<Probe> probes;
  for (const Pattern pattern :
       {Pattern::read, Pattern::write, Pattern::copy, Pattern::triad, Pattern::update, Pattern::accumulate}) {
    probes.push_back(one_core(pattern));
  }
  for (const Pattern pattern : {Pattern::write, Pattern::copy}) {
    probes.push_back(dram_probe(pattern, {{LoadKind::plain, StoreKind::regular}}));
    probes.back().name += ".regular";
    probes.push_back(dram_probe(pattern, {{LoadKind::plain, StoreKind::non_temporal}}));
    probes.back().name += ".non_temporal";
  }
  probes.push_back(small_pages());
  for (Probe& probe : probes) probe.role = Role::reference;
  return probes;
}

const ProbeRegistrar kRoofs({roof(Pattern::read), roof(Pattern::write), roof(Pattern::copy), roof(Pattern::triad),
                             roof(Pattern::update), roof(Pattern::accumulate)});
const ProbeRegistrar kReferences(references());

}  // namespace

StreamPlan dram_plan(CpuDevice& cpu, int threads, Pattern pattern, double scale) {
  StreamPlan plan;
  plan.pattern = pattern;
  plan.isa = cpu.isa();
  plan.load = LoadKind::prefetched;
  plan.set_bytes = plan_dram(planned_machine(cpu), threads, pattern).bytes / threads;
  plan.launch_bytes = kDramLaunchBytes;
  plan.chunks = kStreamChunks;
  plan.scale = whole_scale(scale);
  return plan;
}

std::optional<std::string> no_room_for_dram(const CpuDevice& cpu, Pattern pattern) {
  const DramPlan planned = plan_dram(planned_machine(cpu), static_cast<int>(cpu.cpus().size()), pattern);
  return planned.refusal.empty() ? std::nullopt : std::optional(planned.refusal);
}

}  // namespace roofline
