// Instruction-set levels of the CPU half. A file named *.simd.cpp is compiled once for each level, with
// ROOFLINE_ISA set by the build; everything else is compiled for the baseline and picks a level at run time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace roofline {

/// baseline is SSE2 on x86-64 and NEON on AArch64. avx2 includes FMA and F16C; avx512 is F, VL, BW and DQ.
enum class Isa : std::uint8_t { baseline, avx2, avx512 };

std::string_view to_string(Isa isa);  ///< "sse2" (or "neon"), "avx2", "avx512"

/// The highest level that this build contains: all of them, or those of the machine that it was made on
/// (ROOFLINE_CPU_LEVELS). Kernels at a level beyond it do not exist.
inline constexpr Isa kHighestIsa = Isa::ROOFLINE_HIGHEST_ISA;

/// The highest level that this CPU and its operating system run, whether this build contains it or not.
Isa cpu_isa();

/// The level to use on a CPU that supports `cpu`, in a build up to `highest`. `wanted`, the user's choice (empty: the
/// best level), lowers it and never raises it. Throws UsageError if it is no level, or one that the CPU supports and
/// the build lacks.
Isa isa_in_use(Isa cpu, Isa highest, std::string_view wanted);

/// "no kernels for avx512, which this CPU supports: …"; empty if the build has kernels for all levels of the CPU.
std::string lacking_levels(Isa cpu, Isa highest);

/// Environment variable with the highest level to use.
inline constexpr const char* kIsaVariable = "ROOFLINE_ISA";

/// isa_in_use of this CPU, this build and $ROOFLINE_ISA.
Isa best_isa();

/// The levels up to best_isa(), lowest first.
std::span<const Isa> usable_isas();

/// Dot-product instructions, which lie beside the levels: a CPU with AVX-512 may have any of them or none.
enum class DotUnit : std::uint8_t {
  avx512_bf16,  ///< vdpbf16ps on 512 bits: pairs of bf16 into fp32
  avx512_vnni,  ///< vpdpbusd on 512 bits: quadruples of 8-bit integers into 32 bits
  avx_vnni,     ///< the same on 256 bits, for CPUs without AVX-512
  neon_dot,     ///< sdot on 128 bits: quadruples of signed 8-bit integers into 32 bits
};

/// True if this CPU has it, and the level that best_isa() allows includes its registers.
bool has(DotUnit unit);

/// Why there are no dot products of that unit at a level, or std::nullopt: "this CPU has no AVX512_BF16 at level avx2".
std::optional<std::string> missing(DotUnit unit, Isa isa);

#ifdef ROOFLINE_ISA
/// The level that this *.simd.cpp is being compiled for: kernels are defined as `template <> f<kIsa>`.
inline constexpr Isa kIsa = Isa::ROOFLINE_ISA;
/// Bytes of a vector register at that level.
inline constexpr int kVectorBytes = kIsa == Isa::avx512 ? 64 : kIsa == Isa::avx2 ? 32 : 16;
#endif

/// Calls `f.template operator()<level>()` for the level given: how a caller picks a kernel at run time. It is
/// instantiated for the levels that this build contains.
template <typename F>
decltype(auto) with_isa(Isa isa, F&& f) {
  if constexpr (kHighestIsa >= Isa::avx512) {
    if (isa == Isa::avx512) return f.template operator()<Isa::avx512>();
  }
  if constexpr (kHighestIsa >= Isa::avx2) {
    if (isa == Isa::avx2) return f.template operator()<Isa::avx2>();
  }
  (void)isa;
  return f.template operator()<Isa::baseline>();
}

}  // namespace roofline
