// Dot-product chains. The instruction that does the work is written out: no compiler can replace it, the level's flags
// need not include it, and it is only ever run where the CPU has it.
#include "kernels/calibration/cpu/dot.hpp"

namespace roofline {
namespace {

using Words [[gnu::vector_size(kVectorBytes)]] = std::uint32_t;
using UnalignedWords [[gnu::vector_size(kVectorBytes), gnu::aligned(4)]] = std::uint32_t;
constexpr int kLanes = kVectorBytes / 4;

#if defined(__x86_64__)
template <DotUnit unit>
inline void step(Words& sum, const Words& a, const Words& b) {
  if constexpr (unit == DotUnit::avx512_bf16) asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  if constexpr (unit == DotUnit::avx512_vnni) asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  if constexpr (unit == DotUnit::avx_vnni) asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b));
}

Words load(const std::uint32_t* from) { return *reinterpret_cast<const UnalignedWords*>(from); }

// Every loop is unrolled, and nothing takes the address of an array: they must live in registers.
template <DotUnit unit, int kChains>
void run_chains(std::int64_t rounds, const std::uint32_t* left, const std::uint32_t* right, std::uint32_t* final) {
  Words a[kDotOperands];
  Words sum[kChains];
#pragma GCC unroll 16
  for (int i = 0; i < kDotOperands; ++i) a[i] = load(left + i * kLanes);
  const Words b = load(right);
#pragma GCC unroll 16
  for (int c = 0; c < kChains; ++c) sum[c] = Words{};
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (int c = 0; c < kChains; ++c) step<unit>(sum[c], a[c % kDotOperands], b);
  }
#pragma GCC unroll 16
  for (int c = 0; c < kChains; ++c) *reinterpret_cast<UnalignedWords*>(final + c * kLanes) = sum[c];
}

template <DotUnit unit, int kChains>
constexpr DotKernel kernel(int products, const char* instruction) {
  return {unit, kChains, kLanes, products, instruction, run_chains<unit, kChains>};
}
#endif

// Latency times pipes is 5 to 10. With 16 registers, four of them for operands and one for the other, 10 chains fit.
#if defined(__AVX512F__)
constexpr DotKernel kKernels[] = {kernel<DotUnit::avx512_bf16, 12>(2, "VDPBF16PS, 512 bit"),
                                  kernel<DotUnit::avx512_bf16, 16>(2, "VDPBF16PS, 512 bit"),
                                  kernel<DotUnit::avx512_vnni, 12>(4, "VPDPBUSD, 512 bit"),
                                  kernel<DotUnit::avx512_vnni, 16>(4, "VPDPBUSD, 512 bit")};
constexpr DotKernels kAll = {kKernels, 4};
#elif defined(__AVX2__)
constexpr DotKernel kKernels[] = {kernel<DotUnit::avx_vnni, 10>(4, "VPDPBUSD, 256 bit")};
constexpr DotKernels kAll = {kKernels, 1};
#else
constexpr DotKernels kAll = {};
#endif

}  // namespace

template <>
DotKernels dot_kernels<kIsa>() {
  return kAll;
}

}  // namespace roofline
