// fp32 and fp64 ceilings of the CPU: searches chains, unrolling and instruction-set level, and checks every chain
// bit by bit against a scalar replay. Besides the roofs of all cores at the best level there are references of one
// core and of lower levels.
#include "kernels/calibration/cpu/fma.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

#include "device/cpu/arm_cores.hpp"
#include "device/cpu/cpu_device.hpp"
#include "kernels/calibration/cpu/guided_rounds.hpp"
#include "kernels/calibration/cpu/pace.hpp"
#include "kernels/calibration/cpu/paced_clock.hpp"
#include "kernels/calibration/cpu/sve.hpp"
#include "kernels/calibration/probes.hpp"
#include "op/registry.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace roofline {
namespace {

// Whole iterations of the longest unrolled loop, about 0.4 ms at 5 cycles per round: dispatch takes 1 to 2 µs.
constexpr std::int64_t kLongestTurn = 16;
constexpr std::int64_t kTurns = std::int64_t{1} << 14;
constexpr std::int64_t kLeastTurns = 32;  // a microsecond

/// The part of the CPU that a probe measures.
struct Scope {
  std::optional<Isa> isa;  ///< std::nullopt: the best level there is
  bool one_core = false;
};

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
  std::string registers;  ///< the level's name, or SVE's
  FmaKernel<T> kernel;
  FmaKernels<T> level;  ///< where it is from
};

template <typename T>
FmaKernels<T> kernels_of(const SveKernels& sve) {
  if constexpr (std::is_same_v<T, float>) {
    return sve.fp32;
  } else {
    return sve.fp64;
  }
}

/// A roof searches all kernels of the best level, and one of the level below if that has FMA: wide registers may
/// lower the clock, or be executed as two halves. The same applies to SVE and NEON. References and quick
/// calibrations take the first two.
template <typename T>
std::vector<Choice<T>> choices(const Scope& scope, Isa best, bool quick) {
  const Isa isa = scope.isa.value_or(best);
  const bool all = !quick && !scope.isa && !scope.one_core;
  const SveKernels* sve = scope.isa ? nullptr : sve_kernels();
  const FmaKernels<T> kernels = sve != nullptr ? kernels_of<T>(*sve) : kernels_of<T>(isa);
  std::vector<Choice<T>> chosen;
  const auto add = [&chosen](Isa level, std::string_view registers, const FmaKernels<T>& of, int k) {
    chosen.push_back({level, std::string(registers), of.first[k], of});
  };
  for (int k = 0; k < (all ? kernels.count : std::min(2, kernels.count)); ++k) {
    add(isa, sve != nullptr ? "sve" : to_string(isa), kernels, k);
  }
  if (all && sve != nullptr) add(isa, to_string(isa), kernels_of<T>(isa), 0);
  if (all && isa == Isa::avx512) add(Isa::avx2, to_string(Isa::avx2), kernels_of<T>(Isa::avx2), 0);
  return chosen;
}

template <typename T>
struct FmaState {
  struct alignas(64) Worker {
    std::vector<T> state;
    std::int64_t rounds = 0;
  };

  Choice<T> choice;
  std::vector<T> initial;  ///< of each chain
  std::vector<Worker> workers;
  GuidedRounds rounds;

  void run(std::size_t number) {
    Worker& worker = workers[number];
    const auto lanes = static_cast<std::size_t>(choice.kernel.lanes);
    for (std::size_t i = 0; i < worker.state.size(); ++i) worker.state[i] = initial[i / lanes];
    worker.rounds = 0;
    for (std::int64_t count = rounds.next_chunk(); count > 0; count = rounds.next_chunk()) {
      choice.kernel.run(count, worker.state.data());
      worker.rounds += count;
    }
  }
};

/// Replays the chains as far as each worker has taken them.
template <typename T>
std::optional<std::string> check(const FmaState<T>& state) {
  using Worker = typename FmaState<T>::Worker;
  std::vector<const Worker*> workers;
  for (const Worker& worker : state.workers) workers.push_back(&worker);
  std::sort(workers.begin(), workers.end(), [](auto* a, auto* b) { return a->rounds < b->rounds; });
  const auto lanes = static_cast<std::size_t>(state.choice.kernel.lanes);
  std::vector<T> expected = state.initial;
  std::int64_t round = 0;
  std::int64_t rounds = 0;
  for (const Worker* worker : workers) {
    rounds += worker->rounds;
    for (; round < worker->rounds; ++round) {
      for (std::size_t chain = 0; chain < expected.size(); ++chain) {
        expected[chain] = fma_step(expected[chain], static_cast<int>(chain), has_fma(state.choice.isa));
      }
    }
    for (std::size_t i = 0; i < worker->state.size(); ++i) {
      if (worker->state[i] == expected[i / lanes]) continue;
      return fmt::format("thread {}, chain {}, lane {}: {} instead of {}", worker - state.workers.data(), i / lanes,
                         i % lanes, worker->state[i], expected[i / lanes]);
    }
  }
  if (rounds != state.rounds.all) return fmt::format("{} rounds instead of {}", rounds, state.rounds.all);
  return std::nullopt;
}

