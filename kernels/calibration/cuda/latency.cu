// Latency by pointer chase: one thread follows a random cycle through a set; each loaded value is the next address.
// A launch continues where the previous one ended, so that a line of a set larger than L2 is visited again only
// after all others.
#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "device/cuda/check.hpp"
#include "device/cuda/throughput.hpp"
#include "kernels/calibration/cuda/chase.cuh"
#include "op/registry.hpp"

namespace roofline {
namespace {

constexpr int kWarp = 32;

/// A bijection of [0, 2^bits) that looks random: the p-th stop of the cycle. The cycle needs no table, and the end
/// of a chase is known without following it.
__host__ __device__ inline std::uint32_t stop_at(std::uint64_t position, int bits) {
  const std::uint32_t mask = static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1);
  auto x = static_cast<std::uint32_t>(position) & mask;
  x = (x * 0x9E3779B1u) & mask;
  x ^= x >> ((bits + 1) / 2);
  x = (x * 0x85EBCA6Bu) & mask;
  x ^= x >> ((bits + 1) / 2);
  return (x * 0xC2B2AE35u) & mask;
}

/// Position of the chase, and number of accesses so far.
struct Chase {
  std::uint64_t at = 0;  ///< an address; in shared memory, an offset
  std::uint64_t accesses = 0;
};

__global__ void lay_cycle_kernel(std::byte* set, int bits) {
  const std::uint64_t stops = std::uint64_t{1} << bits;
  for (std::uint64_t p = blockIdx.x * blockDim.x + threadIdx.x; p < stops; p += gridDim.x * blockDim.x) {
    std::byte* const next = set + stop_at(p + 1, bits) * kChaseStride;
    *reinterpret_cast<std::uint64_t*>(set + stop_at(p, bits) * kChaseStride) = reinterpret_cast<std::uint64_t>(next);
  }
}

/// kL1: the lanes first load one line each into L1, which is empty when a kernel starts; then one of them chases.
template <bool kL1>
__global__ void chase_kernel(const std::byte* set, Chase* chase, std::uint32_t accesses) {
  if constexpr (kL1) {
    std::uint64_t line;
    asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(line) : "l"(set + threadIdx.x * kChaseStride));
    __syncwarp();
  }
  if (threadIdx.x != 0) return;
  std::uint64_t at = chase->at;
#pragma unroll 16
  for (std::uint32_t i = 0; i < accesses; ++i) {
    if constexpr (kL1) {
      asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at));
    } else {
      asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at));
    }
  }
  *chase = {at, chase->accesses + accesses};
}

constexpr int kSharedBits = 7;

__global__ void shared_chase_kernel(Chase* chase, std::uint32_t accesses) {
  __shared__ std::uint32_t set[(1 << kSharedBits) * kChaseStride / 4];
  const auto base = static_cast<std::uint32_t>(__cvta_generic_to_shared(set));
  for (std::uint32_t p = threadIdx.x; p < 1u << kSharedBits; p += kWarp) {
    set[stop_at(p, kSharedBits) * (kChaseStride / 4)] = base + stop_at(p + 1, kSharedBits) * kChaseStride;
  }
  __syncwarp();
  if (threadIdx.x != 0) return;
  std::uint32_t at = base + static_cast<std::uint32_t>(chase->at);
#pragma unroll 16
  for (std::uint32_t i = 0; i < accesses; ++i) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at));
  *chase = {at - base, chase->accesses + accesses};
}

/// The chase must be where a replay says.
std::optional<std::string> check_chase(CudaDevice& device, Buffer& state, std::uint64_t base, int bits,
                                       std::uint32_t accesses) {
  Chase chase;
  device.download(&chase, state.data(), sizeof chase);
  const std::uint64_t expected = base + stop_at(chase.accesses, bits) * kChaseStride;
  if (chase.accesses == 0 || chase.accesses % accesses != 0) {
    return fmt::format("{} accesses, not a multiple of {}", chase.accesses, accesses);
  }
  if (chase.at == expected) return std::nullopt;
  return fmt::format("pointer chase at {:#x} after {} accesses, expected {:#x}", chase.at, chase.accesses, expected);
}

ProbeCase base_case(const char* place, int bits, std::uint32_t accesses) {
  ProbeCase made;
  made.working_set_bytes = static_cast<double>(kChaseStride << bits);
  made.variant = fmt::format("one thread, a random cycle of {} lines{} ({:g} KiB)", 1u << bits, place,
                             made.working_set_bytes / 1024);
  made.amount = accesses;
  return made;
}

std::shared_ptr<Buffer> make_state(CudaDevice& device, std::uint64_t base, int bits) {
  const std::shared_ptr<Buffer> state = shared_buffer(device, sizeof(Chase));
  const Chase start{.at = base + stop_at(0, bits) * kChaseStride, .accesses = 0};
  device.upload(state->data(), &start, sizeof start);
  return state;
}

