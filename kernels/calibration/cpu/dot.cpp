// Dot-product ceilings of all cores of a CPU: bf16 if it has instructions for it, and int8 on every CPU. Operands
// are random and chosen so that every sum is exact, and every lane of every chain is checked.
#include "kernels/calibration/cpu/dot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "device/cpu/cpu_device.hpp"
#include "kernels/calibration/cpu/guided_rounds.hpp"
#include "kernels/calibration/cpu/pace.hpp"
#include "kernels/calibration/cpu/paced_clock.hpp"
#include "kernels/calibration/probes.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

// About 0.4 ms at 6 to 12 cycles per round.
constexpr std::int64_t kDotRounds = std::int64_t{1} << 17;
constexpr std::int64_t kLeastDotRounds = 512;
// Sums of bf16 products are integers that fp32 represents exactly: a chunk is at most half of an equal share, the
// audit asks for twice as many rounds, and kDotRounds x kMostDot < 2^24.
constexpr int kMostDot = 96;

using Operand = std::array<std::uint32_t, kDotLanes>;

struct Operands {
  std::array<Operand, kDotOperands> left;
  Operand right;
};

/// An integer of up to 8 bits as bf16, which has as many mantissa bits: the upper half of the fp32.
std::uint32_t to_bf16(int value) { return std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16U; }
double from_bf16(std::uint32_t bits) { return std::bit_cast<float>(bits << 16U); }

std::uint32_t part(std::uint32_t word, unsigned first, unsigned bits) { return word >> first & ((1U << bits) - 1); }
std::int64_t signed_part(std::uint32_t word, unsigned first, unsigned bits) {
  return std::bit_cast<std::int32_t>(word << (32 - first - bits)) >> (32 - bits);
}

/// What one step adds to a lane, by the definition of the instruction; `left` and `right` are whole registers.
std::int64_t dot(DotStep step, const std::uint32_t* left, const std::uint32_t* right, int lanes, int lane) {
  std::int64_t sum = 0;
  switch (step) {
    case DotStep::bf16_pairs:
      for (const unsigned bit : {0U, 16U})
        sum += std::llround(from_bf16(part(left[lane], bit, 16)) * from_bf16(part(right[lane], bit, 16)));
      break;
    case DotStep::int16_pairs:
      for (const unsigned bit : {0U, 16U}) sum += signed_part(left[lane], bit, 16) * signed_part(right[lane], bit, 16);
      break;
    case DotStep::int16_halves:
      for (const int number : {lane, lane + lanes}) {
        const unsigned bit = number % 2 == 0 ? 0U : 16U;
        sum += signed_part(left[number / 2], bit, 16) * signed_part(right[number / 2], bit, 16);
      }
      break;
    case DotStep::mixed_bytes:
      for (const unsigned bit : {0U, 8U, 16U, 24U})
        sum += std::int64_t{part(left[lane], bit, 8)} * signed_part(right[lane], bit, 8);
      break;
    case DotStep::signed_bytes:
      for (const unsigned bit : {0U, 8U, 16U, 24U})
        sum += signed_part(left[lane], bit, 8) * signed_part(right[lane], bit, 8);
      break;
  }
  return sum;
}

std::uint32_t random_word(DotStep step, std::mt19937& random) {
  if (products_of(step) == 4) return static_cast<std::uint32_t>(random());
  std::uniform_int_distribution<int> whole(-127, 127);
  const auto number = [&] {
    return is_bf16(step) ? to_bf16(whole(random)) : static_cast<std::uint32_t>(whole(random)) & 0xffffU;
  };
  const std::uint32_t upper = number() << 16U;
  return upper | number();
}

