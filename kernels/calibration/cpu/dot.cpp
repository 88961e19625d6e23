// What the CPU's dot-product instructions reach on all cores, for comparison with its FMA roofs: bf16.dot and int8.dot.
// Operands are random and chosen so that every sum is exact, and every lane of every chain is checked.
#include "kernels/calibration/cpu/dot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "device/cpu/cpu_device.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

// Some 0.2 ms at 6 to 12 cycles a round.
constexpr std::int64_t kRounds = std::int64_t{1} << 16;
// Sums of bf16 products are whole numbers that fp32 holds exactly: 2 x kRounds x kMostDot < 2^24.
constexpr int kMostDot = 96;

using Operand = std::array<std::uint32_t, kDotLanes>;

struct Operands {
  std::array<Operand, kDotOperands> left;
  Operand right;
};

/// A whole number of up to 8 bits as bf16, which has as many: the upper half of the fp32.
std::uint32_t to_bf16(int value) { return std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16U; }
double from_bf16(std::uint32_t bits) { return std::bit_cast<float>(bits << 16U); }

/// What one step adds to a lane, by the definition of the instruction.
std::int64_t dot(Pipe pipe, std::uint32_t left, std::uint32_t right) {
  if (pipe == Pipe::bf16) {
    return std::llround(from_bf16(left & 0xffffU) * from_bf16(right & 0xffffU) +
                        from_bf16(left >> 16U) * from_bf16(right >> 16U));
  }
  std::int64_t sum = 0;
  for (unsigned byte = 0; byte < 32; byte += 8) {  // unsigned bytes on the left, signed ones on the right
    sum += static_cast<std::int64_t>(left >> byte & 0xffU) * static_cast<std::int8_t>(right >> byte & 0xffU);
  }
  return sum;
}

std::uint32_t random_element(Pipe pipe, std::mt19937& random) {
  if (pipe != Pipe::bf16) return static_cast<std::uint32_t>(random());
  std::uniform_int_distribution<int> whole(-127, 127);
  return to_bf16(whole(random)) << 16U | to_bf16(whole(random));
}

/// Drawn again until every step changes its lane, and a bf16 lane by little enough.
Operands random_operands(Pipe pipe) {
  std::mt19937 random(20);
  Operands operands;
  for (std::size_t lane = 0; lane < kDotLanes; ++lane) {
    operands.right[lane] = random_element(pipe, random);
    for (Operand& left : operands.left) {
      std::int64_t step = 0;
      do {
        left[lane] = random_element(pipe, random);
        step = dot(pipe, left[lane], operands.right[lane]);
      } while (step == 0 || (pipe == Pipe::bf16 && std::abs(step) > kMostDot));
    }
  }
  return operands;
}

struct DotState {
  DotKernel kernel;
  Pipe pipe = Pipe::bf16;
  std::int64_t rounds = 0;
  std::vector<std::uint32_t> left, right;          // as the kernel wants them
  std::vector<std::vector<std::uint32_t>> finals;  // one a worker

  void run(int worker) {
    kernel.run(rounds, left.data(), right.data(), finals[static_cast<std::size_t>(worker)].data());
  }
};

std::optional<std::string> check(const DotState& state) {
  const auto lanes = static_cast<std::size_t>(state.kernel.lanes);
  for (std::size_t worker = 0; worker < state.finals.size(); ++worker) {
    for (std::size_t i = 0; i < lanes * static_cast<std::size_t>(state.kernel.chains); ++i) {
      const std::size_t lane = i % lanes;
      const std::size_t operand = i / lanes % kDotOperands;
      const std::int64_t sum = state.rounds * dot(state.pipe, state.left[operand * lanes + lane], state.right[lane]);
      const std::uint32_t expected = state.pipe == Pipe::bf16
                                         ? std::bit_cast<std::uint32_t>(static_cast<float>(sum))
                                         : static_cast<std::uint32_t>(sum);  // modulo 2^32, as the instruction
      if (state.finals[worker][i] == expected) continue;
      return fmt::format("thread {}, chain {}, lane {}: {:#x} instead of {:#x}", worker, i / lanes, lane,
                         state.finals[worker][i], expected);
    }
  }
  return std::nullopt;
}

