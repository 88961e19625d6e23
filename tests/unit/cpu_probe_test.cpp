// Every CPU probe, in all its variants and at every instruction-set level that runs here: what it computes
// is right, its check notices when it is not, and its counts are those of the work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "device/cpu/cpu_device.hpp"
#include "kernels/calibration/cpu_fma.hpp"
#include "kernels/calibration/cpu_stream.hpp"
#include "model/error.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

const Probe& probe_of(const std::string& name) {
  for (const Probe* probe : all_probes(DeviceKind::cpu)) {
    if (probe->name == name) return *probe;
  }
  throw Error("no CPU probe is called " + name);
}

TEST(CpuProbes, AreAllThere) {
  std::vector<std::string> names;
  for (const Probe* probe : all_probes(DeviceKind::cpu)) names.push_back(probe->name);
  EXPECT_THAT(names, IsSupersetOf({"fp32", "fp64", "dram.read", "dram.write", "dram.copy", "dram.triad", "l1.read",
                                   "l2.read", "l3.read", "launch.pool"}));
}

TEST(CpuProbes, EveryVariantVerifiesAfterEveryRun) {
  CpuDevice device(DeviceOptions{});
  for (const Probe* probe : all_probes(DeviceKind::cpu)) {
    if (probe->unsupported && probe->unsupported(device)) continue;
    int variants = 0;
    for (;; ++variants) {
      const std::optional<ProbeCase> made = probe->make(device, ProbeRequest{}, variants);
      if (!made) break;
      for (int run = 0; run < 2; ++run) {
        made->run();
        EXPECT_EQ(made->verify(), std::nullopt) << probe->name << ", " << made->variant << ", run " << run;
      }
      EXPECT_GT(made->amount, 0);
      EXPECT_THAT(made->variant, HasSubstr(std::to_string(device.pool().size()) + " threads"));
    }
    EXPECT_GE(variants, 1) << probe->name;
  }
}

TEST(CpuProbes, NothingIsRightBeforeTheFirstRun) {
  CpuDevice device(DeviceOptions{});
  for (const char* name : {"fp32", "fp64", "dram.read", "dram.copy", "dram.triad", "l1.read", "l2.read"}) {
    const std::optional<ProbeCase> made = probe_of(name).make(device, ProbeRequest{true, 1}, 0);
    ASSERT_TRUE(made);
    EXPECT_NE(made->verify(), std::nullopt) << name;
  }
}

TEST(CpuProbes, TwiceTheScaleIsTwiceTheWork) {
  CpuDevice device(DeviceOptions{});
  for (const Probe* probe : all_probes(DeviceKind::cpu)) {
    if (probe->unsupported && probe->unsupported(device)) continue;
    const double once = probe->make(device, ProbeRequest{true, 1}, 0)->amount;
    const std::optional<ProbeCase> twice = probe->make(device, ProbeRequest{true, 2}, 0);
    EXPECT_NEAR(twice->amount / once, 2, 1e-3) << probe->name;
    twice->run();
    EXPECT_EQ(twice->verify(), std::nullopt) << probe->name;
  }
}

TEST(CpuProbes, QuickTriesFewerVariants) {
  CpuDevice device(DeviceOptions{});
  for (const char* name : {"fp32", "dram.read"}) {
    const Probe& probe = probe_of(name);
    int full = 0;
    int quick = 0;
    while (probe.make(device, ProbeRequest{false, 0.0625}, full)) ++full;
    while (probe.make(device, ProbeRequest{true, 0.0625}, quick)) ++quick;
    EXPECT_LT(quick, full) << name;
  }
}

TEST(CpuProbes, CompulsoryStreamsAreCountedAndExceedTheCaches) {
  CpuDevice device(DeviceOptions{});
  const struct {
    const char* name;
    double reads, writes;
  } expected[] = {{"dram.read", 1, 0}, {"dram.write", 0, 1}, {"dram.copy", 1, 1}, {"dram.triad", 2, 1}};
  for (const auto& [name, reads, writes] : expected) {
    const std::optional<ProbeCase> made = probe_of(name).make(device, ProbeRequest{true, 1}, 0);
    const Traffic traffic = made->work.bytes.at(Level::dram);
    const double stream = made->amount / (reads + writes);
    EXPECT_EQ(traffic.read, reads * stream) << name;
    EXPECT_EQ(traffic.write, writes * stream) << name;
    EXPECT_GE(made->working_set_bytes, 4 * device.last_level_cache_bytes()) << name;
  }
}

TEST(CpuProbes, CacheSetsFitTheirLevelAndNotTheOneBefore) {
  CpuDevice device(DeviceOptions{});
  double nearer = 0;
  for (const CacheInfo& cache : device.info().caches) {
    const Probe& probe = probe_of(std::string(to_string(cache.level)) + ".read");
    if (!probe.unsupported(device)) {
      const double set = probe.make(device, ProbeRequest{}, 0)->working_set_bytes;
      EXPECT_LE(set, cache.bytes * static_cast<double>(cache.instances)) << probe.name;
      EXPECT_GE(set, 2 * nearer) << probe.name;
    }
    nearer = cache.bytes * static_cast<double>(cache.instances);
  }
}

