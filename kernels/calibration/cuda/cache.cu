// Cache ceilings of a GPU: L1 read, and L2 read, write and copy, by repeated passes over sets that fit in them.
//
// l2.read counts the bytes that SMs receive. Hardware counters of an H200 show that L2's own ports (64 byte per
// cycle of the L2 clock and slice, 10.3 TB/s) are then 88 % busy, at 9.0 TB/s; the rest are requests of several SMs
// for one line that are merged on the way. The smaller the set, the more of them: 12 TB/s at 8 MiB, 20 at 1 MiB. The
// set is therefore 0.4 of L2, where they are 5 %; past half of L2 lines of the farther partition miss.
//
// l2.copy gives each block its own part. Blocks that copy the same lines synchronise while a launch lasts: more and
// more of their requests are merged, and the rate grows with the length of the launch.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "device/cuda/check.hpp"
#include "device/cuda/throughput.hpp"
#include "kernels/calibration/cuda/stream.cuh"
#include "kernels/calibration/cuda/walk.cuh"
#include "kernels/calibration/probes.hpp"
#include "op/registry.hpp"

namespace roofline::cache_cuda {
namespace {

constexpr double kL1PortBytes = 128;
constexpr double kL2PortBytes = 64;
constexpr double kL2Part = 0.4;

std::string mebibytes(double bytes) { return fmt::format("{:.4g} MiB", bytes / (1024.0 * 1024.0)); }

/// 4 GiB per launch, or 16 for levels faster than L2, so that start and end of a launch are negligible.
constexpr std::int64_t kBytes = std::int64_t{4} << 30;

/// kGroup as in walk_kernel.
template <From kFrom, int kThreads, int kInFlight, int kGroup>
ProbeCase read_case(CudaDevice& device, std::int64_t set_bytes, int blocks_per_sm, std::int64_t wanted_bytes,
                    double scale) {
  const std::shared_ptr<Buffer> set = shared_buffer(device, set_bytes);
  fill_random<float>(device, set->data(), set_bytes / 4, 1);
  ProbeCase made =
      walk_case<kFrom, kThreads, kInFlight, kGroup>(device, set, set_bytes, blocks_per_sm, wanted_bytes, scale);
  made.variant = fmt::format("{} set, {} x 16 B in flight, {} blocks of {} per SM", mebibytes(made.working_set_bytes),
                             kInFlight, blocks_per_sm, kThreads);
  return made;
}

/// The same 64 KiB in every L1.
std::optional<ProbeCase> make_l1_read(Device& device, const ProbeRequest& request, int variant) {
  constexpr std::int64_t kSet = 65536;
  CudaDevice& cuda = as_cuda(device);
  if (request.quick && variant > 0) return std::nullopt;
  std::optional<ProbeCase> made;
  if (variant == 0) made = read_case<From::any, 512, 8, 8>(cuda, kSet, 2, 4 * kBytes, request.scale);
  if (variant == 1) made = read_case<From::any, 1024, 4, 4>(cuda, kSet, 1, 4 * kBytes, request.scale);
  if (made) made->work.bytes[Level::l1].read = made->amount;
  return made;
}

/// A part of L2, in whole rows of what a block of 512 reads at once.
std::int64_t l2_part(const CudaDevice& device) {
  constexpr std::int64_t kRow = 512 * kVectorBytes;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(kL2Part * device.properties().l2_bytes) / kRow) * kRow;
}

/// Every SM reads the whole set, which must be far larger than the L1 of one SM, whose contents are private.
double l1_of_an_sm(const CudaDevice& device) {
  return l1_bytes(device.properties().major, device.properties().minor).value_or(0);
}

template <int kInFlight>
ProbeCase l2_read_case(CudaDevice& device, double scale) {
  const int blocks_per_sm = resident_blocks(walk_kernel<From::l2, 512, kInFlight, 1>, 512);
  return read_case<From::l2, 512, kInFlight, 1>(device, l2_part(device), blocks_per_sm, kBytes, scale);
}

/// Loads that bypass L1, by as many threads as an SM holds: with fewer, blocks synchronise with each other, and the
/// rate of the same launch varies between 9.6 and 10.3 TB/s.
std::optional<ProbeCase> make_l2_read(Device& device, const ProbeRequest& request, int variant) {
  CudaDevice& cuda = as_cuda(device);
  if (request.quick && variant > 0) return std::nullopt;
  std::optional<ProbeCase> made;
  if (variant == 0) made = l2_read_case<4>(cuda, request.scale);
  if (variant == 1) made = l2_read_case<2>(cuda, request.scale);
  if (!made) return std::nullopt;
  made->work.bytes[Level::l2].read = made->amount;
  made->nearer_cache_bytes = l1_of_an_sm(cuda);
  return made;
}

// --- l2.write, l2.copy: the same access pattern ---

constexpr int kThreads = 512;
constexpr int kInFlight = 4;

__device__ void store(uint4* at, uint4 value) {
  asm volatile("st.global.cg.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(at), "r"(value.x), "r"(value.y), "r"(value.z),
               "r"(value.w)
               : "memory");
}

/// Copies the set vector by vector, each block its own part, which begins `apart` vectors after the previous one;
/// or writes it if there is no source. Then blocks write one vector several times, with the same value. Checksums
/// are of what was written.
template <bool kCopy>
__global__ void __launch_bounds__(kThreads) walk_writing_kernel(uint4* __restrict__ to, const uint4* __restrict__ from,
                                                                Walk walk, std::uint32_t apart, std::uint32_t* sums) {
  if constexpr (kCopy) {
    to += std::size_t{blockIdx.x} * apart;
    from += std::size_t{blockIdx.x} * apart;
  }
  std::uint32_t at = walk.start(blockIdx.x) + threadIdx.x;
  at = at >= walk.vectors ? at - walk.vectors : at;
  std::uint32_t sum = 0;
  for (std::uint32_t round = 0; round < walk.rounds; ++round) {
    std::uint32_t index[kInFlight];
    uint4 value[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      index[i] = at;
      value[i] = kCopy ? load<From::l2>(from + at) : written_value(at);
      at += kThreads;
      at = at >= walk.vectors ? at - walk.vectors : at;
    }
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      store(to + index[i], value[i]);
      sum += sum_of(value[i]);
    }
  }
  sum = __reduce_add_sync(0xffffffffu, sum);
  if (threadIdx.x % 32 == 0) sums[blockIdx.x * (kThreads / 32) + threadIdx.x / 32] = sum;
}

