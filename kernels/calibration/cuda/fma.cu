// Arithmetic peaks of a GPU's CUDA cores: multiply-adds in fp64, fp32, packed fp16 and bf16, and int32. Independent
// chains in registers, no memory access until the end, every bit replayed on the host.
#include <fmt/core.h>

#include <cmath>
#include <cstring>
#include <type_traits>

#include "device/cuda/check.hpp"
#include "kernels/calibration/cuda/chain.cuh"
#include "op/registry.hpp"

namespace roofline::fma_cuda {
namespace {

/// A chain alternates between x * factor[0] + addend[0] and x * factor[1] + addend[1]. Two factors whose product is
/// nearly 1, and addends that cancel, nearly restore the x of two steps before: values stay random for any length,
/// while a single factor below 1 would soon reach a fixed point in every chain.
template <typename T>
struct Steps {
  T factor[2];
  T addend[2];
};

/// The element of one pipe: contents of a register, device arithmetic, and the same on the host.
template <Pipe kPipe>
struct Element;

template <typename T, typename Bits>
struct Scalar {
  using Value = T;
  using Word = Bits;
  static constexpr int kResults = 1;
  static T start(std::uint64_t index) {
    // All 53 bits of fp64.
    return static_cast<T>(random_value(1, index)) +
           static_cast<T>(sizeof(T) == 8 ? random_value(2, index) * 0x1p-24 : 0);
  }
  template <int kTurn>
  static __device__ T step(T x, const Steps<T>& steps) {
    if constexpr (sizeof(T) == 8) return fma(x, steps.factor[kTurn], steps.addend[kTurn]);
    return fmaf(x, steps.factor[kTurn], steps.addend[kTurn]);
  }
  static T step_on_host(T x, T factor, T addend) { return std::fma(x, factor, addend); }
  // 1271 * 1650 = 2^21 - 2: exact in 11 bits each.
  static Steps<T> steps() {
    constexpr T kSecond = static_cast<T>(-1650.0 / 2048);
    constexpr T kAddend = static_cast<T>(0.4375);
    return {{static_cast<T>(-1271.0 / 1024), kSecond}, {kAddend, -kSecond * kAddend}};
  }
};

template <>
struct Element<Pipe::fp64> : Scalar<double, unsigned long long> {
  static constexpr const char* kInstruction = "DFMA";
};

template <>
struct Element<Pipe::fp32> : Scalar<float, unsigned> {
  static constexpr const char* kInstruction = "FFMA";
};

template <>
struct Element<Pipe::int32> {
  using Value = unsigned;
  using Word = unsigned;
  static constexpr int kResults = 1;
  static constexpr const char* kInstruction = "IMAD";
  static unsigned start(std::uint64_t index) { return random_bits(1, index); }
  template <int kTurn>
  static __device__ unsigned step(unsigned x, const Steps<unsigned>& steps) {
    return x * steps.factor[kTurn] + steps.addend[kTurn];
  }
  static unsigned step_on_host(unsigned x, unsigned factor, unsigned addend) { return x * factor + addend; }
  // Linear congruential generators with full period (Numerical Recipes, and Marsaglia's).
  static Steps<unsigned> steps() { return {{1664525u, 69069u}, {1013904223u, 1u}}; }
};

/// Two 16-bit values from their bits, as the instruction's immediate.
template <typename Pair>
__device__ Pair constant(unsigned bits) {
  Pair pair;
  memcpy(&pair, &bits, sizeof pair);
  return pair;
}

// Two results per register. Factors are immediates, the bits of those in steps(): HFMA2 takes none from a uniform
// register, and three vector registers per instruction limit an H200 to 0.84 (8 chains) to 0.95 (32) of the rate. On
// the host, a product of two 16-bit floats and its sum with a third are exact in fp64, so rounding it once equals
// the fused instruction.
template <>
struct Element<Pipe::fp16> {
  using Value = __half2;
  using Word = unsigned;
  static constexpr int kResults = 2;
  static constexpr const char* kInstruction = "HFMA2";
  static __half2 start(std::uint64_t index) {
    return __floats2half2_rn(random_value(1, index), random_value(2, index));
  }
  template <int kTurn>
  static __device__ __half2 step(__half2 x, const Steps<__half2>& steps) {
    return __hfma2(x, constant<__half2>(kTurn == 0 ? 0xBCF7BCF7u : 0xBA72BA72u), steps.addend[kTurn]);
  }
  static __half fma_on_host(__half x, __half factor, __half addend) {
    return __double2half(double{__half2float(x)} * __half2float(factor) + __half2float(addend));
  }
  static __half2 step_on_host(__half2 x, __half2 factor, __half2 addend) {
    return {fma_on_host(x.x, factor.x, addend.x), fma_on_host(x.y, factor.y, addend.y)};
  }
  static Steps<__half2> steps() {
    const Steps<float> wide = Scalar<float, unsigned>::steps();
    const auto both = [](float value) { return __floats2half2_rn(value, value); };
    return {{both(wide.factor[0]), both(wide.factor[1])}, {both(wide.addend[0]), both(wide.addend[1])}};
  }
};

template <>
struct Element<Pipe::bf16> {
  using Value = __nv_bfloat162;
  using Word = unsigned;
  static constexpr int kResults = 2;
  static constexpr const char* kInstruction = "HFMA2.BF16";
  static __nv_bfloat162 start(std::uint64_t index) {
    return __floats2bfloat162_rn(random_value(1, index), random_value(2, index));
  }
  template <int kTurn>
  static __device__ __nv_bfloat162 step(__nv_bfloat162 x, const Steps<__nv_bfloat162>& steps) {
    return __hfma2(x, constant<__nv_bfloat162>(kTurn == 0 ? 0xBFD9BFD9u : 0xBF17BF17u), steps.addend[kTurn]);
  }
  static __nv_bfloat16 fma_on_host(__nv_bfloat16 x, __nv_bfloat16 factor, __nv_bfloat16 addend) {
    return __double2bfloat16(double{__bfloat162float(x)} * __bfloat162float(factor) + __bfloat162float(addend));
  }
  static __nv_bfloat162 step_on_host(__nv_bfloat162 x, __nv_bfloat162 factor, __nv_bfloat162 addend) {
    return {fma_on_host(x.x, factor.x, addend.x), fma_on_host(x.y, factor.y, addend.y)};
  }
  // 217 * 151 = 2^15 - 1: exact in 8 bits each.
  static Steps<__nv_bfloat162> steps() {
    const auto both = [](float value) { return __floats2bfloat162_rn(value, value); };
    return {{both(-217.0f / 128), both(-151.0f / 256)}, {both(0.4375f), both(0.4375f * 151 / 256)}};
  }
};

template <typename Word, typename T>
__host__ __device__ Word bits_of(T value) {
  static_assert(sizeof(Word) == sizeof(T));
  Word word;
  memcpy(&word, &value, sizeof word);
  return word;
}

/// Initial values of chains: each chain of a thread reads another element of a random table. They are read, not
/// computed, so that the kernel contains no arithmetic besides its steps (the compiler loads constants by HFMA2),
/// and the audit can inspect the operands.
constexpr unsigned kStarts = 4096;

__host__ __device__ constexpr unsigned start_of(unsigned thread, int chains, int chain) {
  return (thread * static_cast<unsigned>(chains) + static_cast<unsigned>(chain)) % kStarts;
}

// Steps are kernel arguments, so that the factor stays in a uniform register: with a third operand from the vector
// registers an H200's fp64 reached 30.7 TFLOP/s of 33.4, for any number of chains and warps; this way it reaches
// 33.4.
template <Pipe kPipe, int kChains>
__global__ void fma_kernel(const typename Element<kPipe>::Value* starts, typename Element<kPipe>::Word* out, int rounds,
                           Steps<typename Element<kPipe>::Value> steps) {
  using E = Element<kPipe>;
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  typename E::Value x[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) x[c] = starts[start_of(thread, kChains, c)];
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int u = 0; u < kChainUnroll; ++u) {
#pragma unroll
      for (int c = 0; c < kChains; ++c) {
        x[c] = u % 2 == 0 ? E::template step<0>(x[c], steps) : E::template step<1>(x[c], steps);
      }
    }
  }
  typename E::Word folded = 0;
#pragma unroll
  for (int c = 0; c < kChains; ++c) folded ^= bits_of<typename E::Word>(x[c]);
  out[thread] = folded;
}