/// The clock among the steps of this level's first chains; empty if there are no paced kernels.
template <typename T>
std::function<std::optional<double>()> clock_of(const Choice<T>& choice, ThreadPool& pool, int threads) {
  if (choice.level.paced == nullptr) return {};
  using Loop = PacedLoop<std::vector<T>>;
  const auto loop_of = [](const FmaKernel<T>& kernel) {
    return Loop{static_cast<double>(kernel.additions) / kernel.unroll,
                [run = kernel.run](std::int64_t rounds, std::vector<T>& state) { run(rounds, state.data()); }};
  };
  const FmaKernel<T>& first = *choice.level.first;
  std::vector<Loop> paced;
  for (int i = 0; i < kPaceCount; ++i) paced.push_back(loop_of(choice.level.paced[i]));
  constexpr std::int64_t kRounds = 8192;
  constexpr std::size_t kApart = 64;  // the states of two workers share no cache line
  const std::size_t values = static_cast<std::size_t>(first.chains) * static_cast<std::size_t>(first.lanes);
  return paced_clock(pool, threads, kRounds, std::vector<T>(values + kApart, T(1)), loop_of(first), paced);
}

/// As in "VFMADD ps, 512 bit".
template <typename T>
std::string instruction_of(const Choice<T>& choice) {
#if defined(__x86_64__)
  const char* type = std::is_same_v<T, float> ? "ps" : "pd";
  const std::string name = has_fma(choice.isa) ? fmt::format("VFMADD {}", type) : fmt::format("MUL{0} + ADD{0}", type);
#else
  const std::string name = "FMLA";
#endif
  return fmt::format("{}, {} bit", name, choice.kernel.lanes * static_cast<int>(sizeof(T)) * 8);
}

template <typename T>
std::optional<ProbeCase> make(const Scope& scope, Device& device, const ProbeRequest& request, int variant) {
  CpuDevice& cpu = as_cpu(device);
  const std::vector<Choice<T>> chosen = choices<T>(scope, cpu.isa(), request.quick);
  if (variant >= static_cast<int>(chosen.size())) return std::nullopt;
  ThreadPool& pool = cpu.pool();
  const int threads = scope.one_core ? 1 : pool.size();
  auto state = std::make_shared<FmaState<T>>();
  state->choice = chosen[static_cast<std::size_t>(variant)];
  state->rounds.all = std::llround(static_cast<double>(kTurns) * request.scale) * kLongestTurn * threads;
  state->rounds.min_chunk = kLeastTurns * kLongestTurn;
  state->rounds.workers = threads;
  const FmaKernel<T>& kernel = state->choice.kernel;
  for (int chain = 0; chain < kernel.chains; ++chain) state->initial.push_back(T(1) + T(chain) / T(32));
  state->workers = std::vector<typename FmaState<T>::Worker>(static_cast<std::size_t>(threads));
  for (auto& worker : state->workers) worker.state.resize(static_cast<std::size_t>(kernel.chains * kernel.lanes));

  ProbeCase probe;
  const std::string cores = scope.one_core ? "one core" : fmt::format("{} threads", threads);
  probe.variant =
      fmt::format("{}, {} chains x {} steps, {}", state->choice.registers, kernel.chains, kernel.unroll, cores);
  probe.instruction = instruction_of(state->choice);
  if (scope.one_core) probe.below_peak = "one core";
  if (scope.isa)
    probe.below_peak = fmt::format("{} is not the widest instruction-set level of this CPU", to_string(*scope.isa));
  probe.amount = 2.0 * static_cast<double>(state->rounds.all) * kernel.chains * kernel.lanes;
  probe.work.flops[kPipe<T>] = probe.amount;
  probe.run = [state, &pool, one = scope.one_core] {
    state->rounds.begin();
    // The caller is worker 0; the others sleep.
    if (one) return state->run(0);
    pool.run([&state](int worker) { state->run(static_cast<std::size_t>(worker)); });
  };
  probe.verify = [state] { return check(*state); };
  probe.clock = clock_of(state->choice, pool, threads);
  return probe;
}

