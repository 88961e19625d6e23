// Every CPU probe, in all its variants and at every instruction-set level that runs here: what it computes
// is right, its check notices when it is not, and its counts are those of the work.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "device/cpu/cpu_device.hpp"
#include "device/cpu/mapped_buffer.hpp"
#include "kernels/calibration/cpu/dot.hpp"
#include "kernels/calibration/cpu/fma.hpp"
#include "kernels/calibration/cpu/guided_rounds.hpp"
#include "kernels/calibration/cpu/pace.hpp"
#include "kernels/calibration/cpu/stream_set.hpp"
#include "kernels/calibration/cpu/sve.hpp"
#include "measure/audit.hpp"
#include "model/error.hpp"
#include "op/registry.hpp"
#include "tests/support/small_machine.hpp"
#include "tests/support/values.hpp"

namespace roofline {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

const Probe& probe_of(std::string_view name) {
  for (const Probe* probe : all_probes(DeviceKind::cpu)) {
    if (probe->name == name) return *probe;
  }
  throw Error("no CPU probe is called " + std::string(name));
}

TEST(CpuProbes, AreAllThere) {
  std::vector<std::string> names;
  for (const Probe* probe : all_probes(DeviceKind::cpu)) names.push_back(probe->name);
  for (const char* level : {"dram", "l3", "l2", "l1"}) {
    for (const char* pattern : {"read", "write", "copy", "triad", "update", "accumulate"})
      EXPECT_THAT(names, Contains(fmt::format("{}.{}", level, pattern)));
  }
  for (const char* level : {"dram", "l3", "l2", "l1"}) {
    for (const char* pattern : {"read", "copy", "triad", "update", "accumulate"})
      EXPECT_THAT(names, Contains(fmt::format("{}.{}{}", level, pattern, kOneCore)));
  }
  EXPECT_THAT(names, IsSupersetOf({"fp32", "fp64", "fp32.one_core", "fp64.one_core", "dram.copy.small_pages", "bf16",
                                   "int8", "dram.write.regular", "dram.write.non_temporal", "numa.local", "numa.remote",
                                   "sweep.read", "scaling.dram.read", "launch.pool"}));
#if defined(__x86_64__)
  EXPECT_THAT(names, IsSupersetOf({"tensor.bf16", "tensor.fp16", "tensor.int8", "fp32.sse2", "fp32.avx2", "fp64.sse2",
                                   "fp64.avx2"}));
#elif defined(__aarch64__)
  EXPECT_THAT(names, IsSupersetOf({"fp32.neon", "fp64.neon"}));
#endif
}

TEST(CpuProbes, OnlyPlainNamesAreRoofs) {
  for (const Probe* probe : all_probes(DeviceKind::cpu)) {
    if (probe->sweep) continue;
    const std::string name = probe->name;
    const bool pipe = probe->pipe && name == to_string(*probe->pipe);
    const bool plain = pipe || name == "launch.pool" ||
                       (probe->level && probe->pattern &&
                        name == fmt::format("{}.{}", to_string(*probe->level), to_string(*probe->pattern)));
    EXPECT_EQ(probe->role == Role::roof, plain) << name;
    EXPECT_EQ(probe->sustained, pipe) << name;
  }
}

/// No limit is far above what the core can do. On a CPU, the instructions per cycle are compared with the next
/// plausible number; on a GPU they are NVIDIA's, and a roof has to reach them.
TEST(CpuProbes, EveryPipeHasPlausibleInstructionsPerCycle) {
  CpuDevice device({}, best_isa(), small_machine());
  for (const Probe* probe : all_probes(DeviceKind::cpu)) {
    if (probe->kind != CeilingKind::compute || (probe->unsupported && probe->unsupported(device))) continue;
    ASSERT_TRUE(probe->limit) << probe->name;
    const std::optional<Limit> limit = probe->limit(device, 3e9);
#if defined(__x86_64__)
    ASSERT_TRUE(limit) << probe->name;
#endif
    if (limit) {
      EXPECT_GT(limit->assumed_issue, 0) << probe->name;
    }
  }
  for (const Probe* probe : all_probes(DeviceKind::cuda)) {
    if (probe->kind != CeilingKind::compute || probe->role != Role::roof) continue;
    EXPECT_TRUE(probe->limit) << probe->name;
    EXPECT_GE(probe->least_of_limit, 0.9) << probe->name;
  }
}

TEST(CpuProbes, EveryVariantVerifiesAfterEveryRun) {
  CpuDevice device({}, best_isa(), small_machine());
  for (const Probe* probe : all_probes(DeviceKind::cpu)) {
    if (probe->unsupported && probe->unsupported(device)) continue;
    int variants = 0;
    for (;; ++variants) {
      const std::optional<ProbeCase> made =
          probe->make(device, ProbeRequest{.quick = false, .scale = 0.0625}, variants);
      if (!made) break;
      for (int run = 0; run < 2; ++run) {
        made->run();
        EXPECT_EQ(made->verify(), std::nullopt) << probe->name << ", " << made->variant << ", run " << run;
      }
      EXPECT_GT(made->amount, 0);
      EXPECT_FALSE(made->variant.empty());
    }
    EXPECT_GE(variants, 1) << probe->name;
  }
}

TEST(CpuProbes, NothingIsRightBeforeTheFirstRun) {
  CpuDevice device({}, best_isa(), small_machine());
  for (const Probe* probe : all_probes(DeviceKind::cpu)) {
    if (probe->name == "launch.pool" || (probe->unsupported && probe->unsupported(device))) continue;
    const std::optional<ProbeCase> made = probe->make(device, ProbeRequest{true, 1}, 0);
    ASSERT_TRUE(made);
    EXPECT_NE(made->verify(), std::nullopt) << probe->name;
  }
}

TEST(CpuProbes, TwiceTheScaleIsTwiceTheWork) {
  CpuDevice device({}, best_isa(), small_machine());
  for (const Probe* probe : all_probes(DeviceKind::cpu)) {
    if (probe->sweep) continue;
    if (probe->unsupported && probe->unsupported(device)) continue;
    const double once = probe->make(device, ProbeRequest{true, 1}, 0)->amount;
    const std::optional<ProbeCase> twice = probe->make(device, ProbeRequest{true, 2}, 0);
    EXPECT_NEAR(twice->amount / once, 2, 1e-3) << probe->name;
    twice->run();
    EXPECT_EQ(twice->verify(), std::nullopt) << probe->name;
  }
}

/// Free memory changes from one moment to the next; the sets must not.
TEST(CpuProbes, SetsOfOneDeviceDoNotFollowTheFreeMemory) {
  CpuDevice device({}, best_isa(), small_machine());
  const Probe& probe = probe_of("dram.read");
  const double before = probe.make(device, ProbeRequest{true, 1}, 0)->working_set_bytes;
  const auto taken = device.allocate(std::size_t{64} << 20);
  device.fill(taken->data(), std::byte{1}, taken->size());
  EXPECT_EQ(probe.make(device, ProbeRequest{true, 1}, 0)->working_set_bytes, before);
}

TEST(CpuProbes, QuickTriesFewerVariants) {
  CpuDevice device({}, best_isa(), small_machine());
  for (const char* name : {"fp32", "dram.read"}) {
    const Probe& probe = probe_of(name);
    int full = 0;
    int quick = 0;
    while (probe.make(device, ProbeRequest{false, 0.0625}, full)) ++full;
    while (probe.make(device, ProbeRequest{true, 0.0625}, quick)) ++quick;
    EXPECT_LT(quick, full) << name;
  }
}

/// Which of them is faster depends on the CPU.
TEST(CpuProbes, MainMemoryIsTriedWithPrefetchesAndWithoutThem) {
  CpuDevice device({}, best_isa(), small_machine());
  for (const char* name : {"read", "copy", "triad", "update", "accumulate", "read.one_core", "copy.one_core",
                           "triad.one_core", "update.one_core", "accumulate.one_core", "copy.small_pages"}) {
    const Probe& probe = probe_of(fmt::format("dram.{}", name));
    if (probe.unsupported && probe.unsupported(device)) continue;
    std::string variants;
    for (int i = 0; const auto made = probe.make(device, ProbeRequest{true, 1}, i); ++i) variants += made->variant;
    EXPECT_THAT(variants, testing::HasSubstr("prefetched")) << name;
    EXPECT_THAT(variants, testing::HasSubstr("plain")) << name;
  }
}

TEST(CpuProbes, CompulsoryStreamsAreCountedAndExceedTheCaches) {
  CpuDevice device({}, best_isa(), small_machine());
  const struct {
    const char* name;
    double reads, writes;
    bool in_place;
  } expected[] = {{"dram.read", 1, 0, false},  {"dram.write", 0, 1, false}, {"dram.copy", 1, 1, false},
                  {"dram.triad", 2, 1, false}, {"dram.update", 1, 1, true}, {"dram.accumulate", 2, 1, true}};
  for (const auto& [name, reads, writes, in_place] : expected) {
    const std::optional<ProbeCase> made = probe_of(name).make(device, ProbeRequest{true, 1}, 0);
    const Traffic traffic = made->work.bytes.at(Level::dram);
    const double stream = made->amount / (reads + writes);
    EXPECT_EQ(traffic.read, reads * stream) << name;
    EXPECT_EQ(traffic.write, writes * stream) << name;
    EXPECT_EQ(traffic.in_place, in_place) << name;
    EXPECT_GE(made->working_set_bytes, 4 * device.last_level_cache_bytes()) << name;
  }
}

TEST(CpuProbes, CacheSetsFitTheirLevelAndNotTheOneBefore) {
  CpuDevice device({}, best_isa(), small_machine());
  for (const CacheInfo& cache : device.info().caches) {
    const double own = cache.bytes * static_cast<double>(cache.instances);
    double nearer = 0;
    for (const CacheInfo& other : device.info().caches) {
      if (other.level > cache.level) nearer = std::max(nearer, other.bytes * static_cast<double>(other.instances));
    }
    for (const char* pattern : {"read", "write", "copy", "triad"}) {
      const Probe& probe = probe_of(fmt::format("{}.{}", to_string(cache.level), pattern));
      if (probe.unsupported(device)) continue;
      const std::optional<ProbeCase> made = probe.make(device, ProbeRequest{}, 0);
      EXPECT_LE(made->working_set_bytes, own) << probe.name;
      const double past = std::isnan(made->nearer_cache_bytes) ? nearer : made->nearer_cache_bytes;
      EXPECT_GE(made->working_set_bytes, 4 * past) << probe.name;
    }
  }
}

TEST(CpuProbes, OfOneCoreHaveTheSetsOfOneThread) {
  CpuDevice device({}, best_isa(), small_machine());
  for (const char* name : {"l1.read", "l2.copy", "l3.triad", "dram.copy"}) {
    const Probe& probe = probe_of(fmt::format("{}{}", name, kOneCore));
    EXPECT_EQ(probe.role, Role::reference);
    if (device.info().units == 1) {
      EXPECT_TRUE(probe.unsupported(device)) << "the roof is that already";
      continue;
    }
    if (probe.unsupported(device)) continue;
    const std::optional<ProbeCase> made = probe.make(device, ProbeRequest{}, 0);
    ASSERT_TRUE(made) << name;
    made->run();
    EXPECT_EQ(made->verify(), std::nullopt) << name;
    double level = 0;
    for (const CacheInfo& cache : device.info().caches) {
      if (cache.level == *probe.level) level = cache.bytes;
    }
    if (level > 0) {
      EXPECT_LE(made->working_set_bytes, level) << name;
      EXPECT_GE(made->working_set_bytes, 4 * made->nearer_cache_bytes) << name;
    } else {
      EXPECT_GE(made->working_set_bytes, 4 * device.last_level_cache_bytes()) << name;
    }
  }
}

TEST(CpuProbes, TheSweepGoesFromTheFirstCacheToMainMemory) {
  CpuDevice device({}, best_isa(), small_machine());
  const Probe& sweep = probe_of("sweep.read");
  ASSERT_EQ(sweep.sweep, SweepAxis::working_set);
  std::vector<double> sizes;
  for (int point = 0;; ++point) {
    const std::optional<ProbeCase> made = sweep.make(device, ProbeRequest{}, point);
    if (!made) break;
    EXPECT_EQ(made->x, made->working_set_bytes);
    if (!sizes.empty()) {
      EXPECT_GT(made->x, sizes.back());
    }
    sizes.push_back(made->x);
  }
  ASSERT_GE(sizes.size(), 20U);
  EXPECT_LE(sizes.front(), 8192.0 * device.pool().size() + 16384);
  EXPECT_GE(sizes.back(), 0.99 * std::min(4 * device.last_level_cache_bytes(), device.free_memory_at_opening() / 2));
}

TEST(CpuProbes, TheScalingCurveEndsWithAllThreads) {
  CpuDevice device({}, best_isa(), small_machine());
  const Probe& scaling = probe_of("scaling.dram.read");
  ASSERT_EQ(scaling.sweep, SweepAxis::threads);
  std::vector<double> threads;
  while (const auto made = scaling.make(device, ProbeRequest{}, static_cast<int>(threads.size()))) {
    threads.push_back(made->x);
  }
  ASSERT_FALSE(threads.empty());
  EXPECT_EQ(threads.front(), 1);
  EXPECT_EQ(threads.back(), device.pool().size());
  for (std::size_t i = 1; i < threads.size(); ++i) EXPECT_GT(threads[i], threads[i - 1]);
}

TEST(CpuProbes, DistanceNeedsASecondNode) {
  CpuDevice device({.threads = 1}, best_isa(), small_machine());
  EXPECT_THAT(probe_of("numa.remote").unsupported(device).value_or(""), HasSubstr("one NUMA node"));
}

#if defined(__x86_64__)
TEST(CpuProbes, TheLimitFollowsFromTheClockAndSaysHow) {
  CpuDevice device({}, best_isa(), small_machine());
  const std::optional<Limit> fp32 = probe_of("fp32").limit(device, 1e9);
  const std::optional<Limit> fp64 = probe_of("fp64").limit(device, 2e9);
  const std::optional<Limit> one = probe_of("fp32.one_core").limit(device, 1e9);
  const std::optional<Limit> sse2 = probe_of("fp64.sse2").limit(device, 2e9);
  ASSERT_TRUE(fp32 && fp64 && one && sse2);
  EXPECT_EQ(fp32->value, fp64->value);  // half the lanes at twice the clock
  EXPECT_EQ(fp32->value, one->value * device.cores());
  EXPECT_EQ(sse2->value, 2e9 * device.cores() * 2 * 2 * 2);  // two multiplications and two additions of two lanes
  EXPECT_THAT(fp32->basis, HasSubstr("1000 MHz"));
  EXPECT_FALSE(probe_of("fp32").limit(device, std::nullopt));
}

TEST(CpuProbes, LowerLevelsAreReferencesOfHigherOnes) {
  const CpuDevice lowest(DeviceOptions{1}, Isa::baseline);
  EXPECT_TRUE(probe_of("fp32.sse2").unsupported(lowest));
  EXPECT_TRUE(probe_of("fp32.avx2").unsupported(lowest));
  EXPECT_TRUE(probe_of("fp32.one_core").unsupported(lowest));  // the roof is that already
  if (best_isa() < Isa::avx2) GTEST_SKIP() << "needs AVX2";
  CpuDevice avx2(DeviceOptions{1}, Isa::avx2);
  EXPECT_FALSE(probe_of("fp32.sse2").unsupported(avx2));
  EXPECT_TRUE(probe_of("fp32.avx2").unsupported(avx2));
  const std::optional<ProbeCase> made = probe_of("fp32.sse2").make(avx2, ProbeRequest{}, 0);
  EXPECT_THAT(made->variant, HasSubstr("sse2"));
  EXPECT_EQ(made->instruction, "MULps + ADDps, 128 bit");
  EXPECT_THAT(made->below_peak, HasSubstr("sse2"));
}
#endif

/// What rounds of a chain come to, by scalar arithmetic.
template <typename T>
T chained(T x, int chain, int rounds, bool fused) {
  for (int round = 0; round < rounds; ++round) x = fma_step(x, chain, fused);
  return x;
}

template <typename T>
void expect_exact(const FmaKernels<T>& kernels, bool fused) {
  ASSERT_GT(kernels.count, 0);
  std::vector<FmaKernel<T>> all(kernels.first, kernels.first + kernels.count);
  if (kernels.paced != nullptr) all.insert(all.end(), kernels.paced, kernels.paced + kPaceCount);
  for (const FmaKernel<T>& kernel : all) {
    std::vector<T> initial(static_cast<std::size_t>(kernel.chains));
    for (std::size_t c = 0; c < initial.size(); ++c) initial[c] = T(1) + T(c) / T(7);
    const auto lanes = static_cast<std::size_t>(kernel.lanes);
    std::vector<T> final(initial.size() * lanes);
    for (std::size_t i = 0; i < final.size(); ++i) final[i] = initial[i / lanes];
    for (const std::int64_t rounds : {640, 360}) kernel.run(rounds, final.data());
    for (std::size_t i = 0; i < final.size(); ++i) {
      const std::size_t c = i / lanes;
      ASSERT_EQ(final[i], chained(initial[c], static_cast<int>(c), 1000, fused)) << "element " << i;
      ASSERT_NE(final[i], chained(initial[c], static_cast<int>(c), 999, fused));  // a lost round shows
    }
  }
}

TEST(FmaKernels, AreExactAtEveryLevel) {
  for (const Isa isa : usable_isas()) {
    SCOPED_TRACE(to_string(isa));
    with_isa(isa, [isa]<Isa level>() {
      EXPECT_NE(fma_kernels_fp32<level>().paced, nullptr);
      EXPECT_NE(fma_kernels_fp64<level>().paced, nullptr);
      expect_exact(fma_kernels_fp32<level>(), has_fma(isa));
      expect_exact(fma_kernels_fp64<level>(), has_fma(isa));
    });
  }
}

/// What a step of the chains is that the kernels are held against.
TEST(FmaKernels, StepsAreFusedWhereTheLevelIs) {
#if defined(__aarch64__)
  EXPECT_EQ(fma_step(3.0F, 1, true), std::fma(kFmaFactors<float>[1], kFmaIncrement<float>, 3.0F));
#else
  EXPECT_EQ(fma_step(3.0F, 1, true), std::fma(3.0F, kFmaFactor<float>, kFmaIncrement<float>));
  const float tells = 0x1.000006p+4F;  // most numbers, all below 16 among them, come to the same either way
  EXPECT_NE(fma_step(tells, 1, true), fma_step(tells, 1, false));
#endif
}

/// Two workers of which one takes twice as long: it does a third of the rounds.
TEST(GuidedRounds, EveryRoundIsFetchedOnce) {
  GuidedRounds rounds;
  rounds.all = 1 << 16 | 48;
  rounds.min_chunk = 64;
  rounds.workers = 2;
  for (int launch = 0; launch < 2; ++launch) {
    rounds.begin();
    std::int64_t taken[2] = {};
    std::int64_t ready_at[2] = {};
    std::int64_t claimed = 0;
    do {
      const int worker = ready_at[1] < ready_at[0] ? 1 : 0;
      claimed = rounds.next_chunk();
      EXPECT_LE(claimed, rounds.all / 4);
      taken[worker] += claimed;
      ready_at[worker] += claimed * (worker + 1);
    } while (claimed > 0);
    EXPECT_EQ(taken[0] + taken[1], rounds.all);
    EXPECT_NEAR(static_cast<double>(taken[1]), static_cast<double>(rounds.all) / 3, 64);
  }
}

/// What a step of a dot product adds to a lane, from the manual's definition, in the field's own types.
std::int64_t dot_of(const DotKernel& kernel, const std::uint32_t* left, const std::uint32_t* right, std::size_t lane) {
  const auto sum_of = [&]<typename A, typename B>(A, B, std::initializer_list<std::size_t> numbers) {
    const auto* a = reinterpret_cast<const std::byte*>(left);
    const auto* b = reinterpret_cast<const std::byte*>(right);
    std::int64_t sum = 0;
    for (const std::size_t number : numbers) {
      A x{};
      B y{};
      std::memcpy(&x, a + number * sizeof x, sizeof x);
      std::memcpy(&y, b + number * sizeof y, sizeof y);
      sum += std::int64_t{x} * y;
    }
    return sum;
  };
  switch (kernel.step) {
    case DotStep::bf16_pairs: {
      const auto low = [](std::uint32_t word) { return std::bit_cast<float>(word << 16); };
      const auto high = [](std::uint32_t word) { return std::bit_cast<float>(word & 0xffff0000); };
      return std::lround(low(left[lane]) * low(right[lane]) + high(left[lane]) * high(right[lane]));
    }
    case DotStep::int16_pairs:
      return sum_of(std::int16_t{}, std::int16_t{}, {2 * lane, 2 * lane + 1});
    case DotStep::int16_halves:
      return sum_of(std::int16_t{}, std::int16_t{}, {lane, lane + static_cast<std::size_t>(kernel.lanes)});
    case DotStep::mixed_bytes:
      return sum_of(std::uint8_t{}, std::int8_t{}, {4 * lane, 4 * lane + 1, 4 * lane + 2, 4 * lane + 3});
    case DotStep::signed_bytes:
      return sum_of(std::int8_t{}, std::int8_t{}, {4 * lane, 4 * lane + 1, 4 * lane + 2, 4 * lane + 3});
  }
  return 0;
}

TEST(DotKernels, AreExactWhereTheCpuHasThem) {
  int run = 0;
  for (const Isa isa : usable_isas()) {
    const DotKernels kernels = with_isa(isa, []<Isa level>() { return dot_kernels<level>(); });
    for (int k = 0; k < kernels.count; ++k) {
      const DotKernel& kernel = kernels.first[k];
      if (kernel.unit && !has(*kernel.unit)) continue;
      ++run;
      ASSERT_LE(kernel.chains, kMaxDotChains);
      const auto lanes = static_cast<std::size_t>(kernel.lanes);
      std::vector<std::uint32_t> left(kDotOperands * lanes);
      std::vector<std::uint32_t> right(lanes);
      // 3 and -5 in bf16; bytes above and below 128; halves above and below 2^15.
      for (std::size_t i = 0; i < left.size(); ++i) left[i] = i % 3 == 0 ? 0x4040c0a0U : 0xc0a04040U;
      for (std::size_t i = 0; i < lanes; ++i) right[i] = i % 2 == 0 ? 0x40404040U : 0x4040c0a0U;
      std::vector<std::uint32_t> totals(lanes * static_cast<std::size_t>(kernel.chains));
      for (const std::int64_t rounds : {640, 360}) kernel.run(rounds, left.data(), right.data(), totals.data());
      for (int pace = 0; pace < kPaceCount; ++pace) {
        std::vector<std::uint32_t> paced(totals.size());
        kernel.paced[pace].run(1000, left.data(), right.data(), paced.data());
        ASSERT_EQ(paced, totals) << kernel.instruction << ", pace " << pace;
      }
      for (std::size_t i = 0; i < totals.size(); ++i) {
        const std::uint32_t* a = &left[i / lanes % kDotOperands * lanes];
        const std::int64_t sum = 1000 * dot_of(kernel, a, right.data(), i % lanes);
        ASSERT_NE(sum, 0);  // or a lost round would not show
        ASSERT_EQ(totals[i], static_cast<std::uint32_t>(sum)) << kernel.instruction << ", element " << i;
      }
    }
  }
  if (run == 0) GTEST_SKIP() << "there are no dot products for this architecture";
}

TEST(DotProbes, HaveRandomOperands) {
  CpuDevice device(DeviceOptions{1});
  for (const char* name : {"bf16", "int8"}) {
    const Probe& probe = probe_of(name);
    if (probe.unsupported(device)) continue;
    const std::vector<std::byte> operands = probe.make(device, ProbeRequest{}, 0)->operands();
    EXPECT_EQ(audit_operands(operands).status, CheckStatus::pass) << name;
  }
}

#if defined(__x86_64__) || defined(__aarch64__)
/// What the GEMM of int8 is held against is there on every CPU, and is that of the level in use.
TEST(DotProbes, HaveAnInt8RoofAtEveryLevel) {
  for (const Isa isa : usable_isas()) {
    CpuDevice device(DeviceOptions{1}, isa);
    EXPECT_EQ(probe_of("int8").unsupported(device), std::nullopt) << to_string(isa);
    const std::optional<ProbeCase> made = probe_of("int8").make(device, ProbeRequest{true, 1}, 0);
    ASSERT_TRUE(made) << to_string(isa);
    const char* width = isa == Isa::avx512 ? "512 bit" : isa == Isa::avx2 ? "256 bit" : "128 bit";
    EXPECT_THAT(made->instruction, HasSubstr(width));
  }
}
#endif

/// Words of a set, and the checksum that stream_read() and its kin make of a pass over them.
template <std::int64_t kWords>
std::uint64_t fill_words(std::uint64_t (&words)[kWords]) {
  std::uint64_t columns[kStreamColumns] = {};
  for (std::int64_t i = 0; i < kWords; ++i)
    columns[i % kStreamColumns] ^= words[i] = static_cast<std::uint64_t>(i * i) << 40;
  return std::accumulate(std::begin(columns), std::end(columns), std::uint64_t{0});
}

TEST(SveKernels, AreExactWhereTheCpuHasThem) {
  const SveKernels* sve = sve_kernels();
  if (sve == nullptr) GTEST_SKIP() << "this CPU has no SVE that is wider than NEON";
  expect_exact(sve->fp32, true);
  expect_exact(sve->fp64, true);
  EXPECT_EQ(sve->fp32.first->lanes, sve->bits / 32);
  EXPECT_EQ(sve->fp64.first->lanes, sve->bits / 64);

  constexpr std::int64_t kWords = kStreamGrain / 8;
  constexpr std::int64_t kBytes = kStreamGrain;
  alignas(64) static std::uint64_t from[kWords], guarded[kWords + 16];
  const std::uint64_t sum = fill_words(from);
  for (const std::uint64_t passes : {1, 3, 4, 11}) {
    EXPECT_EQ(sve->read(from, kBytes, static_cast<std::int64_t>(passes)), passes * sum);
  }
  std::uint64_t* to = guarded + 8;
  sve->copy(to, from, kBytes, 2);
  EXPECT_TRUE(std::equal(from, from + kWords, to));
  sve->write(to, kBytes, 2, 7);
  EXPECT_EQ(std::count(std::begin(guarded), std::end(guarded), 7U), kWords);
  EXPECT_EQ(std::count(std::begin(guarded), std::end(guarded), 0U), 16);
  sve->update(to, kBytes, 2, 0x123456789);
  EXPECT_EQ(std::count(std::begin(guarded), std::end(guarded), 0x23456789U), kWords);  // the upper half was 0
  sve->accumulate(to, from, kBytes, 2);
  for (std::int64_t i = 0; i < kWords; ++i) ASSERT_EQ(to[i], 0x23456789U + 2 * from[i]) << "word " << i;
  EXPECT_EQ(std::count(std::begin(guarded), std::end(guarded), 0U), 16);
  alignas(64) static double a[kWords], b[kWords], c[kWords];
  for (std::int64_t i = 0; i < kWords; ++i) b[i] = static_cast<double>(i), c[i] = static_cast<double>(i * i);
  sve->triad(a, b, c, 5, kBytes, 2);
  for (std::int64_t i = 0; i < kWords; ++i) ASSERT_EQ(a[i], static_cast<double>(i + 5 * i * i));
}

TEST(SveKernels, AreRoofsBesideWhichNeonIsAReference) {
  const SveKernels* sve = sve_kernels();
  CpuDevice device(DeviceOptions{1});
  for (const char* name : {"fp32", "l1.read"}) {
    const Probe& probe = probe_of(name);
    if (probe.unsupported(device)) continue;  // a machine that does not tell its caches
    const std::optional<ProbeCase> made = probe.make(device, ProbeRequest{}, 0);
    EXPECT_EQ(made->variant.starts_with("sve"), sve != nullptr) << name;
  }
#if defined(__aarch64__)
  EXPECT_EQ(probe_of("fp32.neon").unsupported(device).has_value(), sve == nullptr);
  EXPECT_THAT(probe_of("fp32.neon").make(device, ProbeRequest{}, 0)->variant, HasSubstr("neon"));
#endif
}

/// Bytes that a pattern moves for each byte of an array.
double moved_by(Pattern pattern) { return traffic_of(pattern, 1).total(); }

/// A set of arrays of 64 KiB for each of `workers`, on memory that the test can reach.
struct SmallSet {
  explicit SmallSet(Pattern pattern, int workers, double launch_bytes, std::vector<std::vector<int>> rotate = {},
                    int chunks = 1)
      : pool(std::make_shared<ThreadPool>(std::vector<int>(static_cast<std::size_t>(workers), -1))) {
    plan.pattern = pattern;
    plan.isa = best_isa();
    plan.set_bytes = 65536.0 * arrays_of(pattern);
    plan.launch_bytes = launch_bytes;
    plan.rotate_within = std::move(rotate);
    plan.chunks = chunks;
    memory = std::make_shared<MappedBuffer>(StreamSet::memory_bytes(plan, workers), *pool);
    set = std::make_unique<StreamSet>(pool, memory, plan);
  }
  /// Word `index` of the first array of the first worker.
  std::uint64_t& word(std::size_t index) const { return static_cast<std::uint64_t*>(memory->data())[index]; }

