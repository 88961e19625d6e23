// The kernels behind the dot-product ceilings of the CPU: independent chains of one instruction that multiplies pairs
// of bf16 or quadruples of 8-bit integers and adds the products to a wider accumulator (dot.simd.cpp).
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"

namespace roofline {

inline constexpr int kMaxDotChains = 16;
inline constexpr int kDotLanes = 16;  ///< 32-bit accumulators of a 512-bit register
/// Left operands that the chains share: chain c takes number c mod 4. The right operand is the same for all.
inline constexpr int kDotOperands = 4;

/// One kernel: `rounds` steps on each of `chains` accumulators of `lanes` lanes, all zero at first.
struct DotKernel {
  DotUnit unit = DotUnit::avx512_bf16;
  int chains = 0;
  int lanes = 0;
  int products = 0;              ///< of a lane and step
  const char* instruction = "";  ///< "VDPBF16PS, 512 bit"
  /// `left` holds kDotOperands registers, `right` one, each of lanes x 4 bytes; lane l of chain c ends in
  /// final[c·lanes + l], as 4 bytes.
  void (*run)(std::int64_t rounds, const std::uint32_t* left, const std::uint32_t* right,
              std::uint32_t* final) = nullptr;
};

/// The kernels of one level, the likely winner of a unit first; only those whose unit this CPU has() may be run. A
/// plain pair, for the reason that FmaKernels is one.
struct DotKernels {
  const DotKernel* first = nullptr;
  int count = 0;
};

template <Isa>
DotKernels dot_kernels();

}  // namespace roofline