/// The same on the host: equal roundings, equal bits.
template <Pipe kPipe>
typename Element<kPipe>::Word replay(unsigned thread, int chains, std::int64_t count) {
  using E = Element<kPipe>;
  const auto steps = E::steps();
  typename E::Word folded = 0;
  for (int c = 0; c < chains; ++c) {
    auto x = E::start(start_of(thread, chains, c));
    for (std::int64_t i = 0; i < count; ++i) x = E::step_on_host(x, steps.factor[i % 2], steps.addend[i % 2]);
    folded ^= bits_of<typename E::Word>(x);
  }
  return folded;
}

template <Pipe kPipe>
std::shared_ptr<Buffer> upload_starts(CudaDevice& device) {
  using Value = typename Element<kPipe>::Value;
  std::vector<Value> starts(kStarts);
  for (unsigned i = 0; i < kStarts; ++i) starts[i] = Element<kPipe>::start(i);
  std::shared_ptr<Buffer> buffer = shared_buffer(device, std::int64_t{kStarts} * sizeof(Value));
  device.upload(buffer->data(), starts.data(), buffer->size());
  return buffer;
}

/// A few threads completely, including both ends: a million steps take the host a few milliseconds.
template <Pipe kPipe>
std::optional<std::string> compare(const std::vector<typename Element<kPipe>::Word>& out, int chains,
                                   std::int64_t count) {
  constexpr std::uint64_t kThreads = Element<kPipe>::kResults == 2 ? 3 : 6;
  for (std::uint64_t i = 0; i < kThreads; ++i) {
    const std::size_t thread = i == 0 ? 0 : i == 1 ? out.size() - 1 : random_bits(4, i) % out.size();
    const auto expected = replay<kPipe>(static_cast<unsigned>(thread), chains, count);
    if (out[thread] != expected) {
      return fmt::format("thread {}: chain result {:x}, expected {:x} (computed on the host)", thread, out[thread],
                         expected);
    }
  }
  return std::nullopt;
}

