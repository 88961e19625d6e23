// AMX, the matrix unit of Intel's servers: whether products of a type can run on its tiles here, and if not, why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "device/cpu/isa.hpp"
#include "model/names.hpp"

namespace roofline {

/// True if this build contains AMX kernels, which belong to the level avx512. If not, amx_missing() always returns a
/// reason, and they are never called.
inline constexpr bool kAmxIsBuilt = kHighestIsa >= Isa::avx512;

/// AMX features from CPUID and XGETBV. All zero on other architectures.
struct AmxFacts {
  std::uint32_t leaf_7_edx = 0;    ///< of CPUID 7.0: tiles, bf16 and int8
  std::uint32_t leaf_7_1_eax = 0;  ///< of CPUID 7.1: fp16
  std::uint32_t palettes = 0;      ///< CPUID 1D.0: the highest shape of tile registers that can be asked for
  std::uint64_t xcr0 = 0;          ///< the registers that the operating system saves
};
AmxFacts amx_facts();

/// Why a CPU with these features, or its operating system, has no tiles for products of that type; std::nullopt if it
/// has.
std::optional<std::string> amx_missing(const AmxFacts& facts, DType dtype);

/// The same of this CPU at an instruction-set level. Linux gives tiles only to a process that asks for them, so the
/// first call asks it, for all threads that there are and will be.
std::optional<std::string> amx_missing(DType dtype, Isa isa);

/// "bf16, int8", or why there is none; std::nullopt on a CPU without AMX.
std::optional<std::string> describe_amx(Isa isa);

}  // namespace roofline
