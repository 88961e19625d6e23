// Hopper's tensor peaks: warpgroup matrix instructions (wgmma) with both operands in shared memory. Verified: every
// accumulator of the last round, of blocks on many SMs, against exact sums; and that every block and round gave the
// same bits (a checksum of one accumulator per thread and round).
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "device/cuda/check.hpp"
#include "kernels/blocks/cuda/hopper.hpp"
#include "kernels/blocks/cuda/wgmma.cuh"
#include "kernels/calibration/cuda/tensor.cuh"

namespace roofline {
namespace {

constexpr int kGroupThreads = 128;
/// Rows of A and of B (n) per instruction, and the resulting accumulators per thread.
constexpr int kM = 64;
constexpr int kN = 256;
constexpr int kAccumulators = kM * kN / kGroupThreads;
/// A row of an operand's tile: four steps, the span of the 128-byte swizzle.
constexpr int kRowBytes = 128;
constexpr int kStepsInRow = kRowBytes / wgmma::kStepBytes;
/// Each round restarts from zero, because fp8's 14-bit sums would saturate: 64 instructions.
constexpr int kRepeats = 16;
/// Accumulators that a block stores per thread, selected by its index. Storing all would be 17 MB.
constexpr int kStored = 8;
constexpr int kTurns = kAccumulators / kStored;

template <int kGroups>
constexpr int kTileRows = kN + kGroups* kM;

template <typename T>
__device__ unsigned bits_of(T value) {
  unsigned bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// Every warpgroup multiplies its own 64 rows with the block's 256, kRepeats times in each of `rounds` rounds.
/// `operands`: the 256 rows of B, then the 64 of each warpgroup, of kRowBytes each. `out`: per block kStored words
/// per thread, then the checksums.
template <typename T, int kGroups, int kBlocks>
__global__ void __launch_bounds__(kGroups* kGroupThreads, kBlocks)
    wgmma_kernel(const uint4* operands, unsigned* out, int rounds) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  constexpr int kChunks = kRowBytes / 16;
  extern __shared__ __align__(1024) uint4 tiles[];
  for (int i = static_cast<int>(threadIdx.x); i < kTileRows<kGroups> * kChunks; i += kGroups * kGroupThreads) {
    const int row = i / kChunks;
    tiles[row * kChunks + (i % kChunks ^ (row % 8))] = operands[i];  // the 128-byte swizzle avoids bank conflicts
  }
  fence_async_proxy();
  __syncthreads();

  const int group = static_cast<int>(threadIdx.x) / kGroupThreads;
  const std::uint64_t b = wgmma::descriptor(tiles);
  const std::uint64_t a = wgmma::descriptor(tiles + (kN + group * kM) * kChunks);
  wgmma::Accumulator<T> d[kAccumulators] = {};
  unsigned checksum = 0;
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    wgmma::fence();
#pragma unroll
    for (int i = 0; i < kRepeats * kStepsInRow; ++i) {
      const int step = i % kStepsInRow * wgmma::kStepBytes;
      wgmma::Product<T, kN>::run(d, wgmma::advance(a, step), wgmma::advance(b, step), i > 0);
    }
    wgmma::commit();
    wgmma::wait<0>();
    checksum += bits_of(d[0]);
  }

