// The fp32 and fp64 ceilings of the CPU: searches chains, unrolling and instruction-set level, and checks
// every chain against a scalar replay of the same arithmetic, bit by bit.
#include "kernels/calibration/cpu_fma.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>
#include <vector>

#include "device/cpu/cpu_device.hpp"
#include "op/registry.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace roofline {
namespace {

// Some 0.4 ms at 5 cycles a round: a dispatch of 1 to 2 µs is lost in it.
constexpr std::int64_t kRounds = std::int64_t{1} << 18;

template <typename T>
constexpr Pipe kPipe = std::is_same_v<T, float> ? Pipe::fp32 : Pipe::fp64;

template <typename T>
FmaKernels<T> kernels_of(Isa isa) {
  return with_isa(isa, []<Isa level>() {
    if constexpr (std::is_same_v<T, float>) {
      return fma_kernels_fp32<level>();
    } else {
      return fma_kernels_fp64<level>();
    }
  });
}

template <typename T>
struct Choice {
  Isa isa = Isa::baseline;
  FmaKernel<T> kernel;
};

/// Quick takes the first two of the best level. In full, the level below is tried as well: wide registers may
/// cost clock, or be executed as two halves.
template <typename T>
std::optional<Choice<T>> choose(Isa best, bool quick, int variant) {
  const int levels = quick || best == Isa::baseline ? 1 : best == Isa::avx512 ? 2 : 1;
  for (int level = 0; level < levels; ++level) {
    const Isa isa = static_cast<Isa>(static_cast<int>(best) - level);
    const FmaKernels<T> kernels = kernels_of<T>(isa);
    const int count = quick ? std::min(2, kernels.count) : kernels.count;
    if (variant < count) return Choice<T>{isa, kernels.first[variant]};
    variant -= count;
  }
  return std::nullopt;
}

/// What each chain must have arrived at, by scalar arithmetic with the same roundings.
template <typename T>
std::vector<T> replay(const std::vector<T>& initial, std::int64_t rounds, bool fused) {
  std::vector<T> x = initial;
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (T& value : x) {
      if (fused) {
        value = std::fma(value, kFmaFactor<T>, kFmaIncrement<T>);
      } else {
        // A volatile product keeps the compiler from fusing what the kernel did not fuse.
        volatile T product = value * kFmaFactor<T>;
        value = product + kFmaIncrement<T>;
      }
    }
  }
  return x;
}

template <typename T>
struct FmaState {
  Choice<T> choice;
  std::int64_t rounds = 0;
  std::vector<T> initial;
  std::vector<std::vector<T>> finals;  // one a worker
};

template <typename T>
std::optional<std::string> check(const FmaState<T>& state) {
  const std::vector<T> expected = replay<T>(state.initial, state.rounds, has_fma(state.choice.isa));
  const auto lanes = static_cast<std::size_t>(state.choice.kernel.lanes);
  for (std::size_t worker = 0; worker < state.finals.size(); ++worker) {
    for (std::size_t i = 0; i < expected.size() * lanes; ++i) {
      if (state.finals[worker][i] == expected[i / lanes]) continue;
      return fmt::format("thread {}, chain {}, lane {}: {} instead of {}", worker, i / lanes, i % lanes,
                         state.finals[worker][i], expected[i / lanes]);
    }
  }
  return std::nullopt;
}

template <typename T>
std::optional<ProbeCase> make(Device& device, const ProbeRequest& request, int variant) {
  CpuDevice& cpu = as_cpu(device);
  const std::optional<Choice<T>> choice = choose<T>(cpu.isa(), request.quick, variant);
  if (!choice) return std::nullopt;
  ThreadPool& pool = cpu.pool();
  auto state = std::make_shared<FmaState<T>>();
  state->choice = *choice;
  // Whole turns of the longest unrolled loop.
  state->rounds = std::llround(static_cast<double>(kRounds / 16) * request.scale) * 16;
  for (int chain = 0; chain < choice->kernel.chains; ++chain) state->initial.push_back(T(1) + T(chain) / T(32));
  state->finals.assign(static_cast<std::size_t>(pool.size()), std::vector<T>(kMaxFmaChains * kMaxFmaLanes));

  ProbeCase probe;
  const FmaKernel<T>& kernel = choice->kernel;
  probe.variant = fmt::format("{}, {} chains x {} steps, {}, {} threads", to_string(choice->isa), kernel.chains,
                              kernel.unroll, has_fma(choice->isa) ? "fma" : "mul + add", pool.size());
  probe.amount = 2.0 * static_cast<double>(state->rounds) * kernel.chains * kernel.lanes * pool.size();
  probe.work.flops[kPipe<T>] = probe.amount;
  probe.run = [state, &pool] {
    pool.run([&state](int worker) {
      state->choice.kernel.run(state->rounds, state->initial.data(),
                               state->finals[static_cast<std::size_t>(worker)].data());
    });
  };
  probe.verify = [state] { return check(*state); };
  return probe;
}

/// Bits of the units behind one FMA pipe, and how that is known.
struct DataPath {
  int bits = 0;
  const char* source = "";
};

DataPath data_path(Isa isa) {
  const int width = isa == Isa::avx512 ? 512 : isa == Isa::avx2 ? 256 : 128;
#if defined(__x86_64__)
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  // AMD says how wide its units are (FP128, FP256 and FP512 are bits 0, 2 and 3); Intel does not.
  if (__get_cpuid(0x8000001a, &eax, &ebx, &ecx, &edx) != 0 && (eax & 0xdU) != 0) {
    const int wired = (eax & 8U) != 0 ? 512 : (eax & 4U) != 0 ? 256 : 128;
    return {std::min(width, wired), "CPUID 8000_001A"};
  }
#endif
  return {width, "assumed as wide as the registers"};
}

template <typename T>
std::optional<Limit> limit(const Device& device, std::optional<double> core_hz) {
#if defined(__x86_64__)
  if (!core_hz) return std::nullopt;
  const CpuDevice& cpu = as_cpu(device);
  const DataPath path = data_path(cpu.isa());
  const int lanes = path.bits / 8 / static_cast<int>(sizeof(T));
  // Every AVX2 server core since Haswell and Zen has two; no register of the CPU says so.
  constexpr int kPipes = 2;
  Limit limit;
  limit.value = *core_hz * cpu.cores() * kPipes * 2.0 * lanes;
  limit.basis = fmt::format("{} cores x 2 FMA pipes (assumed) x {} lanes ({} bit, {}) x 2 FLOP x {:.0f} MHz (measured)",
                            cpu.cores(), lanes, path.bits, path.source, *core_hz / 1e6);
  return limit;
#else
  // AArch64 cores have between one and four NEON pipes, and nothing says how many.
  (void)device, (void)core_hz;
  return std::nullopt;
#endif
}

template <typename T>
Probe fma_probe() {
  Probe probe;
  probe.name = to_string(kPipe<T>);
  probe.device = DeviceKind::cpu;
  probe.kind = CeilingKind::compute;
  probe.pipe = kPipe<T>;
  probe.make = make<T>;
  probe.limit = limit<T>;
  return probe;
}

const ProbeRegistrar kRegistrar({fma_probe<float>(), fma_probe<double>()});

}  // namespace
}  // namespace roofline