#if defined(__x86_64__)
TEST(CpuProbes, TheLimitFollowsFromTheClockAndSaysHow) {
  CpuDevice device(DeviceOptions{});
  const std::optional<Limit> fp32 = probe_of("fp32").limit(device, 1e9);
  const std::optional<Limit> fp64 = probe_of("fp64").limit(device, 2e9);
  ASSERT_TRUE(fp32 && fp64);
  EXPECT_EQ(fp32->value, fp64->value);  // half the lanes at twice the clock
  EXPECT_THAT(fp32->basis, HasSubstr("1000 MHz"));
  EXPECT_FALSE(probe_of("fp32").limit(device, std::nullopt));
}
#endif

/// What rounds of the chain come to, by scalar arithmetic.
template <typename T>
T chain(T x, int rounds, bool fused) {
  for (int round = 0; round < rounds; ++round) {
    volatile T product = x * kFmaFactor<T>;
    x = fused ? std::fma(x, kFmaFactor<T>, kFmaIncrement<T>) : product + kFmaIncrement<T>;
  }
  return x;
}

template <typename T>
void expect_exact(const FmaKernels<T>& kernels, Isa isa) {
  for (int k = 0; k < kernels.count; ++k) {
    const FmaKernel<T>& kernel = kernels.first[k];
    ASSERT_LE(kernel.chains, kMaxFmaChains);
    ASSERT_LE(kernel.lanes, kMaxFmaLanes);
    std::vector<T> initial;
    for (int c = 0; c < kernel.chains; ++c) initial.push_back(T(1) + T(c) / T(7));
    std::vector<T> final(static_cast<std::size_t>(kernel.chains * kernel.lanes));
    kernel.run(1000, initial.data(), final.data());
    for (std::size_t i = 0; i < final.size(); ++i) {
      const T start = initial[i / static_cast<std::size_t>(kernel.lanes)];
      ASSERT_EQ(final[i], chain(start, 1000, has_fma(isa))) << to_string(isa) << ", element " << i;
      ASSERT_NE(final[i], chain(start, 999, has_fma(isa)));  // a lost round shows
    }
  }
}

TEST(FmaKernels, AreExactAtEveryLevel) {
  for (const Isa isa : usable_isas()) {
    with_isa(isa, [isa]<Isa level>() {
      expect_exact(fma_kernels_fp32<level>(), isa);
      expect_exact(fma_kernels_fp64<level>(), isa);
    });
  }
}

TEST(StreamKernels, AreExactAtEveryLevelAndStayInTheirRange) {
  constexpr std::int64_t kBytes = 8 * kStreamBlock;
  constexpr std::int64_t kWords = kBytes / 8;
  constexpr std::uint64_t kGuard = 0xdeadbeef;
  alignas(64) static std::uint64_t from[kWords];
  alignas(64) static std::uint64_t guarded[kWords + 16];
  std::uint64_t* to = guarded + 8;
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < kWords; ++i) sum += from[i] = static_cast<std::uint64_t>(i * i) << 40;
  for (const Isa isa : usable_isas()) {
    with_isa(isa, [&]<Isa level>() {
      EXPECT_EQ(stream_read<level>(from, kBytes, 3), 3 * sum);
      EXPECT_EQ(stream_read_prefetched<level>(from, kBytes, 1), sum);
      for (const StoreKind store : {StoreKind::regular, StoreKind::non_temporal, StoreKind::string}) {
        std::fill(std::begin(guarded), std::end(guarded), kGuard);
        stream_copy<level>(store, to, from, kBytes);
        EXPECT_TRUE(std::equal(from, from + kWords, to));
        stream_write<level>(store, to, kBytes, 0x0707070707070707ULL);
        EXPECT_EQ(std::count(to, to + kWords, 0x0707070707070707ULL), kWords);
        EXPECT_EQ(std::count(std::begin(guarded), std::end(guarded), kGuard), 16);
      }
    });
  }
}

TEST(StreamKernels, TriadIsExact) {
  constexpr std::int64_t kCount = 2 * kStreamBlock / 8;
  alignas(64) static double a[kCount], b[kCount], c[kCount];
  for (std::int64_t i = 0; i < kCount; ++i) b[i] = static_cast<double>(i), c[i] = static_cast<double>(i * i);
  for (const Isa isa : usable_isas()) {
    with_isa(isa, [&]<Isa level>() {
      for (const StoreKind store : {StoreKind::regular, StoreKind::non_temporal}) {
        std::fill(std::begin(a), std::end(a), -1);
        stream_triad<level>(store, a, b, c, 5, sizeof a);
        for (std::int64_t i = 0; i < kCount; ++i) ASSERT_EQ(a[i], static_cast<double>(i + 5 * i * i));
      }
    });
  }
}

}  // namespace
}  // namespace roofline