/// Those of the highest level that has any.
std::vector<DotKernel> usable_kernels(Pipe pipe) {
  std::vector<DotKernel> usable;
  for (const Isa isa : usable_isas()) {
    const DotKernels kernels = with_isa(isa, []<Isa level>() { return dot_kernels<level>(); });
    std::vector<DotKernel> here;
    for (int k = 0; k < kernels.count; ++k) {
      const bool wanted = (kernels.first[k].unit == DotUnit::avx512_bf16) == (pipe == Pipe::bf16);
      if (wanted && has(kernels.first[k].unit)) here.push_back(kernels.first[k]);
    }
    if (!here.empty()) usable = here;
  }
  return usable;
}

std::optional<ProbeCase> make(Pipe pipe, Device& device, const ProbeRequest& request, int variant) {
  const std::vector<DotKernel> kernels = usable_kernels(pipe);
  if (variant >= static_cast<int>(request.quick ? std::min<std::size_t>(1, kernels.size()) : kernels.size())) {
    return std::nullopt;
  }
  ThreadPool& pool = as_cpu(device).pool();
  auto state = std::make_shared<DotState>();
  state->kernel = kernels[static_cast<std::size_t>(variant)];
  state->pipe = pipe;
  state->rounds = std::llround(kRounds * request.scale);
  const Operands operands = random_operands(pipe);
  const int lanes = state->kernel.lanes;
  for (const Operand& left : operands.left) state->left.insert(state->left.end(), left.begin(), left.begin() + lanes);
  state->right.assign(operands.right.begin(), operands.right.begin() + lanes);
  state->finals.assign(static_cast<std::size_t>(pool.size()), std::vector<std::uint32_t>(kMaxDotChains * kDotLanes));

  ProbeCase probe;
  probe.variant = fmt::format("{} chains, {} threads", state->kernel.chains, pool.size());
  probe.instruction = state->kernel.instruction;
  probe.amount =
      2.0 * static_cast<double>(state->rounds) * state->kernel.chains * lanes * state->kernel.products * pool.size();
  probe.work.flops[pipe] = probe.amount;
  probe.run = [state, &pool] { pool.run([&state](int worker) { state->run(worker); }); };
  probe.verify = [state] { return check(*state); };
  probe.operands = [state] {
    const auto left = std::as_bytes(std::span(state->left));
    const auto right = std::as_bytes(std::span(state->right));
    std::vector<std::byte> bytes(left.begin(), left.end());
    bytes.insert(bytes.end(), right.begin(), right.end());
    return bytes;
  };
  return probe;
}

std::optional<Limit> limit(Pipe pipe, const Device& device, std::optional<double> core_hz) {
  const std::vector<DotKernel> kernels = usable_kernels(pipe);
  if (!core_hz || kernels.empty()) return std::nullopt;
  const DotKernel& kernel = kernels.front();
  // Cores that give half of it have one pipe, or start one of these every other cycle; no register says so.
  constexpr int kPipes = 2;
  const int cores = as_cpu(device).cores();
  Limit limit;
  limit.value = *core_hz * cores * kPipes * kernel.lanes * kernel.products * 2.0;
  limit.basis =
      fmt::format("{} cores x 2 pipes (assumed) x {} lanes x {} products x 2 operations x {:.0f} MHz (measured)", cores,
                  kernel.lanes, kernel.products, *core_hz / 1e6);
  return limit;
}

Probe dot_probe(const char* name, Pipe pipe) {
  Probe probe;
  probe.name = name;
  probe.device = DeviceKind::cpu;
  probe.kind = CeilingKind::compute;
  probe.pipe = pipe;
  probe.role = Role::reference;
  probe.unsupported = [pipe](const Device&) -> std::optional<std::string> {
    if (!usable_kernels(pipe).empty()) return std::nullopt;
    return pipe == Pipe::bf16 ? "this CPU has no AVX512_BF16 at the level in use"
                              : "this CPU has neither AVX512_VNNI nor AVX-VNNI at the level in use";
  };
  probe.make = [pipe](Device& device, const ProbeRequest& request, int variant) {
    return make(pipe, device, request, variant);
  };
  probe.limit = [pipe](const Device& device, std::optional<double> core_hz) { return limit(pipe, device, core_hz); };
  return probe;
}

const ProbeRegistrar kRegistrar({dot_probe("bf16.dot", Pipe::bf16), dot_probe("int8.dot", Pipe::tensor_int8)});

}  // namespace
}  // namespace roofline