/// FLOPs of a core per cycle, and the source of that number.
struct Pipes {
  int pipes = 0;
  std::string pipes_source;
  int bits = 0;
  std::string bits_source;
};

#if defined(__aarch64__)
/// std::nullopt for an unknown core: cores have between one pipe and six, and no register reports the number.
std::optional<Pipes> pipes_of(const CpuDevice& cpu, const Scope& scope) {
  const ArmCore* core = find_arm_core(cpu.name().version);
  const SveKernels* sve = scope.isa ? nullptr : sve_kernels();
  if (core == nullptr) return std::nullopt;
  const int pipes = sve != nullptr ? core->sve_pipes : core->neon_pipes;
  if (pipes == 0) return std::nullopt;
  return Pipes{pipes, std::string(core->name), sve != nullptr ? sve->bits : 128, "full register width"};
}
#else
std::optional<Pipes> pipes_of(const CpuDevice& cpu, const Scope& scope) {
  const Isa isa = scope.isa.value_or(cpu.isa());
  // Every AVX2 server core since Haswell and Zen has two pipes; no CPU register says so. Without FMA it has as
  // many multipliers and adders: the same bound.
  Pipes found{2, "assumed", isa == Isa::avx512 ? 512 : isa == Isa::avx2 ? 256 : 128, "assumed full register width"};
#if defined(__x86_64__)
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  // AMD reports the width of its units (FP128, FP256 and FP512 are bits 0, 2 and 3); Intel does not.
  if (__get_cpuid(0x8000001a, &eax, &ebx, &ecx, &edx) != 0 && (eax & 0xdU) != 0) {
    found.bits = std::min(found.bits, (eax & 8U) != 0 ? 512 : (eax & 4U) != 0 ? 256 : 128);
    found.bits_source = "CPUID 8000_001A";
  }
#endif
  return found;
}
#endif

template <typename T>
std::optional<Limit> limit(const Scope& scope, const Device& device, std::optional<double> core_hz) {
  const CpuDevice& cpu = as_cpu(device);
  const std::optional<Pipes> found = pipes_of(cpu, scope);
  if (!core_hz || !found) return std::nullopt;
  const int lanes = found->bits / 8 / static_cast<int>(sizeof(T));
  const int cores = scope.one_core ? 1 : cpu.cores();
  return Limit{
      .value = *core_hz * cores * found->pipes * 2.0 * lanes,
      .basis = fmt::format("{} cores x {} {} pipes ({}) x {} lanes ({} bit, {}) x 2 FLOP x {:.0f} MHz (measured)",
                           cores, found->pipes, has_fma(scope.isa.value_or(cpu.isa())) ? "FMA" : "multiplication",
                           found->pipes_source, lanes, found->bits, found->bits_source, *core_hz / 1e6),
      .assumed_issue = static_cast<double>(found->pipes)};
}

std::optional<std::string> unsupported(const Scope& scope, const Device& device) {
  const CpuDevice& cpu = as_cpu(device);
  if (scope.isa && *scope.isa >= cpu.isa() && sve_kernels() == nullptr) {
    return fmt::format("the roof is measured at {} or a lower level", to_string(*scope.isa));
  }
  if (scope.one_core && cpu.info().units == 1) return "single thread: the roof is already that of one core";
  return std::nullopt;
}

template <typename T>
Probe fma_probe(const Scope& scope) {
  Probe probe = compute_probe(DeviceKind::cpu, kPipe<T>);
  if (scope.one_core) probe.name += kOneCore;
  if (scope.isa) probe.name += fmt::format(".{}", to_string(*scope.isa));
  probe.role = scope.isa || scope.one_core ? Role::reference : Role::roof;
  probe.sustained = probe.role == Role::roof;
  probe.unsupported = [scope](const Device& device) { return unsupported(scope, device); };
  probe.make = [scope](Device& device, const ProbeRequest& request, int variant) {
    return make<T>(scope, device, request, variant);
  };
  probe.limit = [scope](const Device& device, std::optional<double> core_hz) {
    return limit<T>(scope, device, core_hz);
  };
  return probe;
}

template <typename T>
std::vector<Probe> fma_probes() {
  std::vector<Probe> probes = {fma_probe<T>({}), fma_probe<T>({.isa = {}, .one_core = true})};
  probes.push_back(fma_probe<T>({.isa = Isa::baseline}));
#if defined(__x86_64__)
  probes.push_back(fma_probe<T>({.isa = Isa::avx2}));
#endif
  return probes;
}

const ProbeRegistrar kFp32(fma_probes<float>());
const ProbeRegistrar kFp64(fma_probes<double>());

}  // namespace
}  // namespace roofline
