// Tensor peaks by warp-level matrix instructions (mma.sync), operands and accumulators in registers: the roof on
// Ampere and Ada, and for fp64 everywhere; a reference on Hopper and later, where other types do not reach the full
// rate. Verified as in wgmma.cu: accumulators of the last round against exact sums, and a checksum of every round.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "device/cuda/check.hpp"
#include "kernels/blocks/cuda/hopper.hpp"
#include "kernels/calibration/cuda/mma_sync.cuh"
#include "kernels/calibration/cuda/tensor.cuh"

namespace roofline {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
/// Per round, each with every slice of k and every chain.
constexpr int kRepeats = 16;

/// Slices of k that a chain alternates between, so that operands change; the large fp64 shape has no registers for
/// two.
template <typename M>
constexpr int kSlices = M::kA > 4 ? 1 : 2;

/// Bytes of a row of A or B.
template <typename M>
constexpr int kRowBytes = kSlices<M>* M::kWords* static_cast<int>(sizeof(typename M::Word));

/// The bits of an accumulator, as stored.
template <typename M>
using Bits = std::conditional_t<sizeof(typename M::Accumulator) == 8, unsigned long long, unsigned>;

template <typename M>
__device__ Bits<M> bits_of(typename M::Accumulator value) {
  Bits<M> bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// Every warp multiplies its own rows with kChains times eight columns that all warps share. `operands`: kM rows
/// per warp, then the columns as rows along k. `out`: per block M::kC words per thread (of the chain selected by
/// its index), then the checksums.
template <typename M, int kChains>
__global__ void __launch_bounds__(kThreads, 1)
    mma_sync_kernel(const typename M::Word* operands, Bits<M>* out, int rounds) {
#if __CUDA_ARCH__ >= 800
  constexpr int kRow = kSlices<M> * M::kWords;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int g = lane / 4;
  const int t = lane % 4;
  const typename M::Word* const rows = operands + static_cast<int>(threadIdx.x) / 32 * M::kM * kRow;
  const typename M::Word* const columns = operands + kWarps * M::kM * kRow;
  typename M::Word a[kSlices<M>][M::kA];
  typename M::Word b[kSlices<M>][kChains][M::kB];
#pragma unroll
  for (int s = 0; s < kSlices<M>; ++s) {
#pragma unroll
    for (int i = 0; i < M::kA; ++i) a[s][i] = rows[(g + 8 * (i % 2)) * kRow + s * M::kWords + t + 4 * (i / 2)];
#pragma unroll
    for (int chain = 0; chain < kChains; ++chain) {
#pragma unroll
      for (int i = 0; i < M::kB; ++i) {
        b[s][chain][i] = columns[(chain * M::kN + g) * kRow + s * M::kWords + t + 4 * i];
      }
    }
  }

  typename M::Accumulator c[kChains][M::kC] = {};
  Bits<M> checksum = 0;
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < kChains * M::kC; ++i) c[i / M::kC][i % M::kC] = 0;
#pragma unroll
    for (int i = 0; i < kRepeats * kSlices<M>; ++i) {
#pragma unroll
      for (int chain = 0; chain < kChains; ++chain) {
        M::multiply(c[chain], a[i % kSlices<M>], b[i % kSlices<M>][chain]);
      }
    }
    checksum += bits_of<M>(c[0][0]);
  }

  Bits<M>* const own = out + std::size_t{blockIdx.x} * kThreads * (M::kC + 1) + threadIdx.x;
  const int turn = static_cast<int>(blockIdx.x) % kChains;
#pragma unroll
  for (int i = 0; i < M::kC; ++i) {
    Bits<M> bits = 0;
#pragma unroll
    for (int chain = 0; chain < kChains; ++chain) bits |= chain == turn ? bits_of<M>(c[chain][i]) : 0;
    own[i * kThreads] = bits;
  }
  own[M::kC * kThreads] = checksum;
#endif
}

/// `sums`: of one round, (kM rows of each warp) x (8 columns of each chain).
template <typename M>
std::optional<std::string> compare(int blocks, int chains, int rounds, const std::vector<Bits<M>>& words,
                                   const std::vector<double>& sums) {
  const double tolerance = accumulation_error(M::kPipe, sums);
  const auto word = [&](int block, int slot, int thread) {
    return words[(std::size_t(block) * (M::kC + 1) + std::size_t(slot)) * kThreads + std::size_t(thread)];
  };
  for (int block = 0; block < blocks; ++block) {
    for (int thread = 0; thread < kThreads; ++thread) {
      const int g = thread % 32 / 4;
      for (int i = 0; i < M::kC; ++i) {
        const int row = thread / 32 * M::kM + g + 8 * (i / 2);
        const int column = block % chains * M::kN + thread % 4 * 2 + i % 2;
        const Bits<M> bits = word(block, i, thread);
        typename M::Accumulator computed;
        std::memcpy(&computed, &bits, sizeof computed);
        const double expected = sums[static_cast<std::size_t>(row * chains * M::kN + column)];
        if (!(std::abs(static_cast<double>(computed) - expected) <= tolerance)) {
          return fmt::format("block {}: {} at ({}, {}), expected {}", block, computed, row, column, expected);
        }
      }
      if (word(block, M::kC, thread) != static_cast<Bits<M>>(rounds) * word(0, 0, thread)) {
        return fmt::format("block {}, thread {}: results differ between rounds", block, thread);
      }
    }
  }
  return std::nullopt;
}