/// Part of an array that each block copies, in units of 512 bytes (a warp): at least one vector per thread.
std::int64_t part_of_a_block(std::int64_t array_bytes, std::int64_t blocks) {
  constexpr std::int64_t kGrain = 32 * kVectorBytes;
  return std::max(kThreads * kVectorBytes, array_bytes / blocks / kGrain * kGrain);
}

template <bool kCopy>
ProbeCase writing_case(CudaDevice& device, int blocks_per_sm, double scale) {
  constexpr int kArrays = kCopy ? 2 : 1;
  const std::int64_t blocks = std::int64_t{device.properties().sm_count} * blocks_per_sm;
  const std::int64_t walked = kCopy ? part_of_a_block(l2_part(device) / kArrays, blocks) : l2_part(device);
  const std::int64_t bytes = kCopy ? walked * blocks : walked;  // of an array
  // A copy starts slowly: on an H100 a launch of 0.6 ms took 5 % longer than half of one of twice the work.
  const std::int64_t wanted = kCopy ? 4 * kBytes / kArrays : kBytes;
  const Walk walk = plan_walk(device, walked, blocks_per_sm, kThreads * kInFlight, wanted, scale);
  const std::uint32_t apart = kCopy ? walk.vectors : 0;
  // One buffer, and the same each time: the rate depends on where its pages are. On an H200 two buffers gave 8.3 to 8.7
  // TB/s, and on an H100 twice the work in other pages took 1.79 to 1.97 x the time.
  const std::shared_ptr<Buffer> to = device.scratch(static_cast<std::size_t>(bytes * kArrays));
  const std::shared_ptr<Buffer> sums = shared_buffer(device, std::int64_t{walk.blocks} * (kThreads / 32) * 4);
  const auto source = [to, bytes] {
    return kCopy ? reinterpret_cast<const uint4*>(static_cast<const std::byte*>(to->data()) + bytes) : nullptr;
  };
  device.fill(to->data(), std::byte{0xFF}, bytes);
  if (kCopy) fill_random<float>(device, static_cast<std::byte*>(to->data()) + bytes, bytes / 4, 1);

  ProbeCase made;
  made.working_set_bytes = static_cast<double>(bytes * kArrays);
  made.amount = static_cast<double>(walk.bytes() * kArrays);
  made.variant = fmt::format("{} set, {} x 16 B in flight, {} blocks of {} per SM", mebibytes(made.working_set_bytes),
                             kInFlight, blocks_per_sm, kThreads);
  // A block's part is smaller than L1, which its loads bypass.
  made.nearer_cache_bytes = kCopy ? 0 : l1_of_an_sm(device);
  made.work.bytes[Level::l2] = {.read = kCopy ? made.amount / 2 : 0, .write = made.amount / kArrays};
  made.instruction = "STG.E.128";
  made.code = looks_for(walk_writing_kernel<kCopy>, made.instruction);
  made.operands = sample_of(device, to);
  made.run = [=, stream = device.stream()] {
    walk_writing_kernel<kCopy><<<walk.blocks, kThreads, 0, stream>>>(static_cast<uint4*>(to->data()), source(), walk,
                                                                     apart, static_cast<std::uint32_t*>(sums->data()));
    check_launch("L2 writing kernel");
  };
  made.verify = [=, &device] {
    const Expect expect = kCopy ? Expect::copied : Expect::written;
    if (auto wrong = check_written(device, expect, to->data(), source(), nullptr, bytes / kVectorBytes)) return wrong;
    return check_walk(device, to->data(), walk, sums->data(), kThreads / 32, apart);
  };
  return made;
}

