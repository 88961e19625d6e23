// Matrix ceilings of the CPU: tensor.bf16, tensor.fp16 and tensor.int8, by AMX tiles on all threads. Every sum is
// checked to the last bit.
#include "kernels/calibration/cpu/tile_chains.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "device/cpu/amx.hpp"
#include "device/cpu/cpu_device.hpp"
#include "kernels/calibration/cpu/guided_rounds.hpp"
#include "kernels/calibration/cpu/paced_clock.hpp"
#include "kernels/calibration/cpu/tile_operands.hpp"
#include "kernels/calibration/probes.hpp"
#include "op/registry.hpp"

#if defined(__x86_64__)
namespace roofline {
namespace {

// About 0.4 ms at 64 cycles per round. A chunk is at most half of an equal share, and the audit asks for twice as
// many rounds: kRounds of a chunk must be exact.
constexpr std::int64_t kRounds = std::int64_t{1} << 14;
constexpr std::int64_t kLeastRounds = 64;

/// Multiplications and additions of one tile product.
template <typename T>
constexpr double kOperations = 2.0 * kTileRows* kTileRows* kTileDepth<T>;

template <typename T>
struct TileState {
  struct Worker {
    std::array<Tile, kBlockTiles> totals;
    std::int64_t rounds = 0;
  };

  TileOperands operands;
  std::vector<Worker> workers;
  GuidedRounds rounds;

  void run(int number) {
    Worker& worker = workers[static_cast<std::size_t>(number)];
    worker = {};
    for (std::int64_t count = rounds.next_chunk(); count > 0; count = rounds.next_chunk()) {
      if constexpr (kAmxIsBuilt) tile_chains<Isa::avx512, T>(count, operands, worker.totals.data());
      worker.rounds += count;
    }
  }
};

template <typename T>
std::optional<std::string> check(const TileState<T>& state) {
  for (int sum = 0; sum < kBlockTiles; ++sum) {
    for (int i = 0; i < kTileRows; ++i) {
      for (int j = 0; j < kTileRows; ++j) {
        const std::int64_t step = tile_step<T>(state.operands, sum, i, j);
        for (const auto& worker : state.workers) {
          const auto expected = static_cast<std::uint32_t>(worker.rounds * step);
          const std::uint32_t found = worker.totals[static_cast<std::size_t>(sum)].words[i][j];
          if (found == expected) continue;
          return fmt::format("thread {}, tile {}, element ({}, {}): {:#x} instead of {:#x}",
                             &worker - state.workers.data(), sum, i, j, found, expected);
        }
      }
    }
  }
  std::int64_t rounds = 0;
  for (const auto& worker : state.workers) rounds += worker.rounds;
  if (rounds != state.rounds.all) return fmt::format("{} rounds instead of {}", rounds, state.rounds.all);
  return std::nullopt;
}

/// The clock among the products, on all threads; empty without AMX kernels in this build.
template <typename T>
std::function<std::optional<double>()> clock_of([[maybe_unused]] const std::shared_ptr<TileState<T>>& state,
                                                [[maybe_unused]] ThreadPool& pool) {
  if constexpr (kAmxIsBuilt) {
    using Totals = std::array<Tile, kBlockTiles>;
    const auto loop_of = [&](double additions, auto chains) {
      return PacedLoop<Totals>{additions, [state, chains](std::int64_t rounds, Totals& totals) {
                                 chains(rounds, state->operands, totals.data());
                               }};
    };
    constexpr std::int64_t kClockRounds = 1024;
    return paced_clock(pool, pool.size(), kClockRounds, Totals{}, loop_of(0, tile_chains<Isa::avx512, T>),
                       {loop_of(kBlockTiles * kTilePaces[0], paced_tile_chains<Isa::avx512, T, kTilePaces[0]>),
                        loop_of(kBlockTiles * kTilePaces[1], paced_tile_chains<Isa::avx512, T, kTilePaces[1]>)});
  }
  return {};
}

template <typename T>
constexpr const char* kInstruction = std::is_same_v<T, Bf16>   ? "TDPBF16PS 16x16x32"
                                     : std::is_same_v<T, Fp16> ? "TDPFP16PS 16x16x32"
                                                               : "TDPBSSD 16x16x64";

template <typename T>
std::optional<ProbeCase> make(Pipe pipe, Device& device, const ProbeRequest& request, int variant) {
  if (variant > 0) return std::nullopt;
  ThreadPool& pool = as_cpu(device).pool();
  auto state = std::make_shared<TileState<T>>();
  state->rounds.all = std::llround(kRounds * request.scale) * pool.size();
  state->rounds.min_chunk = kLeastRounds;
  state->rounds.workers = pool.size();
  state->operands = random_tile_operands<T>(kRounds);
  state->workers.resize(static_cast<std::size_t>(pool.size()));

  ProbeCase probe;
  probe.variant = fmt::format("{} accumulator tiles, {} threads", kBlockTiles, pool.size());
  probe.instruction = kInstruction<T>;
  probe.amount = static_cast<double>(state->rounds.all) * kBlockTiles * kOperations<T>;
  probe.work.flops[pipe] = probe.amount;
  probe.run = [state, &pool] {
    state->rounds.begin();
    pool.run([&state](int worker) { state->run(worker); });
  };
  probe.verify = [state] { return check(*state); };
  probe.clock = clock_of(state, pool);
  probe.operands = [state] {
    const auto bytes = std::as_bytes(std::span(&state->operands, 1));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  return probe;
}

/// A product every 16 cycles: Intel's optimization manual, 20.5.
template <typename T>
std::optional<Limit> tile_limit(const Device& device, std::optional<double> core_hz) {
  if (!core_hz) return std::nullopt;
  constexpr double kCycles = 16;
  const int cores = as_cpu(device).cores();
  return Limit{
      .value = *core_hz * cores * kOperations<T> / kCycles,
      .basis = fmt::format("{} cores x 16 x 16 x {} products x 2 operations / {:g} cycles x {:.0f} MHz (measured)",
                           cores, kTileDepth<T>, kCycles, *core_hz / 1e6),
      .assumed_issue = 1 / kCycles};
}

template <typename T>
Probe tile_probe(Pipe pipe, DType dtype) {
  Probe probe = compute_probe(DeviceKind::cpu, pipe);
  probe.sustained = true;
  probe.unsupported = [dtype](const Device& device) { return amx_missing(dtype, as_cpu(device).isa()); };
  probe.make = [pipe](Device& device, const ProbeRequest& request, int variant) {
    return make<T>(pipe, device, request, variant);
  };
  probe.limit = tile_limit<T>;
  return probe;
}

const ProbeRegistrar kRegistrar({tile_probe<Bf16>(Pipe::tensor_bf16, DType::bf16),
                                 tile_probe<Fp16>(Pipe::tensor_fp16, DType::fp16),
                                 tile_probe<std::int8_t>(Pipe::tensor_int8, DType::int8)});

}  // namespace
}  // namespace roofline
#endif