template <typename M, int kChains>
ProbeCase make_case(CudaDevice& device, Fill fill, double scale, int blocks_per_sm) {
  constexpr auto kKernel = mma_sync_kernel<M, kChains>;
  constexpr std::size_t kRowsBytes = std::size_t{kWarps} * M::kM * kRowBytes<M>;
  constexpr std::size_t kColumnsBytes = std::size_t{kChains} * M::kN * kRowBytes<M>;
  const int k = kSlices<M> * M::kWords * static_cast<int>(sizeof(typename M::Word)) / operand_bytes(M::kPipe);
  const double operations = 2.0 * M::kM * M::kN * k * kRepeats * kChains * kWarps;  // of a block's round
  const int blocks = device.properties().sm_count * blocks_per_sm;
  const double share = device.properties().major == 9 && M::kPipe != Pipe::tensor_fp64 ? 2.0 / 3 : 1;
  const int rounds = tensor_rounds(device, M::kPipe, operations * blocks_per_sm, share, scale);
  const Operands operands = upload_operands(device, M::kPipe, kRowsBytes + kColumnsBytes, fill);
  const std::span<const std::byte> rows(operands.host);
  std::vector<double> sums = row_products(M::kPipe, rows.first(kRowsBytes), rows.subspan(kRowsBytes), kRowBytes<M>);
  for (double& sum : sums) sum *= kRepeats;
  const std::size_t count = std::size_t(blocks) * kThreads * (M::kC + 1);
  const auto out = shared_buffer(device, static_cast<std::int64_t>(count * sizeof(Bits<M>)));
  device.fill(out->data(), std::byte{0xFF}, out->size());

  ProbeCase made;
  made.variant = fmt::format("{} chains, {} block{} of {} per SM{}", kChains, blocks_per_sm,
                             blocks_per_sm == 1 ? "" : "s", kThreads, fill == Fill::zeros ? ", zeros" : "");
  made.instruction = M::kName;
  made.amount = operations * blocks * rounds;
  made.work.flops[M::kPipe] = made.amount;
  made.work.bytes[Level::hbm] = {.read = static_cast<double>(operands.host.size()),
                                 .write = static_cast<double>(out->size())};
  made.run = [=, stream = device.stream(), from = operands.device] {
    kKernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(static_cast<const typename M::Word*>(from->data()),
                                                                    static_cast<Bits<M>*>(out->data()), rounds);
    check_launch("mma.sync kernel");
  };
  made.verify = [=, &device, sums = std::move(sums)] {
    std::vector<Bits<M>> words(count);
    device.download(words.data(), out->data(), out->size());
    return compare<M>(blocks, kChains, rounds, words, sums);
  };
  if (fill == Fill::random) made.operands = sample_of(device, operands.device);
  made.code = looks_for(kKernel, M::kOpcode);
  return made;
}

template <typename M>
std::optional<ProbeCase> make(CudaDevice& device, Fill fill, const ProbeRequest& request, int variant) {
  if (request.quick && variant > 0) return std::nullopt;
  if (variant == 0) return make_case<M, 8>(device, fill, request.scale, 2);
  if (variant == 1) return make_case<M, 8>(device, fill, request.scale, 1);
  return std::nullopt;
}

/// Hopper's large shape if available, otherwise Ampere's small one.
std::optional<ProbeCase> make_fp64(CudaDevice& device, Fill fill, const ProbeRequest& request, int variant) {
  using mma_sync::Fp64Large;
  using mma_sync::Fp64Small;
  if (device.properties().major < 9) return make<Fp64Small>(device, fill, request, variant);
  if (request.quick && variant > 0) return std::nullopt;
  if (variant == 0) return make_case<Fp64Large, 4>(device, fill, request.scale, 1);
  if (variant == 1) return make_case<Fp64Large, 2>(device, fill, request.scale, 2);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> mma_sync_unsupported(const CudaDevice& device, Pipe pipe) {
  const CudaProperties& gpu = device.properties();
  const int capability = gpu.major * 10 + gpu.minor;
  if (capability < 80) return "mma.sync with this type needs compute capability 8.0 or later";
  const void* kernel = reinterpret_cast<const void*>(&mma_sync_kernel<mma_sync::Bf16, 8>);
  if (pipe == Pipe::tensor_fp8) {
    if (capability != 89) return "native fp8 mma.sync needs compute capability 8.9";
    kernel = reinterpret_cast<const void*>(&mma_sync_kernel<mma_sync::E4m3, 8>);
  }
  if (has_body(kernel)) return std::nullopt;
  return fmt::format("this binary contains no sm_{} code: rebuild with it in -DROOFLINE_CUDA_GENCODE", capability);
}

std::optional<ProbeCase> mma_sync_case(CudaDevice& device, Pipe pipe, Fill fill, const ProbeRequest& request,
                                       int variant) {
  switch (pipe) {
    case Pipe::tensor_fp64:
      return make_fp64(device, fill, request, variant);
    case Pipe::tensor_tf32:
      return make<mma_sync::Tf32>(device, fill, request, variant);
    case Pipe::tensor_fp16:
      return make<mma_sync::Fp16>(device, fill, request, variant);
    case Pipe::tensor_bf16:
      return make<mma_sync::Bf16>(device, fill, request, variant);
    case Pipe::tensor_fp8:
      return make<mma_sync::E4m3>(device, fill, request, variant);
    case Pipe::tensor_int8:
      return make<mma_sync::Int8>(device, fill, request, variant);
    default:
      return std::nullopt;
  }
}

}  // namespace roofline
