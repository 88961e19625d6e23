// Kernels of the CPU's dot-product ceilings: independent chains of steps that multiply pairs of bf16, or pairs or
// quadruples of 8-bit integers, and add the products to a wider accumulator (dot.simd.cpp).
#pragma once

#include <cstdint>
#include <optional>

#include "device/cpu/isa.hpp"

namespace roofline {

inline constexpr int kMaxDotChains = 16;
inline constexpr int kDotLanes = 16;  ///< 32-bit accumulators of a 512-bit register
/// Left operands shared by the chains: chain c uses number c mod 4. The right operand is the same for all.
inline constexpr int kDotOperands = 4;

/// What a step multiplies and adds to a 32-bit lane.
enum class DotStep : std::uint8_t {
  bf16_pairs,    ///< the bf16 of the lane
  int16_pairs,   /// the 16-bit integers of the lane, widened from 8 bits
  int16_halves,  /// the same, for lane l the l-th of the lower half of the register and of the upper half
  mixed_bytes,   ///< the bytes of the lane, unsigned on the left and signed on the right
  signed_bytes,  ///< signed on both sides
};

constexpr bool is_bf16(DotStep step) { return step == DotStep::bf16_pairs; }
constexpr int products_of(DotStep step) {
  return step == DotStep::mixed_bytes || step == DotStep::signed_bytes ? 4 : 2;
}

struct PacedDot {
  int additions = 0;  ///< in a round
  void (*run)(std::int64_t rounds, const std::uint32_t* left, const std::uint32_t* right,
              std::uint32_t* totals) = nullptr;
};

/// One kernel: `rounds` steps on each of `chains` accumulators of `lanes` lanes, all zero at first, which are added
/// to totals modulo 2^32. A sum of bf16 products must be an integer that fp32 represents exactly.
struct DotKernel {
  DotStep step = DotStep::int16_pairs;
  std::optional<DotUnit> unit;  /// required beyond its level
  int chains = 0;
  int lanes = 0;
  const char* instruction = "";  ///< "VDPBF16PS, 512 bit"
  /// `left` holds kDotOperands registers, `right` one, each of lanes x 4 bytes; lane l of chain c is added to
  /// totals[c·lanes + l].
  void (*run)(std::int64_t rounds, const std::uint32_t* left, const std::uint32_t* right,
              std::uint32_t* totals) = nullptr;
  /// The same with additions among its steps, for each of kPaces (pace.hpp).
  const PacedDot* paced = nullptr;
};

/// The kernels of one level, the likely fastest of a step first; only those whose unit this CPU has() may run. A
/// plain pair of pointers, for the same reason as FmaKernels.
struct DotKernels {
  const DotKernel* first = nullptr;
  int count = 0;
};

template <Isa>
DotKernels dot_kernels();

}  // namespace roofline
