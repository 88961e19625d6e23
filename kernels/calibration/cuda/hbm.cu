// HBM bandwidth: reads, writes and mixes of them over a set far larger than L2. Bytes are those that the program
// requests; a GPU's L2 fetches nothing for a line that is written completely.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <vector>

#include "device/cuda/check.hpp"
#include "kernels/blocks/cuda/element.cuh"
#include "kernels/calibration/cuda/probe.cuh"
#include "kernels/calibration/cuda/stream.cuh"
#include "kernels/calibration/probes.hpp"
#include "op/registry.hpp"

namespace roofline::hbm_cuda {
namespace {

using Buffers = std::vector<std::shared_ptr<Buffer>>;

/// Bytes of all arrays of a case: 4 GiB, or what fits on a smaller GPU, so that start and end of a launch are
/// negligible; at least 4 x L2. Allocating and filling them takes 5 ms on an H200.
std::int64_t set_bytes(const CudaDevice& device, double scale) {
  const double room = device.free_memory_bytes() / 3;  // the audit doubles the set
  const double wanted = std::max(std::min(4.0 * (1u << 30), room), 4 * device.properties().l2_bytes);
  return static_cast<std::int64_t>(wanted * scale);
}

/// Arrays of `count` vectors each: outputs, filled with NaN-like poison, then random inputs.
Buffers make_arrays(CudaDevice& device, std::int64_t count, int outputs, int inputs) {
  Buffers buffers;
  for (int i = 0; i < outputs + inputs; ++i) {
    buffers.push_back(shared_buffer(device, count * kVectorBytes));
    if (i < outputs) {
      device.fill(buffers.back()->data(), std::byte{0xFF}, buffers.back()->size());
    } else {
      fill_random<float>(device, buffers.back()->data(), count * 4, static_cast<std::uint64_t>(i) + 1);
    }
  }
  return buffers;
}

const void* data(const Buffers& buffers, std::size_t i) { return i < buffers.size() ? buffers[i]->data() : nullptr; }

/// `blocks_per_sm` 0: one chunk per block.
template <int kThreads, int kInFlight>
ProbeCase read_case(CudaDevice& device, double scale, int blocks_per_sm) {
  constexpr std::int64_t kChunk = kThreads * kInFlight;
  const std::int64_t chunks = set_bytes(device, scale) / (kChunk * kVectorBytes);
  const std::int64_t n = chunks * kChunk;
  const Buffers buffers = make_arrays(device, n, 0, 1);
  const auto blocks = static_cast<unsigned>(blocks_per_sm == 0 ? chunks : device.properties().sm_count * blocks_per_sm);
  const std::shared_ptr<Buffer> sums = shared_buffer(device, blocks * sizeof(unsigned));
  ProbeCase made;
  made.variant = blocks_per_sm == 0
                     ? fmt::format("{} x 16 B per thread, blocks of {}", kInFlight, kThreads)
                     : fmt::format("{} x 16 B in flight, {} blocks of {} per SM", kInFlight, blocks_per_sm, kThreads);
  made.amount = static_cast<double>(n * kVectorBytes);
  made.work.bytes[Level::hbm].read = made.amount;
  made.working_set_bytes = made.amount;
  made.instruction = "LDG.E.128";
  made.code = looks_for(read_kernel<kThreads, kInFlight>, made.instruction);
  made.operands = sample_of(device, buffers[0]);
  made.run = [=, stream = device.stream()] {
    read_kernel<kThreads, kInFlight><<<blocks, kThreads, 0, stream>>>(static_cast<const uint4*>(data(buffers, 0)),
                                                                      chunks, static_cast<unsigned*>(sums->data()));
    check_launch("read kernel");
  };
  made.verify = [=, &device] { return check_read(device, *sums, data(buffers, 0), n); };
  return made;
}

void launch_writing(Pattern pattern, const Buffers& buffers, std::int64_t n, int threads, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(ceil_div(n, threads));
  void* const out = buffers[0]->data();
  if (pattern == Pattern::write) {
    write_kernel<<<blocks, threads, 0, stream>>>(static_cast<uint4*>(out), n);
  } else if (pattern == Pattern::copy) {
    copy_kernel<<<blocks, threads, 0, stream>>>(static_cast<uint4*>(out), static_cast<const uint4*>(data(buffers, 1)),
                                                n);
  } else {
    triad_kernel<<<blocks, threads, 0, stream>>>(static_cast<float4*>(out),
                                                 static_cast<const float4*>(data(buffers, 1)),
                                                 static_cast<const float4*>(data(buffers, 2)), n);
  }
  check_launch("streaming kernel");
}

void name_instruction(ProbeCase& made, Pattern pattern) {
  made.instruction = "STG.E.128";
  if (pattern == Pattern::write) made.code = looks_for(write_kernel, made.instruction);
  if (pattern == Pattern::copy) made.code = looks_for(copy_kernel, made.instruction);
  if (pattern == Pattern::triad) made.code = looks_for(triad_kernel, made.instruction);
}

/// Cases that write: the first array is the output.
ProbeCase writing_case(CudaDevice& device, double scale, Pattern pattern, int threads) {
  const int inputs = pattern == Pattern::write ? 0 : pattern == Pattern::copy ? 1 : 2;
  const std::int64_t n = set_bytes(device, scale) / ((1 + inputs) * kVectorBytes);
  const Buffers buffers = make_arrays(device, n, 1, inputs);
  ProbeCase made;
  made.variant = fmt::format("16 B per thread, blocks of {}", threads);
  made.amount = static_cast<double>((1 + inputs) * n * kVectorBytes);
  made.work.bytes[Level::hbm] = {.read = static_cast<double>(inputs * n * kVectorBytes),
                                 .write = static_cast<double>(n * kVectorBytes)};
  if (pattern == Pattern::triad) made.work.flops[Pipe::fp32] = 8.0 * static_cast<double>(n);
  made.working_set_bytes = made.amount;
  name_instruction(made, pattern);
  made.operands = sample_of(device, buffers[0]);
  made.run = [=, stream = device.stream()] { launch_writing(pattern, buffers, n, threads, stream); };
  const Expect expect = pattern == Pattern::write  ? Expect::written
                        : pattern == Pattern::copy ? Expect::copied
                                                   : Expect::triad;
  made.verify = [=, &device] {
    return check_written(device, expect, data(buffers, 0), data(buffers, 1), data(buffers, 2), n);
  };
  return made;
}

/// One stream of reads and one of writes.
template <int kReads, int kWrites>
ProbeCase mix_case(CudaDevice& device, double scale, int threads) {
  const std::int64_t blocks = set_bytes(device, scale) / ((kReads + kWrites) * kVectorBytes * threads);
  const std::int64_t n = blocks * threads;
  const std::shared_ptr<Buffer> to = make_arrays(device, n * kWrites, 1, 0).front();
  const std::shared_ptr<Buffer> from = make_arrays(device, n * kReads, 0, 1).front();
  ProbeCase made;
  made.variant =
      fmt::format("{} x 16 B read and {} written per thread, one stream each, blocks of {}", kReads, kWrites, threads);
  made.amount = static_cast<double>((kReads + kWrites) * n * kVectorBytes);
  made.work.bytes[Level::hbm] = {.read = static_cast<double>(kReads * n * kVectorBytes),
                                 .write = static_cast<double>(kWrites * n * kVectorBytes)};
  if (kReads == 2 && kWrites == 1) made.work.flops[Pipe::fp32] = 8.0 * static_cast<double>(n);
  made.working_set_bytes = made.amount;
  made.instruction = "STG.E.128";
  made.code = looks_for(mix_kernel<kReads, kWrites>, made.instruction);
  made.operands = sample_of(device, from);
  made.run = [=, stream = device.stream()] {
    mix_kernel<kReads, kWrites><<<static_cast<unsigned>(blocks), threads, 0, stream>>>(
        static_cast<uint4*>(to->data()), static_cast<const uint4*>(from->data()));
    check_launch("mixed streaming kernel");
  };
  made.verify = [=, &device] { return check_mixed<kReads, kWrites>(device, to->data(), from->data(), n, threads); };
  return made;
}

std::optional<ProbeCase> make_read(Device& device, const ProbeRequest& request, int variant) {
  CudaDevice& cuda = as_cuda(device);
  if (request.quick && variant > 1) return std::nullopt;
  // The best variant differs between two H200s, by 0.5 %.
  if (variant == 0) return read_case<512, 8>(cuda, request.scale, 0);
  if (variant == 1) return read_case<512, 8>(cuda, request.scale, 32);
  if (variant == 2) return read_case<512, 4>(cuda, request.scale, 4);
  return std::nullopt;
}

/// The block of a variant, the likely fastest first; nothing past the last.
template <std::size_t kCount>
std::optional<int> block_of(const std::array<int, kCount>& threads, const ProbeRequest& request, int variant) {
  const auto index = static_cast<std::size_t>(variant);
  return index < (request.quick ? 1 : kCount) ? std::optional(threads[index]) : std::nullopt;
}

std::optional<ProbeCase> make_writing(Device& device, const ProbeRequest& request, int variant, Pattern pattern) {
  const auto threads = block_of(std::array{512, 256, 1024, 128}, request, variant);
  if (!threads) return std::nullopt;
  return writing_case(as_cuda(device), request.scale, pattern, *threads);
}

template <int kReads, int kWrites>
std::optional<ProbeCase> make_mix(Device& device, const ProbeRequest& request, int variant) {
  const auto threads = block_of(std::array{1024, 128, 512}, request, variant);
  if (!threads) return std::nullopt;
  return mix_case<kReads, kWrites>(as_cuda(device), request.scale, *threads);
}

/// Three arrays after the two streams, which were 3 % faster on an H100 and 8 % on an H200 (docs/evidence/mixes.md).
std::optional<ProbeCase> make_triad(Device& device, const ProbeRequest& request, int variant) {
  if (auto made = make_mix<2, 1>(device, request, variant)) return made;
  return variant == 3 && !request.quick ? make_writing(device, request, 0, Pattern::triad) : std::nullopt;
}

std::optional<ProbeCase> make_pattern(Device& device, const ProbeRequest& request, int variant, Pattern pattern) {
  switch (pattern) {
    case Pattern::read:
      return make_read(device, request, variant);
    case Pattern::read4_write1:
      return make_mix<4, 1>(device, request, variant);
    case Pattern::triad:
      return make_triad(device, request, variant);
    case Pattern::read1_write2:
      return make_mix<1, 2>(device, request, variant);
    case Pattern::read1_write4:
      return make_mix<1, 4>(device, request, variant);
    default:
      return make_writing(device, request, variant, pattern);
  }
}

/// Two transfers per cycle of the memory clock, for every DDR-like GPU memory.
std::optional<Limit> memory_limit(const Device& device, std::optional<double>) {
  const CudaProperties& gpu = as_cuda(device).properties();
  if (gpu.max_memory_hz <= 0 || gpu.memory_bus_bits <= 0) return std::nullopt;
  return Limit{.value = 2 * gpu.max_memory_hz * gpu.memory_bus_bits / 8,
               .basis = fmt::format("2 x {:.0f} MHz x {} bit", gpu.max_memory_hz * 1e-6, gpu.memory_bus_bits)};
}

Probe hbm_probe(Pattern pattern) {
  Probe probe = bandwidth_probe(DeviceKind::cuda, fmt::format("hbm.{}", to_string(pattern)), Level::hbm, pattern);
  // Energy per byte is derived from sustained runs: of reads, and of both directions.
  probe.sustained = pattern == Pattern::read || pattern == Pattern::copy;
  // An H200 reaches 0.97 for reads, and 0.88 to 0.91 with writes.
  probe.least_of_limit = 0.8;
  probe.make = [pattern](Device& device, const ProbeRequest& request, int variant) {
    return make_pattern(device, request, variant, pattern);
  };
  probe.limit = memory_limit;
  return probe;
}

const ProbeRegistrar kRegistrar({hbm_probe(Pattern::read), hbm_probe(Pattern::write), hbm_probe(Pattern::copy),
                                 hbm_probe(Pattern::triad), hbm_probe(Pattern::read4_write1),
                                 hbm_probe(Pattern::read1_write2), hbm_probe(Pattern::read1_write4)});

}  // namespace
}  // namespace roofline::hbm_cuda
