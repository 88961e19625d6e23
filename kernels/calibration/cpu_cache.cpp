// The cache ceilings of the CPU: every worker reads a set of its own, which fits the level and not the one
// before it, over and over within one launch.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "device/cpu/cpu_device.hpp"
#include "kernels/calibration/cpu_stream.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

constexpr std::int64_t kGrain = 4096;
// What a worker reads in one launch: 0.3 ms from L1, 1 to 2 ms from L3.
constexpr double kBytesPerLaunch = 64.0 * (1 << 20);
constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15ULL;

struct CacheShare {
  double total = 0;       // bytes of all instances in use
  double per_worker = 0;  // of which each worker's share
};

CacheShare share_of_cache(const Device& device, Level level) {
  CacheShare share;
  const DeviceInfo& info = device.info();
  for (const CacheInfo& cache : info.caches) {
    if (cache.level == level) share.total = cache.bytes * static_cast<double>(cache.instances);
  }
  share.per_worker = share.total / static_cast<double>(std::max<std::int64_t>(1, info.units));
  return share;
}

/// The level before, which the set must not fit into; L1 has none.
double nearer_cache_per_worker(const Device& device, Level level) {
  if (level == Level::l1) return 0;
  return share_of_cache(device, level == Level::l3 ? Level::l2 : Level::l1).per_worker;
}

/// Bytes of one worker's set: `part` of its share of the level, but twice the level before it at least.
double set_bytes(const Device& device, Level level, double part) {
  const double wanted =
      std::max(part * share_of_cache(device, level).per_worker, 2 * nearer_cache_per_worker(device, level));
  return std::max(1.0, std::floor(wanted / kGrain)) * kGrain;
}

std::optional<std::string> unsupported(const Device& device, Level level) {
  const CacheShare share = share_of_cache(device, level);
  const std::string name(to_string(level));
  if (share.total == 0) return "this CPU reports no " + name + " cache";
  const double set = set_bytes(device, level, 0.5);
  if (set <= 0.75 * share.per_worker) return std::nullopt;
  return fmt::format(
      "a set that misses the cache before it ({:.0f} KiB) takes more than 3/4 of a thread's share of {} ({:.0f} KiB)",
      set / 1024, name, share.per_worker / 1024);
}

struct Sets {
  std::int64_t bytes = 0;  // of one worker's set
  std::int64_t passes = 0;
  std::unique_ptr<Buffer> buffer;
  struct alignas(64) Sum {
    std::uint64_t value = 0;
  };
  std::vector<Sum> sums;  // one a worker, of the last run
};

std::shared_ptr<Sets> make_sets(CpuDevice& cpu, std::int64_t bytes, double scale) {
  auto sets = std::make_shared<Sets>();
  ThreadPool& pool = cpu.pool();
  sets->bytes = bytes;
  sets->passes = std::max<std::int64_t>(1, std::llround(kBytesPerLaunch / static_cast<double>(bytes))) *
                 std::max<std::int64_t>(1, std::llround(scale));
  sets->buffer = cpu.allocate(static_cast<std::size_t>(bytes * pool.size()));
  sets->sums.resize(static_cast<std::size_t>(pool.size()));
  auto* words = static_cast<std::uint64_t*>(sets->buffer->data());
  pool.run([&](int worker) {
    const std::int64_t count = bytes / 8;
    for (std::int64_t i = 0; i < count; ++i) words[worker * count + i] = static_cast<std::uint64_t>(i + worker) * kOdd;
  });
  return sets;
}

std::optional<std::string> check(const Sets& sets) {
  const auto words = static_cast<std::uint64_t>(sets.bytes / 8);
  for (std::size_t worker = 0; worker < sets.sums.size(); ++worker) {
    const std::uint64_t once = kOdd * (words / 2 * (words - 1) + words * worker);
    const std::uint64_t expected = once * static_cast<std::uint64_t>(sets.passes);
    if (sets.sums[worker].value == expected) continue;
    return fmt::format("thread {}: sum {:#x} instead of {:#x}", worker, sets.sums[worker].value, expected);
  }
  return std::nullopt;
}

/// Half of the level, and for a shared L3 a quarter besides: in a virtual machine others may fill the rest.
/// Each with the level below too where the best one is AVX-512, as some cores read it in two halves.
struct Variant {
  double part = 0.5;
  Isa isa = Isa::baseline;
};

std::vector<Variant> variants_of(const CpuDevice& cpu, Level level, bool quick) {
  std::vector<Variant> variants = {{0.5, cpu.isa()}};
  if (quick) return variants;
  if (level == Level::l3 && set_bytes(cpu, level, 0.25) < set_bytes(cpu, level, 0.5)) {
    variants.push_back({0.25, cpu.isa()});
  }
  if (cpu.isa() == Isa::avx512) variants.push_back({0.5, Isa::avx2});
  return variants;
}

std::optional<ProbeCase> make(Level level, Device& device, const ProbeRequest& request, int index) {
  CpuDevice& cpu = as_cpu(device);
  const std::vector<Variant> variants = variants_of(cpu, level, request.quick);
  if (index >= static_cast<int>(variants.size())) return std::nullopt;
  const Variant variant = variants[static_cast<std::size_t>(index)];
  ThreadPool& pool = cpu.pool();
  const auto bytes = static_cast<std::int64_t>(set_bytes(cpu, level, variant.part));
  const std::shared_ptr<Sets> sets = make_sets(cpu, bytes, request.scale);

  ProbeCase probe;
  probe.variant = fmt::format("{}, {} KiB a thread, {} threads", to_string(variant.isa), bytes / 1024, pool.size());
  probe.working_set_bytes = static_cast<double>(bytes * pool.size());
  probe.amount = probe.working_set_bytes * static_cast<double>(sets->passes);
  probe.work.bytes[level] = {probe.amount, 0};
  probe.run = [sets, &pool, isa = variant.isa] {
    pool.run([&](int worker) {
      const auto* data = static_cast<const std::byte*>(sets->buffer->data()) + worker * sets->bytes;
      sets->sums[static_cast<std::size_t>(worker)].value =
          with_isa(isa, [&]<Isa chosen>() { return stream_read<chosen>(data, sets->bytes, sets->passes); });
    });
  };
  probe.verify = [sets] { return check(*sets); };
  return probe;
}

Probe cache_probe(Level level) {
  Probe probe;
  probe.name = fmt::format("{}.read", to_string(level));
  probe.device = DeviceKind::cpu;
  probe.kind = CeilingKind::bandwidth;
  probe.level = level;
  probe.pattern = Pattern::read;
  probe.unsupported = [level](const Device& device) { return unsupported(device, level); };
  probe.make = [level](Device& device, const ProbeRequest& request, int variant) {
    return make(level, device, request, variant);
  };
  // No limit: the loads that a core starts in a cycle and the width of its L2 are in no register of the CPU.
  return probe;
}

const ProbeRegistrar kRegistrar({cache_probe(Level::l3), cache_probe(Level::l2), cache_probe(Level::l1)});

}  // namespace
}  // namespace roofline