  std::shared_ptr<ThreadPool> pool;
  StreamPlan plan;
  std::shared_ptr<MappedBuffer> memory;
  std::unique_ptr<StreamSet> set;
};

TEST(StreamSets, SlicesFollowEachOtherThroughTheWholeSet) {
  for (const Pattern pattern : kStreamPatterns) {
    // Four slices of 16 KiB an array: the fifth launch is back at the first.
    const SmallSet small(pattern, 3, 16384 * moved_by(pattern));
    EXPECT_EQ(small.set->working_set_bytes(), 3 * 65536.0 * arrays_of(pattern));
    EXPECT_EQ(small.set->traffic().total(), 3 * 16384 * moved_by(pattern));
    for (int launch = 0; launch < 9; ++launch) {
      small.set->run();
      EXPECT_EQ(small.set->check(), std::nullopt) << to_string(pattern) << ", launch " << launch;
    }
  }
}

TEST(StreamSets, SmallSetsAreStreamedOverAgain) {
  for (const Pattern pattern : kStreamPatterns) {
    SmallSet small(pattern, 2, 5 * 65536 * moved_by(pattern));
    EXPECT_EQ(small.set->traffic().total(), 2 * 5 * 65536 * moved_by(pattern));
    small.set->run();
    EXPECT_EQ(small.set->check(), std::nullopt) << to_string(pattern);
  }
}

/// Launches of seven pieces a worker over eight slices, so that claims end within the set and run across its end; and
/// of passes over a set that is smaller than a piece.
TEST(StreamSets, EveryChunkIsFetchedAndDone) {
  for (const Pattern pattern : kStreamPatterns) {
    for (const double launch : {7 * 8192.0, 19 * 65536.0}) {
      const SmallSet small(pattern, 3, launch * moved_by(pattern), {}, 7);
      EXPECT_EQ(small.set->traffic().total(), 3 * launch * moved_by(pattern));
      for (int run = 0; run < 20; ++run) {
        small.set->run();
        EXPECT_EQ(small.set->check(), std::nullopt) << to_string(pattern) << ", launch " << run;
      }
    }
  }
}

TEST(StreamSets, AWrongWordIsNoticedInTheSliceOfTheLaunch) {
  for (const Pattern pattern : kStreamPatterns) {
    SmallSet small(pattern, 1, 16384 * moved_by(pattern));
    if (pattern == Pattern::read) small.word(5) ^= 1;  // what is read must be what was filled
    small.set->run();
    if (pattern != Pattern::read) small.word(5) ^= 1;
    EXPECT_NE(small.set->check(), std::nullopt) << to_string(pattern);
    small.set->run();  // the next slice is whole
    EXPECT_EQ(small.set->check(), std::nullopt) << to_string(pattern);
  }
}

TEST(StreamSets, AKernelThatStopsShortIsNoticed) {
  for (const Pattern pattern : kStreamPatterns) {
    if (pattern == Pattern::read) continue;
    SmallSet small(pattern, 1, 65536 * moved_by(pattern));
    const std::uint64_t untouched = small.word(8191);
    small.set->run();
    small.word(8191) = untouched;
    EXPECT_NE(small.set->check(), std::nullopt) << to_string(pattern);
  }
}

/// In place a word must follow from what was read: an update keeps half of it, an accumulation all.
TEST(StreamSets, AKernelInPlaceThatDoesNotReadIsNoticed) {
  for (const Pattern pattern : {Pattern::update, Pattern::accumulate}) {
    for (const std::uint64_t half : {kKeptBits, ~kKeptBits}) {
      SmallSet small(pattern, 1, 65536 * moved_by(pattern));
      small.set->run();
      small.set->run();
      ASSERT_EQ(small.set->check(), std::nullopt) << to_string(pattern);
      const std::uint64_t launch = 2;  // what a kernel would write that knows no more than that
      std::uint64_t& word = small.word(100);
      const bool reads_nothing_there = pattern == Pattern::update && half == ~kKeptBits;
      word = (word & ~half) | (launch & half);
      EXPECT_EQ(small.set->check().has_value(), !reads_nothing_there) << to_string(pattern);
    }
  }
}

/// A launch that leaves words as the one before it did.
TEST(StreamSets, AKernelInPlaceThatDoesNotWriteIsNoticed) {
  for (const Pattern pattern : {Pattern::update, Pattern::accumulate}) {
    SmallSet small(pattern, 1, 65536 * moved_by(pattern));
    small.set->run();
    const std::uint64_t before = small.word(100);
    small.set->run();
    ASSERT_EQ(small.set->check(), std::nullopt) << to_string(pattern);
    small.word(100) = before;
    EXPECT_NE(small.set->check(), std::nullopt) << to_string(pattern);
  }
}

TEST(StreamSets, WorkersThatChangeSetsReadEachOthers) {
  SmallSet small(Pattern::read, 3, 65536, {{0, 2}, {1}});
  small.set->run();
  small.word(7) ^= 1;  // of the first set, which worker 2 has next, and worker 0 again after that
  small.set->run();
  EXPECT_THAT(small.set->check().value_or(""), HasSubstr("thread 2"));
  small.set->run();
  EXPECT_THAT(small.set->check().value_or(""), HasSubstr("thread 0"));
}

TEST(StreamSets, OnlyReadersChangeSets) {
  EXPECT_THROW(SmallSet(Pattern::copy, 2, 131072, {{0, 1}}), Error);
  EXPECT_THROW(SmallSet(Pattern::read, 2, 16384, {{0, 1}}), Error);  // in slices
  EXPECT_THROW(SmallSet(Pattern::update, 2, 262144, {{0, 1}}), Error);
}

TEST(StreamKernels, AreExactAtEveryLevelAndStayInTheirRange) {
  constexpr std::int64_t kBytes = 2 * kStreamGrain;
  constexpr std::int64_t kWords = kBytes / 8;
  constexpr std::uint64_t kGuard = 0xdeadbeef;
  alignas(64) static std::uint64_t from[kWords];
  alignas(64) static std::uint64_t guarded[kWords + 16];
  std::uint64_t* to = guarded + 8;
  const std::uint64_t sum = fill_words(from);
  for (const Isa isa : usable_isas()) {
    with_isa(isa, [&]<Isa level>() {
      for (const LoadKind load :
           {LoadKind::plain, LoadKind::prefetched, LoadKind::two_streams, LoadKind::four_streams}) {
        for (const std::uint64_t passes : {1, 3, 4, 11}) {
          EXPECT_EQ(stream_read<level>(load, from, kBytes, static_cast<std::int64_t>(passes)), passes * sum);
        }
        for (const StoreKind store : {StoreKind::regular, StoreKind::non_temporal, StoreKind::string}) {
          std::fill(std::begin(guarded), std::end(guarded), kGuard);
          stream_copy<level>(load, store, to, from, kBytes, 2);
          EXPECT_TRUE(std::equal(from, from + kWords, to));
          stream_write<level>(store, to, kBytes, 2, 0x0707070707070707ULL);
          EXPECT_EQ(std::count(to, to + kWords, 0x0707070707070707ULL), kWords);
          EXPECT_EQ(std::count(std::begin(guarded), std::end(guarded), kGuard), 16);
        }
      }
    });
  }
}

TEST(StreamKernels, InPlaceTheyReplaceHalfOfEveryWordOrAddToIt) {
  constexpr std::int64_t kBytes = 2 * kStreamGrain;
  constexpr std::int64_t kWords = kBytes / 8;
  constexpr std::uint64_t kGuard = 0xdeadbeef;
  constexpr std::uint64_t kStamp = 0x123456789;  // of which the lower half is written
  alignas(64) static std::uint64_t added[kWords];
  alignas(64) static std::uint64_t guarded[kWords + 16];
  std::uint64_t* to = guarded + 8;
  fill_words(added);
  const auto old = [](std::int64_t i) { return static_cast<std::uint64_t>(i + 1) * 0x9e3779b97f4a7c15; };
  for (const Isa isa : usable_isas()) {
    with_isa(isa, [&]<Isa level>() {
      for (const LoadKind load : {LoadKind::plain, LoadKind::prefetched, LoadKind::two_streams}) {
        for (const bool accumulates : {false, true}) {
          std::fill(std::begin(guarded), std::end(guarded), kGuard);
          for (std::int64_t i = 0; i < kWords; ++i) to[i] = old(i);
          if (accumulates) {
            stream_accumulate<level>(load, to, added, kBytes, 2);
          } else {
            stream_update<level>(load, to, kBytes, 2, kStamp);
          }
          for (std::int64_t i = 0; i < kWords; ++i) {
            const std::uint64_t updated = (old(i) >> 32 << 32) + (kStamp & 0xffffffff);
            ASSERT_EQ(to[i], accumulates ? old(i) + 2 * added[i] : updated) << to_string(isa) << ", word " << i;
          }
          EXPECT_EQ(std::count(guarded, to, kGuard), 8);
          EXPECT_EQ(std::count(to + kWords, std::end(guarded), kGuard), 8);
        }
      }
    });
  }
}

TEST(StreamKernels, TriadIsExact) {
  constexpr std::int64_t kCount = 2 * kStreamGrain / 8;
  alignas(64) static double a[kCount], b[kCount], c[kCount];
  for (std::int64_t i = 0; i < kCount; ++i) b[i] = static_cast<double>(i), c[i] = static_cast<double>(i * i);
  for (const Isa isa : usable_isas()) {
    with_isa(isa, [&]<Isa level>() {
      for (const LoadKind load : {LoadKind::plain, LoadKind::prefetched}) {
        for (const StoreKind store : {StoreKind::regular, StoreKind::non_temporal}) {
          std::fill(std::begin(a), std::end(a), -1);
          stream_triad<level>(load, store, a, b, c, 5, sizeof a, 1);
          for (std::int64_t i = 0; i < kCount; ++i) ASSERT_EQ(a[i], static_cast<double>(i + 5 * i * i));
        }
      }
    });
  }
}

}  // namespace
}  // namespace roofline