  unsigned* const own = out + std::size_t{blockIdx.x} * blockDim.x * (kStored + 1) + threadIdx.x;
#pragma unroll
  for (int i = 0; i < kAccumulators; ++i) {
    if (static_cast<int>(blockIdx.x) % kTurns == i / kStored) own[i % kStored * blockDim.x] = bits_of(d[i]);
  }
  own[kStored * blockDim.x] = checksum;
#endif
}

struct Shape {
  Pipe pipe;
  int groups;
  int blocks;  ///< in all
  int rounds;
  int threads() const { return groups * kGroupThreads; }
  std::size_t words() const { return std::size_t(blocks) * static_cast<std::size_t>(threads()) * (kStored + 1); }
};

double value_of(Pipe pipe, unsigned bits) {
  if (pipe == Pipe::tensor_int8) return static_cast<std::int32_t>(bits);
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return double{value};
}

/// `sums`: of one round, (64 rows of each warpgroup) x 256.
std::optional<std::string> compare(const Shape& shape, const std::vector<unsigned>& words,
                                   const std::vector<double>& sums) {
  const double tolerance = accumulation_error(shape.pipe, sums);
  const int threads = shape.threads();
  const auto word = [&](int block, int slot, int thread) {
    return words[(std::size_t(block) * (kStored + 1) + std::size_t(slot)) * std::size_t(threads) + std::size_t(thread)];
  };
  for (int block = 0; block < shape.blocks; ++block) {
    for (int thread = 0; thread < threads; ++thread) {
      for (int slot = 0; slot < kStored; ++slot) {
        const int i = block % kTurns * kStored + slot;
        const int row = thread / kGroupThreads * kM + wgmma::row_of(thread % kGroupThreads, i);
        const int column = wgmma::column_of(thread % kGroupThreads, i);
        const double computed = value_of(shape.pipe, word(block, slot, thread));
        const double expected = sums[static_cast<std::size_t>(row * kN + column)];
        if (!(std::abs(computed - expected) <= tolerance)) {
          return fmt::format("block {}: {} at ({}, {}), expected {}", block, computed, row, column, expected);
        }
      }
      // Block 0 stores the accumulator of the checksums.
      if (word(block, kStored, thread) != static_cast<unsigned>(shape.rounds) * word(0, 0, thread)) {
        return fmt::format("block {}, thread {}: results differ between rounds", block, thread);
      }
    }
  }
  return std::nullopt;
}

struct Instruction {
  const char* opcode;
  int k;
  const char* type;
};

Instruction instruction_of(Pipe pipe) {
  switch (pipe) {
    case Pipe::tensor_tf32:
      return {"HGMMA", 8, "tf32"};
    case Pipe::tensor_fp8:
      return {"QGMMA", 32, "e4m3"};
    case Pipe::tensor_int8:
      return {"IGMMA", 32, "int8"};
    default:
      return {"HGMMA", 16, pipe == Pipe::tensor_fp16 ? "fp16" : "bf16"};
  }
}

template <typename T, int kGroups, int kBlocks>
ProbeCase make_case(CudaDevice& device, Pipe pipe, Fill fill, double scale) {
  constexpr auto kKernel = wgmma_kernel<T, kGroups, kBlocks>;
  constexpr std::size_t kTileBytes = std::size_t{kTileRows<kGroups>} * kRowBytes;
  const auto [opcode, k, type] = instruction_of(pipe);
  const double operations = 2.0 * kM * kN * k * kRepeats * kStepsInRow * kGroups;  // of a block's round
  const Shape shape{pipe, kGroups, device.properties().sm_count * kBlocks,
                    tensor_rounds(device, pipe, operations * kBlocks, 1, scale)};
  const Operands operands = upload_operands(device, pipe, kTileBytes, fill);
  const std::span<const std::byte> rows(operands.host);
  std::vector<double> sums = row_products(pipe, rows.subspan(kN * kRowBytes), rows.first(kN * kRowBytes), kRowBytes);
  for (double& sum : sums) sum *= kRepeats;
  const auto out = shared_buffer(device, static_cast<std::int64_t>(shape.words() * sizeof(unsigned)));
  device.fill(out->data(), std::byte{0xFF}, out->size());
  check(cudaFuncSetAttribute(kKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(kTileBytes)),
        "setting the shared memory size");

  ProbeCase made;
  made.variant = fmt::format("{} warpgroup{}, {} block{} per SM{}", kGroups, kGroups == 1 ? "" : "s", kBlocks,
                             kBlocks == 1 ? "" : "s", fill == Fill::zeros ? ", zeros" : "");
  made.instruction = fmt::format("{} {}x{}x{} {}", opcode, kM, kN, k, type);
  made.amount = operations * shape.blocks * shape.rounds;
  made.work.flops[pipe] = made.amount;
  made.work.bytes[Level::hbm] = {.read = static_cast<double>(kTileBytes), .write = static_cast<double>(out->size())};
  made.run = [=, stream = device.stream(), from = operands.device] {
    kKernel<<<static_cast<unsigned>(shape.blocks), static_cast<unsigned>(shape.threads()), kTileBytes, stream>>>(
        static_cast<const uint4*>(from->data()), static_cast<unsigned*>(out->data()), shape.rounds);
    check_launch("wgmma kernel");
  };
  made.verify = [=, &device, sums = std::move(sums)] {
    std::vector<unsigned> words(shape.words());
    device.download(words.data(), out->data(), out->size());
    return compare(shape, words, sums);
  };
  if (fill == Fill::random) made.operands = sample_of(device, operands.device);
  made.code = looks_for(kKernel, opcode);
  return made;
}

// Two warpgroups per block are fastest on an H200: one leaves the tensor cores idle between rounds (0.986 of the
// rate), three gain nothing (0.998, as two).
template <typename T>
std::optional<ProbeCase> make(CudaDevice& device, Pipe pipe, Fill fill, const ProbeRequest& request, int variant) {
  if (variant == 0) return make_case<T, 2, 1>(device, pipe, fill, request.scale);
  if (variant == 1 && !request.quick) return make_case<T, 1, 2>(device, pipe, fill, request.scale);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> wgmma_unsupported(const CudaDevice& device, Pipe pipe) {
  if (pipe == Pipe::tensor_fp64) return "wgmma does not support fp64";
  return hopper_missing(device, Hopper::wgmma, wgmma_kernel<__nv_bfloat16, 2, 1>);
}

std::optional<ProbeCase> wgmma_case(CudaDevice& device, Pipe pipe, Fill fill, const ProbeRequest& request,
                                    int variant) {
  switch (pipe) {
    case Pipe::tensor_bf16:
      return make<__nv_bfloat16>(device, pipe, fill, request, variant);
    case Pipe::tensor_fp16:
      return make<__half>(device, pipe, fill, request, variant);
    case Pipe::tensor_tf32:
      return make<float>(device, pipe, fill, request, variant);
    case Pipe::tensor_fp8:
      return make<__nv_fp8_e4m3>(device, pipe, fill, request, variant);
    case Pipe::tensor_int8:
      return make<std::int8_t>(device, pipe, fill, request, variant);
    default:
      return std::nullopt;
  }
}

}  // namespace roofline