/// Redrawn until every step changes its lane, and a bf16 lane by little enough.
Operands random_operands(DotStep step, int lanes) {
  std::mt19937 random(20);
  Operands operands;
  std::generate(operands.right.begin(), operands.right.end(), [&] { return random_word(step, random); });
  for (Operand& left : operands.left) {
    std::generate(left.begin(), left.end(), [&] { return random_word(step, random); });
    for (int lane = 0; lane < lanes;) {
      const std::int64_t sum = dot(step, left.data(), operands.right.data(), lanes, lane);
      if (sum != 0 && !(is_bf16(step) && std::abs(sum) > kMostDot)) {
        ++lane;
        continue;
      }
      const int shared_by = step == DotStep::int16_halves ? 2 : 1;  // lanes that use a part of a word
      left[static_cast<std::size_t>(lane / shared_by)] = random_word(step, random);
      lane -= lane % shared_by;
    }
  }
  return operands;
}

struct DotState {
  struct alignas(64) Worker {
    std::vector<std::uint32_t> totals;
    std::int64_t rounds = 0;
  };

  DotKernel kernel;
  std::vector<std::uint32_t> left, right;  // in the layout of the kernel
  std::vector<Worker> workers;
  GuidedRounds rounds;

  void run(int number) {
    Worker& worker = workers[static_cast<std::size_t>(number)];
    std::fill(worker.totals.begin(), worker.totals.end(), 0);
    worker.rounds = 0;
    for (std::int64_t count = rounds.next_chunk(); count > 0; count = rounds.next_chunk()) {
      kernel.run(count, left.data(), right.data(), worker.totals.data());
      worker.rounds += count;
    }
  }
};

std::optional<std::string> check(const DotState& state) {
  const DotKernel& kernel = state.kernel;
  const auto lanes = static_cast<std::size_t>(kernel.lanes);
  std::int64_t rounds = 0;
  for (const DotState::Worker& worker : state.workers) {
    rounds += worker.rounds;
    for (std::size_t i = 0; i < lanes * static_cast<std::size_t>(kernel.chains); ++i) {
      const std::size_t lane = i % lanes;
      const std::uint32_t* left = &state.left[i / lanes % kDotOperands * lanes];
      const auto expected = static_cast<std::uint32_t>(
          worker.rounds * dot(kernel.step, left, state.right.data(), kernel.lanes, static_cast<int>(lane)));
      if (worker.totals[i] == expected) continue;
      return fmt::format("thread {}, chain {}, lane {}: {:#x} instead of {:#x}", &worker - state.workers.data(),
                         i / lanes, lane, worker.totals[i], expected);
    }
  }
  if (rounds != state.rounds.all) return fmt::format("{} rounds instead of {}", rounds, state.rounds.all);
  return std::nullopt;
}

/// The kernels that this CPU supports at a level; if it has dot-product units there, only those.
std::vector<DotKernel> usable_kernels(Pipe pipe, Isa isa) {
  const DotKernels kernels = with_isa(isa, []<Isa level>() { return dot_kernels<level>(); });
  std::vector<DotKernel> usable;
  for (int k = 0; k < kernels.count; ++k) {
    const DotKernel& kernel = kernels.first[k];
    if (is_bf16(kernel.step) == (pipe == Pipe::bf16) && (!kernel.unit || has(*kernel.unit))) usable.push_back(kernel);
  }
  if (!usable.empty() && usable.front().unit)
    std::erase_if(usable, [](const DotKernel& kernel) { return !kernel.unit; });
  return usable;
}

/// The clock among these steps, on all threads.
std::function<std::optional<double>()> clock_of(const std::shared_ptr<DotState>& state, ThreadPool& pool) {
  using Totals = std::vector<std::uint32_t>;
  const auto loop_of = [&](int additions, auto run) {
    return PacedLoop<Totals>{static_cast<double>(additions), [state, run](std::int64_t rounds, Totals& totals) {
                               run(rounds, state->left.data(), state->right.data(), totals.data());
                             }};
  };
  std::vector<PacedLoop<Totals>> paced;
  for (int i = 0; i < kPaceCount; ++i) {
    const PacedDot& dot = state->kernel.paced[i];
    paced.push_back(loop_of(dot.additions, dot.run));
  }
  constexpr std::int64_t kRounds = 8192;
  return paced_clock(pool, pool.size(), kRounds, Totals((kMaxDotChains + 1) * kDotLanes), loop_of(0, state->kernel.run),
                     paced);
}