template <bool kL1>
ProbeCase global_case(CudaDevice& device, std::shared_ptr<Buffer> set, int bits, std::uint32_t accesses) {
  auto* const data = static_cast<std::byte*>(set->data());
  const auto base = reinterpret_cast<std::uint64_t>(data);
  lay_cycle_kernel<<<512, 256, 0, device.stream()>>>(data, bits);
  check_launch("writing the pointer cycle");
  const std::shared_ptr<Buffer> state = make_state(device, base, bits);

  ProbeCase made = base_case("", bits, accesses);
  made.instruction = "LDG.E";
  made.code = looks_for(chase_kernel<kL1>, made.instruction);
  made.run = [=, stream = device.stream()] {
    chase_kernel<kL1><<<1, kL1 ? kWarp : 1, 0, stream>>>(static_cast<const std::byte*>(set->data()),
                                                         static_cast<Chase*>(state->data()), accesses);
    check_launch("pointer-chase kernel");
  };
  made.verify = [=, &device] { return check_chase(device, *state, base, bits, accesses); };
  return made;
}

/// Lines that exceed 4 x L2, after rounding their number.
ProbeCase hbm_case(CudaDevice& device, double scale) {
  const auto lines = static_cast<std::uint64_t>(4 * device.properties().l2_bytes / static_cast<double>(kChaseStride));
  const int bits = static_cast<int>(std::bit_width(lines - 1));
  return chase_case(device, shared_buffer(device, kChaseStride << bits), bits,
                    static_cast<std::uint32_t>(2048 * scale));
}

/// 2 MiB, or half of a smaller L2: more than one SM's L1, which these loads bypass, and within the nearer partition
/// of a large L2. The first round trip has HBM's latency, so it is done before the first launch.
ProbeCase l2_case(CudaDevice& device, double scale) {
  const auto half = static_cast<std::uint64_t>(device.properties().l2_bytes / 2 / static_cast<double>(kChaseStride));
  const int bits = std::min(14, static_cast<int>(std::bit_width(half)) - 1);
  ProbeCase made =
      chase_case(device, shared_buffer(device, kChaseStride << bits), bits, static_cast<std::uint32_t>(4096 * scale));
  const CudaProperties& gpu = device.properties();
  made.nearer_cache_bytes = l1_bytes(gpu.major, gpu.minor).value_or(0);
  chase_all(device, made, bits);
  return made;
}

ProbeCase l1_case(CudaDevice& device, double scale) {
  constexpr int kBits = 5;
  return global_case<true>(device, shared_buffer(device, kChaseStride << kBits), kBits,
                           static_cast<std::uint32_t>(32768 * scale));
}

ProbeCase shared_case(CudaDevice& device, double scale) {
  const auto accesses = static_cast<std::uint32_t>(32768 * scale);
  const std::shared_ptr<Buffer> state = make_state(device, 0, kSharedBits);
  ProbeCase made = base_case(" of shared memory", kSharedBits, accesses);
  made.nearer_cache_bytes = 0;
  made.instruction = "LDS";
  made.code = looks_for(shared_chase_kernel, made.instruction);
  made.run = [=, stream = device.stream()] {
    shared_chase_kernel<<<1, kWarp, 0, stream>>>(static_cast<Chase*>(state->data()), accesses);
    check_launch("shared-memory pointer-chase kernel");
  };
  made.verify = [=, &device] { return check_chase(device, *state, 0, kSharedBits, accesses); };
  return made;
}

Probe latency_probe(Level level, ProbeCase (*make)(CudaDevice&, double)) {
  Probe probe;
  probe.name = fmt::format("latency.{}", to_string(level));
  probe.device = DeviceKind::cuda;
  probe.kind = CeilingKind::latency;
  probe.level = level;
  probe.role = Role::reference;
  probe.make = [make](Device& device, const ProbeRequest& request, int variant) -> std::optional<ProbeCase> {
    if (variant > 0) return std::nullopt;
    return make(as_cuda(device), request.scale);
  };
  return probe;
}

const ProbeRegistrar kRegistrar({latency_probe(Level::hbm, hbm_case), latency_probe(Level::l2, l2_case),
                                 latency_probe(Level::l1, l1_case), latency_probe(Level::shared, shared_case)});

}  // namespace

ProbeCase chase_case(CudaDevice& device, std::shared_ptr<Buffer> set, int bits, std::uint32_t accesses) {
  return global_case<false>(device, std::move(set), bits, accesses);
}

void chase_all(CudaDevice& device, const ProbeCase& made, int bits) {
  for (double done = 0; done < 1 << bits; done += made.amount) made.run();
  device.synchronize();
}

}  // namespace roofline