template <Pipe kPipe, int kChains>
ProbeCase fma_case(CudaDevice& device, const ProbeRequest& request, int threads, int blocks_per_sm) {
  using E = Element<kPipe>;
  const ChainShape shape{kChains, threads, blocks_per_sm};
  constexpr double kOperations = 2.0 * E::kResults;  // a multiply and an add, of each result
  const int rounds = chain_rounds(device, kPipe, shape, kOperations, request.scale);
  const std::int64_t count = std::int64_t{rounds} * kChainUnroll;
  const std::shared_ptr<Buffer> starts = upload_starts<kPipe>(device);
  ProbeCase made = chain_case<typename E::Word>(
      device, kPipe, shape, kOperations * kChains * static_cast<double>(count),
      [=, stream = device.stream()](unsigned blocks, typename E::Word* out) {
        fma_kernel<kPipe, kChains><<<blocks, static_cast<unsigned>(threads), 0, stream>>>(
            static_cast<const typename E::Value*>(starts->data()), out, rounds, E::steps());
        check_launch("multiply-add kernel");
      },
      [=](const std::vector<typename E::Word>& out) { return compare<kPipe>(out, kChains, count); });
  made.work.bytes[Level::hbm].read = static_cast<double>(starts->size());
  made.operands = sample_of(device, starts);
  made.instruction = E::kInstruction;
  made.code = looks_for(fma_kernel<kPipe, kChains>, E::kInstruction);
  return made;
}

// An FMA takes 4 cycles and an SM partition issues one per cycle, so 4 chains would suffice with one warp; more of
// both hide the loop overhead.
template <Pipe kPipe>
std::optional<ProbeCase> make(Device& device, const ProbeRequest& request, int variant) {
  CudaDevice& cuda = as_cuda(device);
  if (request.quick && variant > 0) return std::nullopt;
  if (variant == 0) return fma_case<kPipe, 16>(cuda, request, 256, 2);
  if (variant == 1) return fma_case<kPipe, 4>(cuda, request, 256, 8);
  return std::nullopt;
}

template <Pipe kPipe>
Probe fma_probe() {
  Probe probe = chain_probe(kPipe, 0.93);
  probe.make = make<kPipe>;
  return probe;
}

const ProbeRegistrar kRegistrar({fma_probe<Pipe::fp32>(), fma_probe<Pipe::fp64>(), fma_probe<Pipe::fp16>(),
                                 fma_probe<Pipe::bf16>(), fma_probe<Pipe::int32>()});

}  // namespace
}  // namespace roofline::fma_cuda