std::optional<ProbeCase> make(Pipe pipe, Device& device, const ProbeRequest& request, int variant) {
  CpuDevice& cpu = as_cpu(device);
  const std::vector<DotKernel> kernels = usable_kernels(pipe, cpu.isa());
  if (variant >= static_cast<int>(request.quick ? std::min<std::size_t>(1, kernels.size()) : kernels.size())) {
    return std::nullopt;
  }
  ThreadPool& pool = cpu.pool();
  auto state = std::make_shared<DotState>();
  state->kernel = kernels[static_cast<std::size_t>(variant)];
  state->rounds.all = std::llround(kDotRounds * request.scale) * pool.size();
  state->rounds.min_chunk = kLeastDotRounds;
  state->rounds.workers = pool.size();
  const int lanes = state->kernel.lanes;
  const Operands operands = random_operands(state->kernel.step, lanes);
  for (const Operand& left : operands.left) state->left.insert(state->left.end(), left.begin(), left.begin() + lanes);
  state->right.assign(operands.right.begin(), operands.right.begin() + lanes);
  state->workers.assign(static_cast<std::size_t>(pool.size()), {std::vector<std::uint32_t>(kMaxDotChains * kDotLanes)});

  ProbeCase probe;
  probe.variant = fmt::format("{} chains, {} threads", state->kernel.chains, pool.size());
  probe.instruction = state->kernel.instruction;
  probe.amount =
      2.0 * static_cast<double>(state->rounds.all) * state->kernel.chains * lanes * products_of(state->kernel.step);
  probe.work.flops[pipe] = probe.amount;
  probe.run = [state, &pool] {
    state->rounds.begin();
    pool.run([&state](int worker) { state->run(worker); });
  };
  probe.verify = [state] { return check(*state); };
  probe.clock = clock_of(state, pool);
  probe.operands = [state] {
    const auto left = std::as_bytes(std::span(state->left));
    const auto right = std::as_bytes(std::span(state->right));
    std::vector<std::byte> bytes(left.begin(), left.end());
    bytes.insert(bytes.end(), right.begin(), right.end());
    return bytes;
  };
  return probe;
}

// Cores that issue fewer have one pipe, or issue one such instruction every other cycle, or add the products of pairs
// on the same pipes; no register reports which.
constexpr int kPipes = 2;

std::optional<Limit> limit(Pipe pipe, const Device& device, std::optional<double> core_hz) {
#if defined(__x86_64__)
  const std::vector<DotKernel> kernels = usable_kernels(pipe, as_cpu(device).isa());
  if (!core_hz || kernels.empty()) return std::nullopt;
  const DotKernel& kernel = kernels.front();
  const int cores = as_cpu(device).cores();
  const int products = products_of(kernel.step);
  return Limit{.value = *core_hz * cores * kPipes * kernel.lanes * products * 2.0,
               .basis = fmt::format(
                   "{} cores x 2 pipes (assumed) x {} lanes x {} products x 2 operations x {:.0f} MHz (measured)",
                   cores, kernel.lanes, products, *core_hz / 1e6),
               .assumed_issue = kPipes};
#else
  // As for NEON's multiply-adds (fma.cpp).
  (void)pipe, (void)device, (void)core_hz;
  return std::nullopt;
#endif
}

Probe dot_probe(Pipe pipe) {
  Probe probe = compute_probe(DeviceKind::cpu, pipe);
  probe.sustained = true;
  probe.unsupported = [pipe](const Device& device) -> std::optional<std::string> {
    if (!usable_kernels(pipe, as_cpu(device).isa()).empty()) return std::nullopt;
    return fmt::format("no {} dot-product instruction at the instruction-set level in use", to_string(pipe));
  };
  probe.make = [pipe](Device& device, const ProbeRequest& request, int variant) {
    return make(pipe, device, request, variant);
  };
  probe.limit = [pipe](const Device& device, std::optional<double> core_hz) { return limit(pipe, device, core_hz); };
  return probe;
}

const ProbeRegistrar kRegistrar({dot_probe(Pipe::bf16), dot_probe(Pipe::int8)});

}  // namespace
}  // namespace roofline
