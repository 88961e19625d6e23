// The cache ceilings of the CPU: every worker reads, writes, copies or adds up a set of its own, which fits the level
// and not the one before it, over and over.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "device/cpu/cpu_device.hpp"
#include "kernels/calibration/cpu/stream_set.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

constexpr double kMiB = 1 << 20;
// What a worker moves in one launch: 0.2 ms from L1, 0.4 ms from L3.
constexpr double kLaunchBytes = 64 * kMiB;
constexpr double kLaunchBytesL3 = 16 * kMiB;
// A set that is this many times the caches before it finds next to nothing there.
constexpr double kPast = 4;
// Of a level: stacks, page tables and, in an L3, other tenants take some of it.
constexpr double kMost = 0.75;

struct CacheBytes {
  double one = 0;  // of one instance
  double all = 0;  // of all in use
};

CacheBytes bytes_of(const Device& device, Level level) {
  for (const CacheInfo& cache : device.info().caches) {
    if (cache.level == level) return {cache.bytes, cache.bytes * static_cast<double>(cache.instances)};
  }
  return {};
}

/// The level before, which the sets must not fit into; L1 has none.
CacheBytes nearer_than(const Device& device, Level level) {
  if (level == Level::l1) return {};
  return bytes_of(device, level == Level::l3 ? Level::l2 : Level::l1);
}

/// Bytes of all sets together: half of the level, but of an L3 as little as misses the L2s, as others in the same
/// machine fill the rest (68 GB/s at 16 MiB and 60 at 130 MiB of a 260 MiB L3 on a 2-core virtual machine).
double working_set(const Device& device, Level level) {
  const double all = bytes_of(device, level).all;
  const double past = kPast * nearer_than(device, level).all;
  return std::min(level == Level::l3 ? past : std::max(past, 0.5 * all), kMost * all);
}

/// Of one worker's set: whole grains of each of its arrays. Upwards where there is a cache before, or the sets would be
/// smaller than what misses it.
double set_bytes(CpuDevice& cpu, Level level, Pattern pattern) {
  const double bytes = working_set(cpu, level) / static_cast<double>(cpu.pool().size());
  const auto grain = static_cast<double>(arrays_of(pattern) * kStreamGrain);
  return nearer_than(cpu, level).all > 0 ? std::ceil(bytes / grain) * grain : bytes;
}

/// Whether sets of that size in all are clear of the caches before the level: four times as large as those together.
bool clear_of_nearer(const Device& device, Level level) {
  return working_set(device, level) >= kPast * nearer_than(device, level).all;
}

/// Servers whose L3 is hardly larger than all L2s together can still be read from: workers change sets after every
/// pass, so that each goes through all of them and finds none in its own L2. Half as much again as all L2s is enough
/// for most of a set to have left the others' too.
bool readable_in_turn(const Device& device, Level level, Pattern pattern) {
  constexpr double kPastOthers = 1.5;
  return level == Level::l3 && pattern == Pattern::read && device.info().units > 1 &&
         working_set(device, level) >= kPastOthers * nearer_than(device, level).all;
}

std::optional<std::string> unsupported(const Device& device, Level level, Pattern pattern) {
  const CacheBytes own = bytes_of(device, level);
  const std::string name(to_string(level));
  if (own.all == 0) return "this CPU reports no " + name + " cache";
  if (clear_of_nearer(device, level) || readable_in_turn(device, level, pattern)) return std::nullopt;
  const double nearer = nearer_than(device, level).all;
  return fmt::format("sets of {:g} x the caches before it ({:.1f} MiB) don't fit {} of {:.1f} MiB", kPast,
                     nearer / kMiB, name, own.all / kMiB);
}

/// Every worker with a set of its own, and L3 reads in turn even where they need not be: an L3 that is no copy of the
/// L2s (Intel's since 2017) gives a line away to the one core that uses it and takes it back later, but keeps a line
/// that several use. 524 instead of 450 GB/s on 16 cores of an Emerald Rapids.
std::vector<bool> in_turn_variants(const Device& device, Level level, Pattern pattern, bool quick) {
  std::vector<bool> in_turn;
  if (clear_of_nearer(device, level)) in_turn.push_back(false);
  if (readable_in_turn(device, level, pattern)) in_turn.push_back(true);
  if (quick) in_turn.resize(1);
  return in_turn;
}

/// A round of all sets where they are read in turn, without a barrier in between: workers who keep pace would meet
/// each line at the same distance, and never share it.
double launch_bytes(const CpuDevice& cpu, Level level, bool in_turn, double set_bytes) {
  constexpr std::int64_t kMostPasses = 16;
  if (level != Level::l3) return kLaunchBytes;
  if (!in_turn) return kLaunchBytesL3;
  return set_bytes * static_cast<double>(std::clamp<std::int64_t>(cpu.info().units, 8, kMostPasses));
}

std::optional<ProbeCase> make(Level level, Pattern pattern, Device& device, const ProbeRequest& request, int index) {
  CpuDevice& cpu = as_cpu(device);
  const std::vector<bool> variants = in_turn_variants(cpu, level, pattern, request.quick);
  if (index >= static_cast<int>(variants.size())) return std::nullopt;
  const bool in_turn = variants[static_cast<std::size_t>(index)];
  const int threads = cpu.pool().size();
  StreamPlan plan;
  plan.pattern = pattern;
  plan.isa = cpu.isa();
  plan.set_bytes = set_bytes(cpu, level, pattern);
  plan.launch_bytes = launch_bytes(cpu, level, in_turn, plan.set_bytes);
  plan.scale = whole_scale(request.scale);
  if (in_turn) plan.rotate_within = grouped(cpu.cpus(), sets_of(cpu.topology(), level));
  const std::shared_ptr<StreamSet> set = make_stream_set(cpu, plan);
  const double kib = set->working_set_bytes() / threads / 1024;
  ProbeCase probe = stream_case(set, level,
                                fmt::format("{}, {:.0f} KiB a thread{}, {} threads", to_string(plan.isa), kib,
                                            in_turn ? " in turn" : "", threads));
  if (in_turn && !clear_of_nearer(cpu, level)) probe.nearer_cache_bytes = nearer_than(cpu, level).one;
  return probe;
}

std::vector<Probe> cache_probes() {
  std::vector<Probe> probes;
  for (const Level level : {Level::l3, Level::l2, Level::l1}) {
    for (const Pattern pattern : {Pattern::read, Pattern::write, Pattern::copy, Pattern::triad}) {
      Probe& probe = probes.emplace_back();
      probe.name = fmt::format("{}.{}", to_string(level), to_string(pattern));
      probe.device = DeviceKind::cpu;
      probe.kind = CeilingKind::bandwidth;
      probe.level = level;
      probe.pattern = pattern;
      probe.unsupported = [=](const Device& device) { return unsupported(device, level, pattern); };
      probe.make = [=](Device& device, const ProbeRequest& request, int variant) {
        return make(level, pattern, device, request, variant);
      };
      // No limit: the loads that a core starts in a cycle and the width of its L2 are in no register of the CPU.
    }
  }
  return probes;
}

const ProbeRegistrar kRegistrar(cache_probes());

}  // namespace
}  // namespace roofline
