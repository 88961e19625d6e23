// Finds the instruction-set level at run time: what the CPU and its operating system run and this build contains,
// lowered by the environment variable ROOFLINE_ISA (sse2, avx2, avx512) for tests and comparisons.
#include "device/cpu/isa.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "model/error.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace roofline {
namespace {

constexpr std::array kAllIsas = {Isa::baseline, Isa::avx2, Isa::avx512};
constexpr const char* kBuildThem = "build with -DROOFLINE_CPU_LEVELS=ALL";

#if defined(__x86_64__)
/// __builtin_cpu_supports() does not know it in Clang 14.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

Isa detect() {
#if defined(__x86_64__)
  // libgcc queries cpuid and, through xgetbv, whether the operating system saves the wide registers.
  __builtin_cpu_init();
  const bool avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c() && __builtin_cpu_supports("bmi2");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
  if (avx512) return Isa::avx512;
  if (avx2) return Isa::avx2;
#endif
  return Isa::baseline;
}

}  // namespace

std::string_view to_string(Isa isa) {
  switch (isa) {
    case Isa::avx512:
      return "avx512";
    case Isa::avx2:
      return "avx2";
    case Isa::baseline:
      break;
  }
#if defined(__aarch64__)
  return "neon";
#else
  return "sse2";
#endif
}

Isa cpu_isa() {
  static const Isa detected = detect();
  return detected;
}

Isa isa_in_use(Isa cpu, Isa highest, std::string_view wanted) {
  const Isa best = std::min(cpu, highest);
  if (wanted.empty()) return best;
  for (const Isa isa : kAllIsas) {
    if (to_string(isa) != wanted) continue;
    if (isa > highest && isa <= cpu) {
      throw UsageError("ROOFLINE_ISA is '" + std::string(wanted) + "', for which this build has no kernels",
                       kBuildThem + std::string(", or unset it"));
    }
    return std::min(isa, best);
  }
  throw UsageError("ROOFLINE_ISA is '" + std::string(wanted) + "', which is not an instruction-set level",
                   "use sse2 (neon on AArch64), avx2 or avx512, or unset it");
}

std::string lacking_levels(Isa cpu, Isa highest) {
  if (cpu <= highest) return "";
  return "no kernels for " + std::string(to_string(cpu)) + ", which this CPU supports: " + kBuildThem;
}

Isa best_isa() {
  const char* wanted = std::getenv(kIsaVariable);
  return isa_in_use(cpu_isa(), kHighestIsa, wanted == nullptr ? "" : wanted);
}

std::span<const Isa> usable_isas() {
  return std::span<const Isa>(kAllIsas).first(static_cast<std::size_t>(best_isa()) + 1);
}

// On x86-64 the bits are those of Intel's manual, volume 2, CPUID. Whether the operating system saves the registers is
// part of the level already.
bool has(DotUnit unit) {
#if defined(__x86_64__)
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  const unsigned subleaf = unit == DotUnit::avx512_vnni ? 0 : 1;
  if (__get_cpuid_count(7, subleaf, &eax, &ebx, &ecx, &edx) == 0) return false;
  switch (unit) {
    case DotUnit::avx512_bf16:
      return best_isa() == Isa::avx512 && (eax >> 5U & 1U) != 0;
    case DotUnit::avx512_vnni:
      return best_isa() == Isa::avx512 && (ecx >> 11U & 1U) != 0;
    case DotUnit::avx_vnni:
      return best_isa() >= Isa::avx2 && (eax >> 4U & 1U) != 0;
    default:
      return false;
  }
#elif defined(__aarch64__)
  switch (unit) {
    case DotUnit::neon_dot:
      return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
    default:
      return false;
  }
#else
  (void)unit;
  return false;
#endif
}

std::optional<std::string> missing(DotUnit unit, Isa isa) {
  struct Unit {
    const char* name;
    Isa level;
  };
  constexpr std::array<Unit, 4> kUnits = {{{"AVX512_BF16", Isa::avx512},
                                           {"AVX512_VNNI", Isa::avx512},
                                           {"AVX-VNNI", Isa::avx2},
                                           {"NEON dot products", Isa::baseline}}};
  const auto& [name, level] = kUnits.at(static_cast<std::size_t>(unit));
  if (has(unit) && isa >= level) return std::nullopt;
  return "this CPU has no " + std::string(name) + " at level " + std::string(to_string(isa));
}

}  // namespace roofline