// --- probes ---

Probe cache_probe(Level level, Pattern pattern, decltype(Probe::make) make) {
  const std::string name = fmt::format("{}.{}", to_string(level), to_string(pattern));
  Probe probe = bandwidth_probe(DeviceKind::cuda, name, level, pattern);
  // An SM's port to L2 can take more than L2 gives to all SMs together: no probe approaches that limit.
  probe.least_of_limit = level == Level::l1 ? 0.85 : 0;
  probe.placements = level == Level::l2 ? 4 : 1;
  probe.make = std::move(make);
  probe.limit = [bytes = level == Level::l1 ? kL1PortBytes : kL2PortBytes](
                    const Device& device, std::optional<double> hz) { return port_limit(device, bytes, hz); };
  return probe;
}

template <bool kCopy>
std::optional<ProbeCase> make_l2_writing(Device& device, const ProbeRequest& request, int variant) {
  const std::array<int, 2> blocks_per_sm = {1, resident_blocks(walk_writing_kernel<kCopy>, kThreads)};
  if (variant >= 2 || (request.quick && variant > 0)) return std::nullopt;
  return writing_case<kCopy>(as_cuda(device), blocks_per_sm[static_cast<std::size_t>(variant)], request.scale);
}

const ProbeRegistrar kRegistrar({cache_probe(Level::l1, Pattern::read, make_l1_read),
                                 cache_probe(Level::l2, Pattern::read, make_l2_read),
                                 cache_probe(Level::l2, Pattern::write, make_l2_writing<false>),
                                 cache_probe(Level::l2, Pattern::copy, make_l2_writing<true>)});

}  // namespace
}  // namespace roofline::cache_cuda
